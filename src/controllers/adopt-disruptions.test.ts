import { describe, expect, test } from 'vitest';
import { createWorld, runUnsteered, viewOf } from '../decide/placement/testing/world.ts';
import { aDeployment, NOON } from '../model/testing/records.ts';
import { aSizedPod, aSizedWorkload } from '../model/testing/sizing-records.ts';
import { adoptEvictions, adoptSizeDisruptions } from './adopt-disruptions.ts';
import { createEvictionsInFlight } from './evictions-in-flight.ts';

const setUp = () => {
  const inFlight = createEvictionsInFlight(() => 600_000);
  const beginRollout = (workloadUid: string): void =>
    inFlight.add({ workloadUid, podUid: workloadUid, since: NOON, isRollout: true });
  const counted = (at = NOON) => inFlight.list(at).map(({ podUid }) => podUid);
  /** Workloads whose replacements are awaited. */
  const awaiting: string[] = [];
  const adoptReplacements = (workloadUid: string): void => void awaiting.push(workloadUid);
  return { disruptions: { inFlight, beginRollout, adoptReplacements }, counted, awaiting };
};

describe('evictions of the last leader', () => {
  test.each([
    ['a pod of a managed workload that is ending counts, others do not', true, 1],
    ['of a workload that is not managed none does', false, 0],
  ] as const)('%s', (_, enabled, expected) => {
    const world = createWorld(aDeployment({ replicas: 2, enabled }));
    const ending = runUnsteered(world, 'spot', { deletingAt: NOON });
    runUnsteered(world, 'on-demand');
    const { disruptions, counted, awaiting } = setUp();
    expect(adoptEvictions(viewOf(world), world, disruptions, NOON)).toBe(expected);
    expect(counted()).toEqual(expected === 1 ? [ending.uid] : []);
    expect(awaiting).toHaveLength(expected);
  });
});

test.each([
  ['that has an hour to end keeps its place for that hour, and then as long as any', 3_600_000, 4_199_999],
  ['that should have ended an hour ago has as long as any', -3_600_000, 599_999],
])('a pod %s', (_, left, last) => {
  const world = createWorld(aDeployment({ replicas: 2, enabled: true }));
  runUnsteered(world, 'spot', { deletingAt: NOON + left });
  const { disruptions, counted } = setUp();
  adoptEvictions(viewOf(world), world, disruptions, NOON);
  expect(counted(NOON + last)).toHaveLength(1);
  expect(counted(NOON + last + 1)).toEqual([]);
});

describe('disruptions for sizes of the last leader', () => {
  const ours = { templateManagers: { web: ['kubectl', 'optipod'] } };
  const evicted = { annotations: { 'optipod.io/applied-sizes': '{}' } };

  test.each([
    ['a rollout of sizes of ours counts as one', { ...ours, isRollingOut: true }, ['uid-web']],
    ['one that is over does not', ours, []],
    ['a rollout of others is theirs', { isRollingOut: true }, []],
    ['a pod that ends where sizes are given at admission counts', evicted, ['uid-web-2']],
    ['a pod that ends elsewhere does not', {}, []],
  ])('%s', (_, changes, expected) => {
    const workload = aSizedWorkload(changes);
    const pods = [undefined, NOON].map((deletingAt, index) =>
      aSizedPod(workload, `web-${index + 1}`, {}, { uid: `uid-web-${index + 1}`, deletingAt }),
    );
    const { disruptions, counted, awaiting } = setUp();
    const view = { workloads: () => [workload], podsOf: () => pods.map((pod) => ({ pod, sizing: pod.sizing })) };
    expect(adoptSizeDisruptions(view, disruptions, NOON)).toBe(expected.length);
    expect(counted()).toEqual(expected);
    expect(awaiting).toEqual(expected[0] === 'uid-web-2' ? [workload.uid] : []);
  });
});
