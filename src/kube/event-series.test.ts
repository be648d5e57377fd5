import { expect, test } from 'vitest';
import { createEventSeries } from './event-series.ts';

test('memory is bounded by forgetting what was unused longest', () => {
  const series = createEventSeries({ maxRemembered: 3 });
  for (const key of ['a', 'b', 'c']) series.record({ key, subject: key }, 0);
  series.record({ key: 'a', subject: 'a' }, 1);
  series.record({ key: 'd', subject: 'd' }, 2);
  expect(series.size).toBe(3);
  expect(series.stateOf('b')).toBeUndefined();
  expect(series.stateOf('a')).toEqual({ count: 2, lastMillis: 1 });
});

test('a dropped occurrence starts no series, so that it may be written once there is room', () => {
  const series = createEventSeries({ burstPerSubject: 1, refillMillis: 1_000 });
  expect(series.record({ key: 'a', subject: 's' }, 0)).toEqual({ kind: 'create' });
  expect(series.record({ key: 'b', subject: 's' }, 0)).toEqual({ kind: 'dropped' });
  expect(series.record({ key: 'b', subject: 's' }, 500)).toEqual({ kind: 'dropped' });
  expect(series.record({ key: 'b', subject: 's' }, 1_000)).toEqual({ kind: 'create' });
});

test('a clock set back gives nothing extra and takes nothing', () => {
  const series = createEventSeries({ burstPerSubject: 2, refillMillis: 1_000 });
  series.record({ key: 'a', subject: 's' }, 10_000);
  expect(series.record({ key: 'b', subject: 's' }, 0)).toEqual({ kind: 'create' });
  expect(series.record({ key: 'c', subject: 's' }, 0)).toEqual({ kind: 'dropped' });
});

test('a forgotten series starts anew', () => {
  const series = createEventSeries();
  series.record({ key: 'a', subject: 's' }, 0);
  series.forget('a');
  expect(series.record({ key: 'a', subject: 's' }, 1)).toEqual({ kind: 'create' });
});
