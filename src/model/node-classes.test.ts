import { describe, expect, test } from 'vitest';
import { nodeClasses, sumNodeClasses } from './node-classes.ts';
import { createSides } from './sides.ts';
import { createSnapshot } from './snapshot.ts';
import { aDeployment, aNode, aPod, aReplicaSet, aTemplate, GIB, NOON, someSettings } from './testing/records.ts';

const set = aReplicaSet(aDeployment());
const template = aTemplate({ requests: { cpuMillis: 500, memoryBytes: GIB } });
const pod = (name: string, nodeName: string, changes: Parameters<typeof aPod>[2] = {}) =>
  aPod(set, name, { nodeName, template, ...changes });
const allocatable = { cpuMillis: 4000, memoryBytes: 16 * GIB };
const sides = createSides(someSettings().nodeClasses);

describe('sums of nodes by class', () => {
  test('of an empty view are nothing of each class, in their order', () => {
    const sums = sumNodeClasses(createSnapshot({}), sides);
    expect(sums.map(({ class: name }) => name)).toEqual(nodeClasses);
    for (const { class: _, ...figures } of sums) expect(new Set(Object.values(figures))).toEqual(new Set([0]));
  });

  test('count nodes, usable ones, pods and what is requested of them', () => {
    const view = createSnapshot({
      nodes: [
        aNode('spot-1', 'spot', { allocatable }),
        aNode('spot-2', 'spot', { allocatable, unschedulable: true }),
        aNode('spot-3', 'spot', { allocatable, ready: false }),
        aNode('od-1', 'on-demand', { allocatable }),
        aNode('other', undefined, { allocatable }),
      ],
      pods: [pod('a', 'spot-1'), pod('b', 'spot-1'), pod('c', 'spot-2'), pod('d', 'od-1'), pod('e', 'gone')],
    });
    const [spot, onDemand, unknown] = sumNodeClasses(view, sides);
    expect(spot).toEqual({
      class: 'spot',
      nodes: 3,
      usable: 1,
      pods: 3,
      cpuMillis: 12_000,
      cpuRequested: 1500,
      memoryBytes: 48 * GIB,
      memoryRequested: 3 * GIB,
    });
    expect(onDemand).toMatchObject({ nodes: 1, usable: 1, pods: 1, cpuRequested: 500 });
    expect(unknown).toMatchObject({ class: 'unknown', nodes: 1, pods: 0, cpuRequested: 0 });
  });

  test('pods that leave or have ended are not counted', () => {
    const view = createSnapshot({
      nodes: [aNode('spot-1', 'spot')],
      pods: [
        pod('here', 'spot-1'),
        pod('going', 'spot-1', { deletingAt: NOON }),
        pod('failed', 'spot-1', { phase: 'Failed' }),
        pod('done', 'spot-1', { phase: 'Succeeded' }),
      ],
    });
    expect(sumNodeClasses(view, sides)[0]).toMatchObject({ pods: 1 });
  });
});
