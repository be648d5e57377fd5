import { describe, expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import { createTimesReader } from '../decide/placement/policy.ts';
import { createSpotMemory } from '../decide/placement/spot-memory.ts';
import { createWorld, runUnsteered, viewOf } from '../decide/placement/testing/world.ts';
import { approve } from '../guard/approved.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { WorkloadRecord } from '../model/records.ts';
import { aDeployment, NOON, someSettings } from '../model/testing/records.ts';
import { createDisruptions } from './disruptions.ts';

interface Changes {
  readonly deletingAt?: number;
  readonly stale?: readonly string[];
}

/** One pod on spot, and an API server that answers evictions like this. */
function setUp(answer: () => Promise<unknown>, terminationGraceSeconds = 30, ofWorkload: Partial<WorkloadRecord> = {}) {
  const world = createWorld(aDeployment({ replicas: 2, ...ofWorkload }));
  const template = { ...world.workload.template, terminationGraceSeconds };
  const pod = runUnsteered(world, 'spot', { template });
  const clock = createVirtualClock(NOON);
  const memory = createSpotMemory({
    random: createSeededRandom(1),
    backoff: () => ({ initialMillis: 1, factor: 2, maxMillis: 2, jitter: 0 }),
    probeLimitMillis: () => 1,
  });
  let changes: Changes = {};
  let asked = 0;
  const view = viewOf(world);
  const disruptions = createDisruptions({
    api: { createSubresource: answer } as unknown as KubeApi,
    view: {
      ...view,
      freshness: () => ({ synced: true, stale: changes.stale ?? [] }),
      pod: (podNamespace, podName) => {
        const found = view.pod(podNamespace, podName);
        return found && { ...found, deletingAt: changes.deletingAt };
      },
    },
    rules: () => ({ ...world, readTimes: createTimesReader(world.settings) }),
    spot: { memory, waitingCovers: () => 7 + asked++, askCover: () => {}, withdrawCover: () => {} },
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
  const change = (next: Changes): void => {
    changes = next;
  };
  return { clock, disruptions, disrupt, memory, change, workloadUid, countedCovers: () => asked };
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

test('a pod with a long grace period keeps its place until that is over and it is stuck', async () => {
  const { clock, disruptions, disrupt } = setUp(async () => ({}), 3_600);
  await disrupt();
  const stuck = 3_600_000 + someSettings().stuckRolloutMillis;
  await clock.advance(stuck - 1);
  expect(disruptions.list()).toHaveLength(1);
  await clock.advance(1);
  expect(disruptions.list()).toEqual([]);
});

describe('an eviction of which nobody knows whether it was made', () => {
  test.each<[string, Changes, number]>([
    ['gives its place back after a minute where its pod is seen to stay', {}, 0],
    ['keeps it where its pod is seen to end', { deletingAt: NOON + 30_000 }, 1],
    ['keeps it where what is seen may be old', { stale: ['pods'] }, 1],
  ])('%s', async (_, changes, left) => {
    const { clock, disruptions, disrupt, change } = setUp(refused(504));
    await disrupt();
    change(changes);
    await clock.advance(59_999);
    expect(disruptions.list()).toHaveLength(1);
    await clock.advance(1);
    expect(disruptions.list()).toHaveLength(left);
  });

  test('where what is seen was old, it is looked at again', async () => {
    const { clock, disruptions, disrupt, change } = setUp(refused(504));
    await disrupt();
    change({ stale: ['pods'] });
    await clock.advance(60_000);
    expect(disruptions.list()).toHaveLength(1);
    change({});
    expect(disruptions.list()).toEqual([]);
  });

  test('one that is known to be made is not doubted', async () => {
    const { clock, disruptions, disrupt } = setUp(async () => ({}));
    await disrupt();
    await clock.advance(60_000);
    expect(disruptions.list()).toHaveLength(1);
  });
});

test('in a storm rollouts and restarts are told of it', () => {
  const { disruptions, memory, workloadUid } = setUp(async () => ({}));
  expect(disruptions.stateOf(workloadUid, undefined).storm).toBeUndefined();
  const pool = { key: 'a/m5', zone: 'a', instanceType: 'm5.large' };
  for (const uid of ['s1', 's2', 's3', 's4']) memory.standing(uid, pool);
  for (const uid of ['s1', 's2', 's3']) memory.gone(uid, true, NOON);
  expect(disruptions.stateOf(workloadUid, undefined).storm).toMatchObject({ lost: 3 });
});

test('the window of a workload holds for every engine, also where placement does not manage or follow it', () => {
  const annotations = {
    'spotalis.io/disruption-schedule': '0 2 * * *',
    'spotalis.io/disruption-duration': '1h',
  };
  const { disruptions, workloadUid } = setUp(async () => ({}), 30, { enabled: false, annotations });
  const context = disruptions.contextOf(workloadUid);
  expect([context?.policy.state, context?.times?.window?.isOpen(NOON)]).toEqual(['unmanaged', false]);
  expect(disruptions.stateOf(workloadUid, undefined).window?.isOpen(NOON)).toBe(false);
  const daemonSet = { namespace: 'shop', annotations };
  expect(disruptions.stateOf('of a DaemonSet', daemonSet).window?.isOpen(NOON)).toBe(false);
  expect(disruptions.stateOf('of a DaemonSet', undefined)).toMatchObject({ window: undefined });
});

test('a place that comes free is offered to who waits for it', async () => {
  const { disruptions, disrupt } = setUp(async () => ({}));
  await disrupt();
  const heard: string[] = [];
  disruptions.turns.onTurn('rightsizing', (key) => void heard.push(key));
  const asker = { engine: 'rightsizing', key: 'Deployment/shop/db', workloadUid: 'db', drift: 0, replicas: 1 } as const;
  expect(disruptions.turns.reserve(asker)).toBeUndefined();
  disruptions.inFlight.remove(disruptions.list()[0]?.podUid ?? '');
  expect(heard).toEqual(['Deployment/shop/db']);
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

test('covers that wait are counted only where a rule asks, and once: in a storm there are many, and each look makes a context', () => {
  const { disruptions, workloadUid, countedCovers } = setUp(async () => ({}));
  disruptions.stateOf(workloadUid, undefined);
  const context = disruptions.contextOf(workloadUid);
  expect(countedCovers()).toBe(0);
  expect([context?.waitingCovers, context?.waitingCovers]).toEqual([7, 7]);
  expect(countedCovers()).toBe(1);
});
