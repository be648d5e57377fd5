import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../lib/random.ts';
import { createSpotBreaker, type SpotBreaker } from './spot-breaker.ts';

const PAUSE = 100;
const LIMIT = 1_000;

function aBreaker(): SpotBreaker {
  return createSpotBreaker({
    random: createSeededRandom(1),
    backoff: () => ({ initialMillis: PAUSE, factor: 2, maxMillis: 10 * PAUSE, jitter: 0 }),
    probeLimitMillis: () => LIMIT,
  });
}

/** Closed at 0, so that it may be probed from {@link PAUSE} on. */
function probing(): SpotBreaker {
  const breaker = aBreaker();
  breaker.close(0);
  return breaker;
}

describe('a breaker', () => {
  test('is open to begin with, and lets everybody pass', () => {
    const breaker = aBreaker();
    expect(breaker.stateAt(0)).toEqual({ kind: 'open' });
    expect(breaker.lets('w', 'r', 0)).toBe(true);
    expect(breaker.landedAt()).toBeUndefined();
  });

  test('lets nobody pass while it is closed, to the last millisecond', () => {
    const breaker = probing();
    expect(breaker.stateAt(PAUSE - 1)).toEqual({ kind: 'closed', since: 0, until: PAUSE });
    expect(breaker.lets('w', 'r', PAUSE - 1)).toBe(false);
    expect(breaker.stateAt(PAUSE)).toEqual({ kind: 'probing', since: PAUSE, isTaken: false });
    expect(breaker.lets('w', 'r', PAUSE)).toBe(true);
  });

  test('closed again and again stays closed for twice as long each time, up to a bound', () => {
    const breaker = aBreaker();
    const pauses = [0, 0, 0, 0, 0].map(() => {
      breaker.close(0);
      const state = breaker.stateAt(0);
      return state.kind === 'closed' ? state.until : undefined;
    });
    expect(pauses).toEqual([100, 200, 400, 800, 1_000]);
  });

  test('forgets failures after twice the last pause of calm, and not a millisecond before', () => {
    const until = (calmMillis: number): number | undefined => {
      const breaker = probing();
      breaker.open(0);
      breaker.close(calmMillis);
      const state = breaker.stateAt(calmMillis);
      return state.kind === 'closed' ? state.until - calmMillis : undefined;
    };
    expect(until(2 * PAUSE - 1)).toBe(2 * PAUSE);
    expect(until(2 * PAUSE)).toBe(PAUSE);
  });

  test('does not take the time it was closed for calm', () => {
    const breaker = probing();
    breaker.open(PAUSE);
    breaker.close(PAUSE + 1);
    breaker.close(100 * PAUSE);
    expect(breaker.stateAt(100 * PAUSE)).toMatchObject({ until: 104 * PAUSE });
  });
});

describe('a probe', () => {
  test('is taken by one, whose admission may be decided more than once', () => {
    const breaker = probing();
    breaker.probe('w', 'r', PAUSE);
    expect(breaker.stateAt(PAUSE)).toMatchObject({ isTaken: true });
    expect(breaker.lets('w', 'r', PAUSE)).toBe(true);
    expect(breaker.lets('w', 'other', PAUSE)).toBe(false);
    expect(breaker.lets('v', 'other', PAUSE)).toBe(false);
  });

  test('that waits for its admission is any of its workload, and of no other', () => {
    const breaker = probing();
    breaker.probe('w', undefined, PAUSE);
    expect(breaker.lets('w', 'r', PAUSE)).toBe(true);
    expect(breaker.lets('v', 'r', PAUSE)).toBe(false);
  });

  test('is taken neither before its time nor where none is needed', () => {
    const closed = probing();
    closed.probe('w', 'r', PAUSE - 1);
    expect(closed.stateAt(PAUSE)).toMatchObject({ isTaken: false });
    const open = aBreaker();
    open.probe('w', 'r', 0);
    open.close(0);
    expect(open.stateAt(PAUSE)).toMatchObject({ isTaken: false });
  });

  test('gives its turn back when it is not heard of for too long', () => {
    const breaker = probing();
    breaker.probe('w', 'r', PAUSE);
    expect(breaker.lets('v', 'x', PAUSE + LIMIT - 1)).toBe(false);
    expect(breaker.lets('v', 'x', PAUSE + LIMIT)).toBe(true);
    expect(breaker.stateAt(PAUSE + LIMIT)).toMatchObject({ isTaken: false });
  });

  test('keeps its turn, and no longer for it, where other pods are sent to spot all the same', () => {
    const breaker = probing();
    breaker.probe('w', 'r', PAUSE);
    for (const workload of ['v', 'w']) breaker.probe(workload, 'x', PAUSE + 1);
    expect(breaker.lets('w', 'r', PAUSE + 1)).toBe(true);
    for (const workload of ['v', 'w']) expect(breaker.lets(workload, 'x', PAUSE + 1)).toBe(false);
    expect(breaker.stateAt(PAUSE + LIMIT)).toMatchObject({ isTaken: false });
  });

  test('that waits for its admission is not lost to another workload, nor to a second move', () => {
    const breaker = probing();
    breaker.probe('w', undefined, PAUSE);
    breaker.probe('v', undefined, PAUSE + 1);
    breaker.probe('v', 'x', PAUSE + 1);
    expect(breaker.lets('w', 'r', PAUSE + 1)).toBe(true);
    breaker.probe('w', 'r', PAUSE + 1);
    expect(breaker.lets('w', 'other', PAUSE + 1)).toBe(false);
  });

  test.each<[string, string | undefined, string, boolean, boolean]>([
    ['by its workload, before its admission', undefined, 'w', false, false],
    ['by its workload, not after its admission', 'r', 'w', false, true],
    ['by its workload, after its admission too', 'r', 'w', true, false],
    ['not by another workload', undefined, 'v', true, true],
  ])('is ended %s', (_, claimedBy, by, isClaimedToo, isTaken) => {
    const breaker = probing();
    breaker.probe('w', claimedBy, PAUSE);
    breaker.endProbe(by, isClaimedToo);
    expect(breaker.stateAt(PAUSE)).toMatchObject({ isTaken });
  });

  test.each(['open', 'close'] as const)('is over when the breaker is told to %s', (how) => {
    const breaker = probing();
    breaker.probe('w', 'r', PAUSE);
    breaker[how](PAUSE);
    if (how === 'open') {
      expect(breaker.landedAt()).toBe(PAUSE);
      breaker.close(PAUSE);
    }
    expect(breaker.stateAt(PAUSE + 2 * PAUSE)).toEqual({ kind: 'probing', since: 3 * PAUSE, isTaken: false });
  });
});
