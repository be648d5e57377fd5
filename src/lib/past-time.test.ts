import { expect, test } from 'vitest';
import { pastTime, takenOver } from './past-time.ts';
import { parseTime } from './rfc3339.ts';

const NOON = Date.UTC(2026, 2, 2, 12);

test.each<[string, string | undefined, number | undefined]>([
  ['of the past', '2026-03-02T11:59:00Z', NOON - 60_000],
  ['of a replica whose clock is a little ahead', '2026-03-02T12:01:00Z', NOON + 60_000],
  ['of the future', '2026-03-02T12:01:01Z', undefined],
  ['of another century', '2126-03-02T12:00:00Z', undefined],
  ['that cannot be read', 'noon', undefined],
  ['that is not there', undefined, undefined],
])('optipod defect B17: the time of the last change, %s', (_, text, expected) => {
  expect(pastTime(parseTime(text), NOON)).toBe(expected);
});

test.each<[string, number | undefined, number | undefined]>([
  ['of the past is taken over', NOON - 60_000, NOON - 60_000],
  ['by a clock that was hours ahead is of now', NOON + 10_800_000, NOON],
  ['of another day is nobody’s', NOON + 86_400_001, undefined],
  ['that nobody wrote is none', undefined, undefined],
])('the time of a pause %s', (_, at, expected) => {
  expect(takenOver(at, NOON)).toBe(expected);
});
