import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { PodFacts } from './pod-facts.ts';
import { watchRemovals } from './removal-watch.ts';
import { aFleet, aPodOf } from './testing/facts.ts';

const pod: Pod = { metadata: { namespace: 'shop', name: 'a', uid: 'u' } };

function setUp(seen: Partial<PodFacts> = {}, isStranger = false) {
  const clock = createVirtualClock(0);
  const pods = new Map([['u', aPodOf('u', seen)]]);
  const facts = { ...aFleet({ replicas: 2, spotPercentage: 50 }), pods };
  const told: string[] = [];
  const state = { isDisturbed: false };
  const onRemoval = watchRemovals({
    clock,
    fleet: { workloadOfPod: () => (isStranger ? undefined : facts) },
    isDisturbed: () => state.isDisturbed,
    listener: {
      before: (removal) => told.push(`before, ready: ${removal.seen?.isReady}`),
      onDone: (removal, at) => told.push(`done, ready: ${removal.seen?.isReady}, at ${at}`),
      onToldDone: () => told.push('told'),
    },
  });
  return { clock, pods, told, state, onRemoval };
}

/** What the watch shows of the pod. */
const going = aPodOf('u', { isTerminating: true, isLive: false, isReady: false });

test('a removal is done when its answer says so, and is told with the pod as it was before', async () => {
  const { clock, pods, told, onRemoval } = setUp();
  const settle = onRemoval(pod);
  pods.set('u', going);
  await clock.advance(500);
  settle({ kind: 'done', answer: {} });
  await clock.advance(60_000);
  expect(told).toEqual(['before, ready: true', 'done, ready: true, at 500', 'told']);
});

describe('a removal whose answer was lost', () => {
  test.each<[string, PodFacts | undefined, boolean]>([
    ['is done where the pod is going by then', going, true],
    ['is done where it is gone', undefined, true],
    ['never was where it is there as before', aPodOf('u', {}), false],
  ])('%s', async (_name, after, isDone) => {
    const { clock, pods, told, onRemoval } = setUp();
    const settle = onRemoval(pod);
    await clock.advance(500);
    settle({ kind: 'unknown' });
    await clock.advance(9);
    if (after === undefined) pods.delete('u');
    else pods.set('u', after);
    expect(told).toHaveLength(1);
    await clock.advance(1);
    expect(told.slice(1)).toEqual(isDone ? ['done, ready: true, at 500'] : []);
  });

  test("is taken to be done where the pod is a stranger's: nobody sees what becomes of that", async () => {
    const { clock, told, onRemoval } = setUp({}, true);
    onRemoval(pod)({ kind: 'unknown' });
    await clock.advance(10);
    expect(told).toEqual(['before, ready: undefined', 'done, ready: undefined, at 0']);
  });
});

describe('a removal that was refused', () => {
  test.each<[string, boolean, Partial<PodFacts>, boolean]>([
    ['never was', false, {}, false],
    ['may be the second time of one that was done, while the API is disturbed', true, {}, true],
    ['is none where the pod was going before', true, { isLive: false }, false],
  ])('%s', async (_name, isDisturbed, seen, isDone) => {
    const { clock, pods, told, state, onRemoval } = setUp(seen);
    state.isDisturbed = isDisturbed;
    const settle = onRemoval(pod);
    pods.set('u', going);
    settle({ kind: 'refused' });
    await clock.advance(10);
    expect(told.slice(1)).toEqual(isDone ? ['done, ready: true, at 0'] : []);
  });
});
