import { expect, test } from 'vitest';
import { NOON } from '../../model/testing/records.ts';
import { pastTime } from './advise.ts';

test.each<[string, string | undefined, number | undefined]>([
  ['of the past', '2026-03-02T11:59:00Z', NOON - 60_000],
  ['of a replica whose clock is a little ahead', '2026-03-02T12:00:59Z', NOON + 59_000],
  ['of the future', '2026-03-02T12:01:01Z', undefined],
  ['of another century', '2126-03-02T12:00:00Z', undefined],
  ['that cannot be read', 'noon', undefined],
  ['that is not there', undefined, undefined],
])('optipod defect B17: the time of the last change, %s', (_, text, expected) => {
  expect(pastTime(text, NOON)).toBe(expected);
});
