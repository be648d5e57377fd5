import { describe, expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import { createSpotMemory } from '../decide/placement/spot-memory.ts';
import { createWorld, runUnsteered, viewOf } from '../decide/placement/testing/world.ts';
import { approve } from '../guard/approved.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { aDeployment, NOON } from '../model/testing/records.ts';
import { createDisruptions } from './disruptions.ts';

/** One pod on spot, and an API server that answers evictions like this. */
function setUp(answer: () => Promise<unknown>) {
  const world = createWorld(aDeployment({ replicas: 2 }));
  const pod = runUnsteered(world, 'spot');
  const clock = createVirtualClock(NOON);
  const disruptions = createDisruptions({
    api: { createSubresource: answer } as unknown as KubeApi,
    view: viewOf(world),
    rules: () => world,
    spot: {
      memory: createSpotMemory({
        random: createSeededRandom(1),
        backoff: () => ({ initialMillis: 1, factor: 2, maxMillis: 2, jitter: 0 }),
        probeLimitMillis: () => 1,
      }),
      waitingCovers: () => 0,
    },
    leadership: () => ({ leader: true, sinceMillis: 0 }),
    isResizing: (uid) => uid === pod.uid,
    clock,
  });
  const { kind, namespace, name, uid: workloadUid } = world.workload;
  const decision = {
    kind: 'evict',
    engine: 'placement',
    workload: { kind, namespace, name },
    workloadUid,
    pod: { namespace, name: pod.name, uid: pod.uid },
    from: 'spot',
    to: 'on-demand',
    onDemandFloor: 0,
    why: { summary: 'too many', numbers: {} },
  } as const;
  const disrupt = () => disruptions.disrupt(approve(decision), new AbortController().signal);
  return { clock, disruptions, disrupt, workloadUid };
}
const refused = (status: number): (() => Promise<never>) => {
  const error = new KubeError(status, { message: 'said so' }, 'fallback');
  return () => Promise.reject(error);
};

describe('an eviction', () => {
  test.each<[string, () => Promise<unknown>, string, number, number | undefined]>([
    ['that is accepted holds a place until its pod is seen gone', async () => ({}), 'evicted', 1, NOON],
    ['of which nobody knows whether it was made does too', refused(504), 'unknown', 1, NOON],
    ['of a pod that is gone was one, and holds no place', refused(404), 'gone', 0, NOON],
    ['that is refused was none', refused(403), 'forbidden', 0, undefined],
  ])('%s', async (_, answer, result, places, last) => {
    const { disruptions, disrupt, workloadUid } = setUp(answer);
    const asked = disrupt();
    expect(disruptions.list()).toHaveLength(1);
    expect((await asked).result).toBe(result);
    expect(disruptions.list()).toHaveLength(places);
    expect(disruptions.history.lastDisruption(workloadUid)).toBe(last);
  });

  test('counts from its answer on', async () => {
    const gate = Promise.withResolvers<unknown>();
    const { clock, disruptions, disrupt, workloadUid } = setUp(() => gate.promise);
    const asked = disrupt();
    await clock.advance(5_000);
    gate.resolve({});
    await asked;
    expect(disruptions.history.lastDisruption(workloadUid)).toBe(NOON + 5_000);
  });
});

test('guards are told of all disruptions, and of resizes that were asked for', async () => {
  const { disruptions, disrupt, workloadUid } = setUp(async () => ({}));
  await disrupt();
  const context = disruptions.contextOf(workloadUid);
  expect(context?.inFlight).toEqual(disruptions.list());
  expect(context?.isResizing?.(context.inFlight[0]?.podUid ?? '')).toBe(true);
  expect(context?.policy.state).toBe('managed');
  expect(disruptions.contextOf('nobody')).toBeUndefined();
});
