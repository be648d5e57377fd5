import { describe, expect, test } from 'vitest';
import { nodeClassProfile } from './node-profiles.ts';
import { nodesOfOthers, roomForReplacement } from './room-for-replacement.ts';
import { createSides } from './sides.ts';
import { createSnapshot } from './snapshot.ts';
import { aNode, aPod, aStatefulSet, aTemplate, aVolumeClaim, inZone } from './testing/records.ts';

const provisionable = { spot: false, onDemand: false };
const sides = createSides(nodeClassProfile(['karpenter'], { provisionable }));
const set = aStatefulSet();
const podOn = (name: string, nodeName: string | undefined, claims: readonly string[] = []) =>
  aPod({ ...set, kind: 'StatefulSet' }, name, { uid: name, nodeName, claims });

test('the pod takes its volumes along', () => {
  const own = podOn('db-0', 's', ['data-0']);
  const room = (zone: string) => {
    const node = aNode('o', 'on-demand');
    const volumeClaims = [aVolumeClaim('data-0', { requiredNodeTerms: [inZone('a')] })];
    const nodes = [aNode('s', 'spot'), { ...node, labels: { ...node.labels, zone } }];
    const view = createSnapshot({ nodes, volumeClaims, pods: [own] });
    return roomForReplacement(view, sides, { workload: set, pod: own, pods: [own], side: 'on-demand' }).kind;
  };
  expect(['a', 'b'].map(room)).toEqual(['node', 'none']);
});

describe('with anti-affinity to its like', () => {
  const machine = 'kubernetes.io/hostname';
  const apart = { kind: 'apart', topologyKey: machine, selector: {}, isOwn: true, isElsewhere: false } as const;
  const workload = { ...set, template: aTemplate({ podAffinity: [apart] }) };

  test('it is kept apart from the others, not from the one in whose place it comes', () => {
    const [pod, other] = [podOn('db-0', 'o'), podOn('db-1', 'o')];
    const view = createSnapshot({ nodes: [aNode('o', 'on-demand')] });
    const room = (pods: readonly (typeof pod)[]) =>
      roomForReplacement(view, sides, { workload, pod, pods, side: 'on-demand' }).kind;
    expect(room([pod])).toBe('node');
    expect(room([pod, other])).toBe('none');
    expect(room([pod, { ...other, phase: 'Failed' }])).toBe('node');
  });

  test('it is kept apart from one that is ending, however long that takes', () => {
    const [pod, other] = [podOn('db-0', 's'), { ...podOn('db-1', 'o'), deletingAt: 1 }];
    const view = createSnapshot({ nodes: [aNode('s', 'spot'), aNode('o', 'on-demand')], pods: [pod, other] });
    const { kind } = roomForReplacement(view, sides, { workload, pod, pods: [pod, other], side: 'on-demand' });
    expect(kind).toBe('none');
  });
});

test('nodes of others are those on which they run, and on which they are ending', () => {
  const ending = { ...podOn('db-3', 'c'), deletingAt: 1 };
  const ended = { ...podOn('db-4', 'd'), deletingAt: 1, phase: 'Failed' } as const;
  const pods = [podOn('db-0', 'a'), podOn('db-1', 'b'), podOn('db-2', undefined), ending, ended];
  const { siblingNodes, endingNodes } = nodesOfOthers(pods, podOn('db-0', 'a'));
  expect([[...siblingNodes], [...endingNodes]]).toEqual([['b'], ['c']]);
});
