import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SpotAvailability } from './spot-availability.ts';
import { anAvailability, MINUTE, PROBE_LIMIT } from './testing/availability.ts';

/** Closed at 0, open for a probe from 3 minutes on. */
function closed(): SpotAvailability {
  const spot = anAvailability();
  spot.recordStranded('w', -5 * MINUTE, undefined, 0);
  return spot;
}

describe('one workload', () => {
  test('is open until a pod is stranded, then closed for the pause', () => {
    const spot = anAvailability();
    expect(spot.stateOf('w', 0)).toEqual({ kind: 'open' });
    spot.recordStranded('w', -5 * MINUTE, undefined, 0);
    expect(spot.stateOf('w', 1)).toEqual({ kind: 'closed', since: 0, until: 3 * MINUTE });
    expect(spot.mayClaim('w', 'r', 1)).toBe(false);
    expect(spot.stateOf('w', 3 * MINUTE)).toEqual({ kind: 'probing', since: 3 * MINUTE, isTaken: false });
  });

  test('told again while it is closed, nothing changes', () => {
    const spot = closed();
    spot.recordStranded('w', -5 * MINUTE, undefined, 2 * MINUTE);
    expect(spot.stateOf('w', 2 * MINUTE)).toEqual({ kind: 'closed', since: 0, until: 3 * MINUTE });
  });

  test('hazard H6: after the pause one pod may try, and no second one', () => {
    const spot = closed();
    const now = 3 * MINUTE;
    expect(spot.mayClaim('w', 'first', now)).toBe(true);
    spot.claim('w', 'first', now);
    expect(spot.stateOf('w', now)).toMatchObject({ kind: 'probing', isTaken: true });
    expect(spot.mayClaim('w', 'second', now)).toBe(false);
  });

  test('the same admission decided twice is one probe', () => {
    const spot = closed();
    spot.claim('w', 'first', 3 * MINUTE);
    expect(spot.mayClaim('w', 'first', 3 * MINUTE)).toBe(true);
  });

  test('a move that was refused gives its turn back, for its workload and all others; one that was claimed does not', () => {
    const spot = closed();
    spot.recordStranded('w', -5 * MINUTE, 'shop', 0);
    spot.recordStranded('v', -5 * MINUTE, 'mail', 0);
    const now = 4 * MINUTE;
    spot.startProbe('w', now);
    expect(spot.stateOf('other', now)).toMatchObject({ kind: 'probing', isTaken: true });
    spot.cancelProbe('v');
    expect(spot.stateOf('other', now)).toMatchObject({ isTaken: true });
    spot.cancelProbe('w');
    for (const workload of ['w', 'v', 'other'])
      expect(spot.stateOf(workload, now)).toMatchObject({ kind: 'probing', isTaken: false });
    spot.startProbe('w', now);
    spot.claim('w', 'replacement', now);
    spot.cancelProbe('w');
    expect(spot.stateOf('other', now)).toMatchObject({ isTaken: true });
  });

  test('the replacement of a pod that was moved to spot is the probe', () => {
    const spot = closed();
    const now = 3 * MINUTE;
    spot.startProbe('w', now);
    expect(spot.stateOf('w', now)).toMatchObject({ isTaken: true });
    expect(spot.mayClaim('w', 'replacement', now)).toBe(true);
    spot.claim('w', 'replacement', now);
    expect(spot.mayClaim('w', 'other', now)).toBe(false);
  });

  test('a probe that lands opens spot', () => {
    const spot = closed();
    spot.claim('w', 'r', 3 * MINUTE);
    spot.recordLanded('w', 4 * MINUTE);
    expect(spot.stateOf('w', 4 * MINUTE)).toEqual({ kind: 'open' });
    expect(spot.lastLanded('w')).toBe(4 * MINUTE);
  });

  test('a probe that is stranded closes it for twice as long', () => {
    const spot = closed();
    spot.claim('w', 'r', 3 * MINUTE);
    spot.recordStranded('w', 3 * MINUTE, undefined, 8 * MINUTE);
    expect(spot.stateOf('w', 8 * MINUTE)).toEqual({ kind: 'closed', since: 8 * MINUTE, until: 14 * MINUTE });
  });

  test('a probe that never comes gives its turn back', () => {
    const spot = closed();
    spot.claim('w', 'denied by a quota', 3 * MINUTE);
    expect(spot.mayClaim('w', 'next', 3 * MINUTE + PROBE_LIMIT - 1)).toBe(false);
    expect(spot.mayClaim('w', 'next', 3 * MINUTE + PROBE_LIMIT)).toBe(true);
  });

  test('claims while spot is open mark nothing', () => {
    const spot = anAvailability();
    spot.claim('w', 'r', 0);
    spot.startProbe('w', 0);
    spot.recordStranded('w', 0, undefined, 5 * MINUTE);
    expect(spot.stateOf('w', 8 * MINUTE)).toMatchObject({ kind: 'probing', isTaken: false });
  });

  test('hazard H6: failing again soon after it opened, it is as if it had never opened', () => {
    const spot = closed();
    spot.recordLanded('w', 4 * MINUTE);
    spot.recordStranded('w', 5 * MINUTE, undefined, 9 * MINUTE);
    expect(spot.stateOf('w', 9 * MINUTE)).toMatchObject({ until: 15 * MINUTE });
  });

  test('after twice the last pause of calm, failures are forgotten', () => {
    const spot = closed();
    spot.recordLanded('w', 4 * MINUTE);
    spot.recordStranded('w', 5 * MINUTE, undefined, 10 * MINUTE);
    expect(spot.stateOf('w', 10 * MINUTE)).toMatchObject({ until: 13 * MINUTE });
  });

  test('the pause has a bound', () => {
    const spot = anAvailability();
    let now = 0;
    for (let failure = 0; failure < 20; failure++) {
      spot.recordStranded('w', now, undefined, now);
      const state = spot.stateOf('w', now);
      if (state.kind !== 'closed') throw new Error('not closed');
      expect(state.until - now).toBeLessThanOrEqual(60 * MINUTE);
      now = state.until;
    }
  });

  test('the pause is jittered, so that workloads do not try again together', () => {
    const spot = anAvailability(0.25);
    for (const name of ['a', 'b']) spot.recordStranded(name, 0, undefined, 0);
    expect(spot.stateOf('a', 0)).not.toEqual(spot.stateOf('b', 0));
  });

  test('forgotten, it begins anew', () => {
    const spot = closed();
    spot.forgetWorkload('w');
    expect(spot.stateOf('w', 1)).toEqual({ kind: 'open' });
    expect(spot.lastLanded('w')).toBeUndefined();
  });
});

