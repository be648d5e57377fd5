/** What pods of one workload or namespace found says about spot for the others. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anAvailability, MINUTE } from './testing/availability.ts';

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
