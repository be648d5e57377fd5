import { describe, expect, test } from 'vitest';
import type { NodeRecord } from '../../model/records.ts';
import { aNode } from '../../model/testing/records.ts';
import { inspectAll } from '../guard.ts';
import { evict, nodes, pod, pods, scene, withPods } from '../testing/scene.ts';

const reasonsOn = (node: NodeRecord) =>
  inspectAll(
    evict(),
    scene({ records: { ...withPods({ s3: { nodeName: node.name } }), nodes: [...nodes, node] } }),
  ).map(({ reason }) => reason);
const taint = (key: string) => ({ taints: [{ key, value: '', effect: 'NoSchedule' as const }] });

describe('a node that is going', () => {
  test.each([
    ['deleted', { deleting: true }],
    ['disrupted by Karpenter', taint('karpenter.sh/disrupted')],
    ['removed by the cluster autoscaler', taint('ToBeDeletedByClusterAutoscaler')],
  ])('hazard H8: hazard H33: %s: its pods are not ours to move', (_, changes) => {
    expect(reasonsOn(aNode('n', 'spot', changes))).toEqual(['NodeLeaving']);
  });

  test('hazard H26: not ready: its pods cannot end, and may be well when it is back', () => {
    const [block, ...others] = inspectAll(
      evict(),
      scene({
        records: {
          ...withPods({ s3: { nodeName: 'n', ready: false } }),
          nodes: [...nodes, aNode('n', 'spot', { ready: false })],
        },
      }),
    );
    expect(others).toEqual([]);
    expect(block).toMatchObject({
      rule: 'node-stays',
      reason: 'NodeNotReady',
      message: 'Node n of pod s3 is not ready: the pod could not end there',
      retryAfterMillis: undefined,
    });
  });

  test('a cordoned node stays; its pods may be moved', () => {
    expect(reasonsOn(aNode('n', 'spot', { unschedulable: true }))).toEqual([]);
  });
});

describe('a node that is not what it was taken for', () => {
  test('hazard H26: of no class', () => {
    expect(reasonsOn(aNode('n', undefined))).toEqual(['UnknownNodeClass']);
  });

  test('hazard H26: of the other class by now', () => {
    expect(reasonsOn(aNode('n', 'on-demand'))).toEqual(['PreconditionFailed']);
  });

  test('hazard H26: not known', () => {
    const records = withPods({ s3: { nodeName: 'gone' } });
    expect(inspectAll(evict(), scene({ records })).map(({ reason }) => reason)).toEqual(['UnknownNodeClass']);
  });

  test('a pod that has no node yet may go', () => {
    const records = withPods({ s3: { nodeName: undefined, phase: 'Pending', ready: false } });
    expect(inspectAll(evict(), scene({ records }))).toEqual([]);
  });
});

describe('the floor', () => {
  const away = (floor: number) =>
    evict({ from: 'on-demand', to: 'spot', pod: { namespace: 'shop', name: 'o1', uid: 'o1' }, onDemandFloor: floor });
  const reasons = (floor: number, records = {}) => inspectAll(away(floor), scene({ records })).map(({ rule }) => rule);

  test('a move away from on-demand leaves the floor', () => {
    expect(reasons(0)).toEqual([]);
    expect(reasons(1)).toEqual(['floor-kept']);
  });

  test('only pods on nodes known to be on-demand count for it', () => {
    const more = [...pods, pod('o2', 'o')];
    expect(reasons(1, { pods: more })).toEqual([]);
    expect(reasons(1, { pods: [...pods, pod('x', 'x')] })).toEqual(['floor-kept']);
    expect(reasons(1, { pods: [...pods, pod('f', 'o', { phase: 'Failed' })] })).toEqual(['floor-kept']);
  });

  test('a pod without a node keeps no part of it, and may go', () => {
    const waiting = { nodeName: undefined, phase: 'Pending', ready: false } as const;
    expect(reasons(1, withPods({ o1: waiting }))).toEqual([]);
  });

  test('does not hinder a move towards it', () => {
    expect(inspectAll(evict({ onDemandFloor: 4 }), scene())).toEqual([]);
  });
});
