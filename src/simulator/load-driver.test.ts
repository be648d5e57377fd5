import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createReplicaFollower, demandAt, driveLoad } from './load-driver.ts';
import type { LoadCurve } from './scenario/schema.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const curve = (points: Record<number, number>, every?: number): LoadCurve => ({
  points: Object.entries(points).map(([hour, replicas]) => ({ at: Number(hour) * HOUR, replicas })),
  every,
  noise: 0,
});

describe('demandAt', () => {
  test.each<[string, number, number]>([
    ['before the first point it is the first', 0, 10],
    ['between points on a straight line', 2, 15],
    ['at a point it is the point', 3, 20],
    ['after the last point it stays', 9, 20],
  ])('%s', (_, hour, replicas) => expect(demandAt(curve({ 1: 10, 3: 20 }), hour * HOUR)).toBe(replicas));

  test.each<[number, number]>([
    [0, 10],
    [12, 40],
    [18, 25],
    [24, 10],
    [36, 40],
  ])('a curve of a day begins anew: hour %d is %d', (hour, replicas) =>
    expect(demandAt(curve({ 0: 10, 12: 40 }, 24 * HOUR), hour * HOUR)).toBe(replicas),
  );

  test.each<[number, number]>([
    [0, 20],
    [6, 10],
    [12, 40],
    [24, 20],
  ])('one whose first point is later has no jump where it begins: hour %d is %d', (hour, replicas) =>
    expect(demandAt(curve({ 6: 10, 12: 40 }, 24 * HOUR), hour * HOUR)).toBe(replicas),
  );
});

describe('an autoscaler', () => {
  test('ignores deviations of a tenth', () => {
    const follower = createReplicaFollower();
    expect([follower.next(10.9, 10, 0), follower.next(9.1, 10, 1)]).toEqual([10, 10]);
  });

  test('goes up at once, by no more than double or four', () => {
    const follower = createReplicaFollower();
    expect([follower.next(100, 10, 0), follower.next(100, 2, 1), follower.next(11.5, 10, 2)]).toEqual([20, 6, 12]);
  });

  test('goes down only to the most that was wanted within five minutes', () => {
    const follower = createReplicaFollower();
    expect(follower.next(20, 20, 0)).toBe(20);
    expect(follower.next(5, 20, MINUTE)).toBe(20);
    expect(follower.next(8, 20, 3 * MINUTE)).toBe(20);
    expect(follower.next(5, 20, 5 * MINUTE)).toBe(8);
  });
});

test('workloads follow their curves until the end, whatever a call says', async () => {
  const clock = createVirtualClock(0);
  let replicas = 10;
  const calls: number[] = [];
  const end = driveLoad({
    clock,
    random: createSeededRandom(1),
    workloads: [{ key: 'shop/web', curve: curve({ 0: 10, 1: 40 }) }],
    replicasOf: (key) => (key === 'shop/web' ? replicas : undefined),
    async scale(_, next) {
      calls.push(next);
      if (calls.length === 1) throw new Error('conflict');
      replicas = next;
    },
  });
  await clock.advance(HOUR);
  expect(replicas).toBeGreaterThanOrEqual(36);
  expect(calls[1]).toBeGreaterThanOrEqual(calls[0] ?? 0);
  end();
  const before = calls.length;
  await clock.advance(HOUR);
  expect(calls).toHaveLength(before);
  expect(clock.pendingTimers()).toBe(0);
});
