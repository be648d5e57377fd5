import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import { createSides } from '../../model/sides.ts';
import { createSnapshot } from '../../model/snapshot.ts';
import { aDeployment, aNode, aPod, aReplicaSet, NOON, someSettings } from '../../model/testing/records.ts';
import type { PlannedPod } from './plan.ts';
import { compareVictims, whySpared } from './victim.ts';

const sides = createSides(someSettings().nodeClasses);
const leaving = aNode('leaving', 'spot', {
  taints: [{ key: 'karpenter.sh/disrupted', value: '', effect: 'NoSchedule' }],
});
const silent = aNode('silent', 'spot', { ready: false });
const view = createSnapshot({ nodes: [aNode('s', 'spot'), leaving, silent] });
const replicaSet = aReplicaSet(aDeployment());

function planned(name: string, changes: Partial<PodRecord> = {}): PlannedPod {
  const pod = aPod(replicaSet, name, { nodeName: 's', slot: 5, ...changes });
  const plan: PlannedPod['plan'] = {
    ref: { namespace: pod.namespace, name, uid: pod.uid },
    revision: 'rev1',
    slot: pod.slot,
    stampedSlot: pod.slot,
    wantedSide: 'on-demand',
    actualSide: 'spot',
    node: pod.nodeName,
    ready: pod.ready,
    state: 'wrong-side',
    note: '',
  };
  return { pod, plan };
}
const order = (...pods: PlannedPod[]): string[] => pods.sort(compareVictims(view, sides)).map(({ pod }) => pod.name);

describe('compareVictims', () => {
  test.each<[string, Partial<PodRecord>, Partial<PodRecord>]>([
    ['an unready pod before a ready one', { ready: false, slot: 1 }, { slot: 9 }],
    ['a pod without a slot before one with', { slot: undefined }, { slot: 9 }],
    ['the highest slot first', { slot: 9 }, { slot: 8 }],
    ['the youngest first', { createdAt: NOON }, { createdAt: NOON - 1 }],
    ['a protected pod last', { slot: 1 }, { ready: false, protectedBy: 'karpenter.sh/do-not-disrupt' }],
    ['a pod being resized last', { slot: 1 }, { resizing: true }],
    ['a pod of a leaving node last', { slot: 1 }, { nodeName: 'leaving' }],
    ['hazard H26: a pod of a node that is not ready last', { slot: 1 }, { ready: false, nodeName: 'silent' }],
  ])('%s', (_, first, second) => {
    expect(order(planned('z', first), planned('a', second))).toEqual(['z', 'a']);
    expect(order(planned('a', second), planned('z', first))).toEqual(['z', 'a']);
  });

  test('a pod in its own place stays while another is on the wrong side, ready or not: its replacement would take that place again', () => {
    const { pod, plan } = planned('starting', { ready: false, slot: 90 });
    const starting: PlannedPod = { pod, plan: { ...plan, state: 'settled', wantedSide: 'spot', actualSide: 'spot' } };
    const cover = planned('cover', { slot: 8, fallback: true });
    expect([starting, cover].sort(compareVictims(view, sides))).toEqual([cover, starting]);
    expect([cover, starting].sort(compareVictims(view, sides))).toEqual([cover, starting]);
  });

  test('case 62: equal ones are ordered by name, however they are listed', () => {
    expect(order(planned('b'), planned('a'), planned('c'))).toEqual(['a', 'b', 'c']);
  });

  test('case 62: descending by slot, those without one first, as they are the ones a repair is surest about', () => {
    const pods = [1, 7, undefined, 3].map((slot) => planned(`p${slot ?? 'x'}`, { slot }));
    expect(order(...pods)).toEqual(['px', 'p7', 'p3', 'p1']);
  });
});

describe('whySpared', () => {
  test.each<[Partial<PodRecord>, string | undefined]>([
    [{}, undefined],
    [{ nodeName: undefined }, undefined],
    [{ nodeName: 'not known' }, undefined],
    [{ protectedBy: 'karpenter.sh/do-not-disrupt' }, 'protected by karpenter.sh/do-not-disrupt'],
    [{ resizing: true }, 'being resized'],
    [{ nodeName: 'leaving' }, 'its node is leaving (taint karpenter.sh/disrupted)'],
    [{ nodeName: 'silent' }, 'its node is not ready'],
  ])('%j: %s', (changes, expected) => {
    expect(whySpared(view, sides, planned('p', changes).pod)).toBe(expected);
  });
});
