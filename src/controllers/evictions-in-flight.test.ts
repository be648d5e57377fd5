import { describe, expect, test } from 'vitest';
import { createEvictionsInFlight } from './evictions-in-flight.ts';

describe('evictions in flight', () => {
  const eviction = (podUid: string, since: number) => ({ workloadUid: 'w', podUid, since });

  test('end when the pod is seen gone', () => {
    const inFlight = createEvictionsInFlight(() => 1_000);
    inFlight.add(eviction('p1', 0));
    expect(inFlight.list(10)).toHaveLength(1);
    expect(inFlight.remove('p1')).toBe(true);
    expect(inFlight.remove('p1')).toBe(false);
    expect(inFlight.list(10)).toEqual([]);
  });

  test('a pod that does not end gives its place back after the limit', () => {
    const inFlight = createEvictionsInFlight(() => 1_000);
    inFlight.add(eviction('p1', 0));
    let freed = 0;
    inFlight.onFreed(() => freed++);
    expect(inFlight.list(999)).toHaveLength(1);
    expect(freed).toBe(0);
    expect(inFlight.list(1_000)).toEqual([]);
    expect(freed).toBe(1);
    expect(inFlight.list(1_001)).toEqual([]);
    expect(freed).toBe(1);
  });

  test('the limit is the one in force at the moment', () => {
    let limit = 1_000;
    const inFlight = createEvictionsInFlight(() => limit);
    inFlight.add(eviction('p1', 0));
    limit = 5_000;
    expect(inFlight.list(4_999)).toHaveLength(1);
    limit = 10;
    expect(inFlight.list(10)).toEqual([]);
  });

  test.each([
    ['half an hour', 1_800_000, 1_800_000],
    ['an hour', 3_600_000, 3_600_000],
    ['a week, of which an hour counts', 604_800_000, 3_600_000],
    ['for ever, of which an hour counts', Number.MAX_SAFE_INTEGER * 1_000, 3_600_000],
  ])('a pod has its grace period first: %s', (_, graceMillis, counted) => {
    const inFlight = createEvictionsInFlight(() => 1_000);
    inFlight.add({ ...eviction('p1', 0), graceMillis });
    expect(inFlight.list(counted + 999)).toHaveLength(1);
    expect(inFlight.list(counted + 1_000)).toEqual([]);
  });

  test('a rollout that goes on keeps its place', () => {
    const inFlight = createEvictionsInFlight(() => 1_000);
    inFlight.add({ ...eviction('w', 0), isRollout: true, wentOnAt: 5_000 });
    expect(inFlight.list(5_999)).toHaveLength(1);
    expect(inFlight.list(6_000)).toEqual([]);
  });
});