describe('hazard H28: a process that just started', () => {
  test('takes running cover as a closure at the time it was made', () => {
    const spot = anAvailability();
    spot.introduce('w', 'shop', 10 * MINUTE);
    expect(spot.stateOf('w', 11 * MINUTE)).toEqual({ kind: 'closed', since: 10 * MINUTE, until: 13 * MINUTE });
    expect(spot.stateOf('w', 60 * MINUTE)).toMatchObject({ kind: 'probing', isTaken: false });
  });

  test('without cover spot is open', () => {
    const spot = anAvailability();
    spot.introduce('w', 'shop', undefined);
    expect(spot.stateOf('w', 0)).toEqual({ kind: 'open' });
  });

  test('what is remembered counts more than what can be told', () => {
    const spot = anAvailability();
    spot.introduce('w', 'shop', undefined);
    spot.introduce('w', 'shop', 10 * MINUTE);
    expect(spot.stateOf('w', 10 * MINUTE)).toEqual({ kind: 'open' });
  });
});

test('hazard H6: for any flapping, probes of a workload become rare: at most one a pause, and pauses double', () => {
  const anyHistory = fc.array(fc.record({ wait: fc.integer({ min: 0, max: 20 }), lands: fc.boolean() }), {
    minLength: 5,
    maxLength: 60,
  });
  fc.assert(
    fc.property(anyHistory, fc.nat(), (history, seed) => {
      const spot = anAvailability(0.25, seed);
      let now = 0;
      let failures = 0;
      let lastFailure = Number.NEGATIVE_INFINITY;
      for (const { wait, lands } of history) {
        now += wait * MINUTE;
        if (!spot.mayClaim('w', `${now}`, now)) {
          expect(spot.stateOf('w', now).kind).not.toBe('open');
          continue;
        }
        spot.claim('w', `${now}`, now);
        if (lands) spot.recordLanded('w', now);
        else {
          expect(now - lastFailure).toBeGreaterThanOrEqual(3 * MINUTE);
          spot.recordStranded('w', now, undefined, now);
          lastFailure = now;
          failures++;
        }
      }
      // Without any calm in between, ten failures would take three hours of pauses at least.
      expect(failures).toBeLessThanOrEqual(2 + now / (3 * MINUTE));
    }),
    { numRuns: 500 },
  );
});
