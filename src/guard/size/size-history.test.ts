import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ADMISSION } from './size-history.ts';
import { aSizeLog } from './testing/size-scene.ts';

const MINUTE = 60_000;

describe('changes', () => {
  test('the latest instant counts, in whatever order they are told', () => {
    const log = aSizeLog();
    log.recordChange('a', 5000);
    log.recordChange('a', 3000);
    expect(log.lastChange('a')).toBe(5000);
    log.recordChange('a', 6000);
    expect(log.lastChange('a')).toBe(6000);
    expect(log.lastChange('b')).toBeUndefined();
  });

  test('for any sequence, the last minute is exact', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20_000), { maxLength: 60 }), (gaps) => {
        const log = aSizeLog();
        const instants: number[] = [];
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          instants.push(now);
          log.recordChange('a', now);
          expect(log.changesSince(now - MINUTE)).toEqual(instants.filter((at) => at > now - MINUTE));
        }
      }),
    );
  });
});

test('a machine clock set back by an hour stops changes for a minute at most, not for the hour', () => {
  const log = aSizeLog();
  const before = 86_400_000;
  for (let count = 0; count < 10; count++) log.recordChange('a', before + count);
  const after = before - 3_600_000;
  expect(log.changesSince(after - MINUTE)).toEqual([]);
  log.recordChange('a', after);
  log.recordChange('a', after + 1);
  expect(log.changesSince(after + 1 - MINUTE)).toEqual([after, after + 1]);
});

describe('failures', () => {
  test('pauses double up to the bound', () => {
    const log = aSizeLog();
    const pauses = Array.from({ length: 8 }, () => {
      log.recordFailure('a', 0, 'no');
      return log.failed('a')?.retryAt;
    });
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((minutes) => minutes * MINUTE));
  });

  test('a pause may be longer than that from the first time on', () => {
    const log = aSizeLog();
    log.recordFailure('a', 0, 'no', 90 * MINUTE);
    expect(log.failed('a')).toEqual({ count: 1, cause: 'no', retryAt: 90 * MINUTE, isOfMore: true });
    log.recordFailure('a', 0, 'no', 1);
    expect(log.failed('a')?.retryAt).toBe(2 * MINUTE);
  });

  test('a success starts anew', () => {
    const log = aSizeLog();
    log.recordFailure('a', 0, 'no');
    log.recordSuccess('a');
    expect(log.failed('a')).toBeUndefined();
    log.recordFailure('a', 0, 'no');
    expect(log.failed('a')?.retryAt).toBe(MINUTE);
  });
});

describe('without effect', () => {
  test('one that has an effect starts the count anew, and the pause is a day at most', () => {
    const log = aSizeLog();
    for (let count = 0; count < 2; count++) log.recordIneffective('w', 0);
    log.recordEffective('w');
    log.recordIneffective('w', 0);
    expect(log.ineffective('w')).toBeUndefined();
    for (let count = 0; count < 30; count++) log.recordIneffective('w', 0);
    expect(log.ineffective('w')).toEqual({ count: 31, retryAt: 86_400_000 });
  });
});

test('what is not there any more is forgotten, but what was learned of admission stays', () => {
  const log = aSizeLog();
  for (const uid of ['here', 'gone']) {
    log.recordChange(uid, 1);
    log.recordFailure(uid, 1, 'no');
    for (let count = 0; count < 3; count++) log.recordIneffective(uid, 1);
    log.recordInfeasible(uid, 'n1', { changes: [], detail: '' });
  }
  log.recordFailure(ADMISSION, 1, 'missed');
  log.keepOnly((uid) => uid === 'here');
  const isKnown = (uid: string) =>
    [log.lastChange(uid), log.failed(uid), log.ineffective(uid), log.infeasible(uid, 'n1')].map(
      (each) => each !== undefined,
    );
  expect(isKnown('here')).toEqual([true, true, true, true]);
  expect(isKnown('gone')).toEqual([false, false, false, false]);
  expect(log.failed(ADMISSION)).toBeDefined();
  expect(log.changesSince(0)).toHaveLength(2);
});

test('what is forgotten is forgotten in every respect', () => {
  const log = aSizeLog();
  log.recordChange('a', 1);
  log.recordFailure('a', 1, 'no');
  for (let count = 0; count < 3; count++) log.recordIneffective('a', 1);
  log.recordInfeasible('a', 'n1', { changes: [], detail: '' });
  log.forget('a');
  expect([log.lastChange('a'), log.failed('a'), log.ineffective('a'), log.infeasible('a', 'n1')]).toEqual(
    Array.from({ length: 4 }, () => undefined),
  );
});
