import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../lib/random.ts';
import { createSpotAvailability, type SpotAvailability } from './spot-availability.ts';

const MINUTE = 60_000;
const PROBE_LIMIT = 7 * MINUTE;

function anAvailability(jitter = 0, seed = 1): SpotAvailability {
  return createSpotAvailability({
    random: createSeededRandom(seed),
    backoff: () => ({ initialMillis: 3 * MINUTE, factor: 2, maxMillis: 60 * MINUTE, jitter }),
    probeLimitMillis: () => PROBE_LIMIT,
  });
}

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

describe('bug 11: all workloads', () => {
  test('one workload without room says nothing about others', () => {
    const spot = anAvailability();
    spot.recordStranded('a', 0, 'shop', 5 * MINUTE);
    expect(spot.stateOf('b', 5 * MINUTE)).toEqual({ kind: 'open' });
  });

  test('two ordinary ones of two namespaces close spot for everybody', () => {
    const spot = anAvailability();
    spot.recordStranded('a', 0, 'shop', 5 * MINUTE);
    spot.recordStranded('b', 0, 'mail', 5 * MINUTE);
    expect(spot.stateOf('c', 5 * MINUTE)).toMatchObject({ kind: 'closed' });
  });

  test('two of one namespace close it for that namespace', () => {
    const spot = anAvailability();
    spot.introduce('c', 'shop', undefined);
    spot.introduce('d', 'mail', undefined);
    for (const name of ['a', 'b']) spot.recordStranded(name, 0, 'shop', 5 * MINUTE);
    expect(spot.stateOf('c', 5 * MINUTE)).toMatchObject({ kind: 'closed', until: 8 * MINUTE });
    expect(spot.stateOf('d', 5 * MINUTE)).toEqual({ kind: 'open' });
    expect(spot.mayClaim('d', 'd1', 5 * MINUTE)).toBe(true);
    spot.recordLanded('c', 6 * MINUTE);
    spot.introduce('e', 'shop', undefined);
    expect(spot.stateOf('e', 6 * MINUTE)).toEqual({ kind: 'open' });
  });

  test('a probe that fails closes it for everybody again only when another namespace finds the same since', () => {
    const spot = anAvailability();
    spot.recordStranded('a', 0, 'shop', 5 * MINUTE);
    spot.recordStranded('b', 0, 'mail', 5 * MINUTE);
    const now = 8 * MINUTE;
    spot.introduce('c', 'shop', undefined);
    spot.introduce('d', 'mail', undefined);
    spot.claim('c', 'c1', now);
    expect(spot.mayClaim('d', 'd1', now)).toBe(false);
    spot.recordStranded('c', now, 'shop', now + MINUTE);
    // Others need not wait for it, nor believe it.
    expect(spot.stateOf('d', now + MINUTE)).toMatchObject({ kind: 'probing', isTaken: false });
    spot.claim('d', 'd1', now + MINUTE);
    spot.recordStranded('d', now + MINUTE, 'mail', now + 2 * MINUTE);
    expect(spot.stateOf('x', now + 2 * MINUTE)).toMatchObject({ kind: 'closed', until: now + 8 * MINUTE });
  });

  test('the last workload of a namespace takes what is remembered of that with it', () => {
    const spot = anAvailability();
    for (const name of ['a', 'b']) spot.recordStranded(name, 0, 'shop', 5 * MINUTE);
    for (const name of ['a', 'b']) spot.forgetWorkload(name);
    spot.introduce('c', 'shop', undefined);
    expect(spot.stateOf('c', 5 * MINUTE)).toEqual({ kind: 'open' });
  });

  test('whatever one namespace strands, however often, spot stays open for another', () => {
    const step = fc.record({ workload: fc.integer({ min: 0, max: 5 }), wait: fc.integer({ min: 0, max: 90 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const spot = anAvailability();
        spot.introduce('victim', 'shop', undefined);
        let now = 0;
        for (const { workload, wait } of steps) {
          now += wait * MINUTE;
          const uid = `tenant-${workload}`;
          if (wait % 3 === 0) spot.claim(uid, `${now}`, now);
          spot.recordStranded(uid, now, 'tenant', now);
          if (wait % 5 === 0) spot.forgetWorkload(uid);
          expect(spot.mayClaim('victim', `v${now}`, now)).toBe(true);
        }
      }),
    );
  });

  test('two with wishes of their own do not', () => {
    const spot = anAvailability();
    spot.recordStranded('a', 0, undefined, 5 * MINUTE);
    spot.recordStranded('b', 0, undefined, 5 * MINUTE);
    expect(spot.stateOf('c', 5 * MINUTE)).toEqual({ kind: 'open' });
  });

  test('a pod that landed since they began to wait contradicts them', () => {
    const spot = anAvailability();
    spot.recordStranded('a', 0, 'shop', 5 * MINUTE);
    spot.recordLanded('c', 6 * MINUTE);
    spot.recordStranded('b', 5 * MINUTE, 'mail', 10 * MINUTE);
    expect(spot.stateOf('c', 10 * MINUTE)).toEqual({ kind: 'open' });
  });

  test('after the pause one pod of one workload tries for all; when it lands, all may', () => {
    const spot = anAvailability();
    spot.recordStranded('a', 0, 'shop', 5 * MINUTE);
    spot.recordStranded('b', 0, 'mail', 5 * MINUTE);
    const now = 8 * MINUTE;
    expect(spot.mayClaim('c', 'c1', now)).toBe(true);
    spot.claim('c', 'c1', now);
    expect(spot.mayClaim('a', 'a1', now)).toBe(false);
    spot.recordLanded('c', now + MINUTE);
    expect(spot.stateOf('d', now + MINUTE)).toEqual({ kind: 'open' });
    // Its own memory stays: it tries with one pod of its own.
    expect(spot.stateOf('a', now + MINUTE)).toMatchObject({ kind: 'probing', isTaken: false });
  });

  test('of two closures the longer one holds', () => {
    const spot = anAvailability();
    spot.recordStranded('c', 0, undefined, 0);
    spot.recordStranded('a', 0, 'shop', 2 * MINUTE);
    spot.recordStranded('b', 0, 'mail', 2 * MINUTE);
    expect(spot.stateOf('c', 2 * MINUTE)).toMatchObject({ kind: 'closed', until: 5 * MINUTE });
    expect(spot.stateOf('c', 4 * MINUTE)).toMatchObject({ kind: 'closed', until: 5 * MINUTE });
  });

  test('a workload that goes takes its probe with it', () => {
    const spot = anAvailability();
    spot.recordStranded('a', 0, 'shop', 0);
    spot.recordStranded('b', 0, 'mail', 0);
    spot.claim('c', 'c1', 3 * MINUTE);
    spot.forgetWorkload('c');
    expect(spot.mayClaim('d', 'd1', 3 * MINUTE)).toBe(true);
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
