import { describe, expect, test } from 'vitest';
import { KubeError } from '../api/kube-error.ts';
import { backoffPolicies } from '../lib/backoff.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createWatchPace } from './watch-pace.ts';

const expired = new KubeError(410, { code: 410, reason: 'Expired' }, 'too old resource version');

function setUp() {
  const clock = createVirtualClock(0);
  const random = createSeededRandom(1);
  const pace = createWatchPace({ clock, random, retryPolicy: backoffPolicies.reflector, resumeSpreadMillis: 0 });
  return { clock, pace };
}

test('watches last five to ten minutes, and one to two after a break: what was restored meanwhile shows sooner', () => {
  const { pace } = setUp();
  const drawn = (isResumed: boolean) => Array.from({ length: 500 }, () => pace.timeoutSeconds(isResumed));
  const [usual, resumed] = [drawn(false), drawn(true)];
  for (const [seconds, least, most] of [
    [usual, 300, 600],
    [resumed, 60, 120],
  ] as const) {
    expect(Math.min(...seconds)).toBeGreaterThanOrEqual(least);
    expect(Math.max(...seconds)).toBeLessThanOrEqual(most);
    expect(new Set(seconds).size).toBeGreaterThan(40);
  }
});

describe('a failure', () => {
  test('of a watch that stood for a while is usual, and the next is asked for at once', async () => {
    const { clock, pace } = setUp();
    pace.accepted(300);
    pace.follows();
    await clock.advance(5_000);
    expect(pace.afterFailure(new Error('reset'))).toEqual({ waitMillis: 0, isUsual: true });
  });

  test('of one that did not, or of a listing, is neither', async () => {
    const { clock, pace } = setUp();
    pace.accepted(300);
    pace.follows();
    await clock.advance(4_999);
    expect(pace.afterFailure(new Error('reset')).isUsual).toBe(false);
    pace.leave();
    await clock.advance(60_000);
    const { waitMillis, isUsual } = pace.afterFailure(new Error('reset'));
    expect(isUsual).toBe(false);
    expect(waitMillis).toBeGreaterThan(0);
  });

  test('is usual where a position is refused, also again and again, which is asked with growing waits', () => {
    const { pace } = setUp();
    const failures = Array.from({ length: 12 }, () => pace.afterFailure(expired));
    expect(failures.every(({ isUsual }) => isUsual)).toBe(true);
    expect(failures.at(-1)?.waitMillis).toBeGreaterThan(20 * (failures[0]?.waitMillis ?? 0));
  });
});
