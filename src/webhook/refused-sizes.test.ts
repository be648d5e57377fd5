import { expect, test } from 'vitest';
import { NOON } from '../model/testing/records.ts';
import { aSizedWorkload } from '../model/testing/sizing-records.ts';
import { createRefusedSizes } from './refused-sizes.ts';

const HOUR = 3_600_000;

function setUp() {
  let now = NOON;
  const areRefused = createRefusedSizes({ clock: { now: () => now } });
  return {
    areRefused,
    at: (millis: number): void => {
      now = NOON + millis;
    },
  };
}

test('a workload that tells of refused pods has them as they were sent for an hour from then on', () => {
  const { areRefused, at } = setUp();
  const web = aSizedWorkload();
  expect(areRefused(web, undefined)).toBe(false);
  expect(areRefused({ ...web, refusedSince: NOON }, undefined)).toBe(true);
  at(HOUR - 1);
  expect([areRefused(web, undefined), areRefused(aSizedWorkload({ uid: 'other' }), undefined)]).toEqual([true, false]);
  at(HOUR);
  expect(areRefused(web, undefined)).toBe(false);
});

test('so has one of which the same replica asks eight times a minute: kinds that have such tell of no refusals', () => {
  const { areRefused, at } = setUp();
  const db = aSizedWorkload({ kind: 'StatefulSet' });
  const ask = (times: number, replica: string): boolean[] =>
    Array.from({ length: times }, () => areRefused(db, replica));
  expect(ask(7, '0')).not.toContain(true);
  at(60_000);
  expect([...ask(7, '0'), ...ask(7, '1')]).not.toContain(true);
  expect([ask(1, '1'), ask(1, '2')]).toEqual([[true], [true]]);
});

test('a dry run is answered as pods are, and does not count as one', () => {
  const { areRefused } = setUp();
  const db = aSizedWorkload({ kind: 'StatefulSet' });
  for (let asked = 0; asked < 7; asked++) expect(areRefused(db, '0')).toBe(false);
  for (let asked = 0; asked < 20; asked++) expect(areRefused(db, '0', true)).toBe(false);
  expect([areRefused(db, '0'), areRefused(db, '0', true)]).toEqual([true, true]);
});
