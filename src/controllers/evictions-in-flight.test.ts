import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDisruptionLog } from '../guard/history.ts';
import { createEvictionTurns } from './eviction-turns.ts';
import { createEvictionsInFlight } from './evictions-in-flight.ts';

const candidate = (name: string, drift = 1) => ({ key: name, workloadUid: `uid-${name}`, drift, replicas: 10 });

function setUp() {
  const history = createDisruptionLog({ initial: 1, max: 1 });
  return { history, turns: createEvictionTurns(history) };
}

describe('turns', () => {
  test('with room for all, everyone may go at once', () => {
    const { turns } = setUp();
    expect(turns.take(candidate('a'), 1)).toBe(true);
    expect(turns.take(candidate('b'), 1)).toBe(true);
  });

  test('without a free place nobody goes, and the waiting are remembered', () => {
    const { turns } = setUp();
    expect(turns.take(candidate('a'), 0)).toBe(false);
    expect(turns.next(1)).toEqual(['a']);
  });

  test('who was disrupted longest ago goes first; who comes later waits for him', () => {
    const { turns, history } = setUp();
    history.recordDisruption('uid-b', 5);
    turns.wait(candidate('a'));
    expect(turns.take(candidate('b'), 1)).toBe(false);
    expect(turns.next(1)).toEqual(['a']);
    expect(turns.take(candidate('a'), 1)).toBe(true);
    expect(turns.take(candidate('b'), 1)).toBe(true);
  });

  test('who waits is known to wait until it goes or wants nothing any more', () => {
    const { turns } = setUp();
    turns.wait(candidate('a'));
    expect(turns.take(candidate('b'), 0)).toBe(false);
    expect([turns.isWaiting('a'), turns.isWaiting('b'), turns.isWaiting('c')]).toEqual([true, true, false]);
    expect(turns.take(candidate('a'), 2)).toBe(true);
    turns.leave('b');
    expect([turns.isWaiting('a'), turns.isWaiting('b')]).toEqual([false, false]);
  });

  test('who wants nothing any more blocks nobody', () => {
    const { turns, history } = setUp();
    history.recordDisruption('uid-b', 5);
    turns.wait(candidate('a'));
    turns.leave('a');
    expect(turns.take(candidate('b'), 1)).toBe(true);
  });

  test('for any number of workloads each has its turn before one has its second', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 2, maxLength: 12 }), (drifts) => {
        const { turns, history } = setUp();
        const all = drifts.map((drift, index) => candidate(`w${index}`, drift));
        for (const each of all) turns.wait(each);
        const order: string[] = [];
        for (let now = 1; now <= all.length; now++) {
          const [key = ''] = turns.next(1);
          const chosen = all.find((each) => each.key === key);
          if (chosen === undefined || !turns.take(chosen, 1)) throw new Error('the first must be able to go');
          history.recordDisruption(chosen.workloadUid, now);
          order.push(key);
          turns.wait(chosen);
        }
        expect(new Set(order).size).toBe(all.length);
      }),
    );
  });
});

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
});
