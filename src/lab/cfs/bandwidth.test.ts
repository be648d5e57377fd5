import { expect, test } from 'vitest';
import { Bandwidth } from './bandwidth.ts';

const withQuota = (quota: number, burst?: number): Bandwidth => {
  const bandwidth = new Bandwidth(2);
  bandwidth.set(quota, burst);
  return bandwidth;
};

test('without a quota everything is granted and no period counted', () => {
  const bandwidth = new Bandwidth(1);
  bandwidth.set(undefined);
  expect(bandwidth.grant(0, 1)).toBe(1);
  bandwidth.refill();
  expect(bandwidth.counters()).toEqual({ periods: 0, throttledPeriods: 0, throttledMillis: 0 });
});

test('slices of 5 ms come out of the pool: what one CPU holds another cannot have', () => {
  const bandwidth = withQuota(60);
  expect(bandwidth.grant(0, 1)).toBe(1);
  expect(bandwidth.grant(1, 5)).toBe(1);
  bandwidth.spend(1, 1);
  expect(bandwidth.grant(1, 1)).toBe(0);
  expect([bandwidth.isThrottled(0), bandwidth.isThrottled(1)]).toEqual([false, true]);
});

test('a CPU without work gives its slice back, all but a millisecond', () => {
  const bandwidth = withQuota(60);
  bandwidth.grant(0, 1);
  bandwidth.idle(0);
  expect(bandwidth.grant(1, 5)).toBe(5);
});

test('a refill lets the throttled run and counts the period; one without work is not counted', () => {
  const bandwidth = withQuota(10);
  bandwidth.spend(0, bandwidth.grant(0, 1));
  expect(bandwidth.grant(0, 1)).toBe(0);
  bandwidth.addThrottled(99);
  bandwidth.refill();
  expect(bandwidth.isThrottled(0)).toBe(false);
  expect(bandwidth.counters()).toEqual({ periods: 1, throttledPeriods: 1, throttledMillis: 99 });
  bandwidth.refill();
  expect(bandwidth.counters().periods).toBe(1);
});

test('burst: the pool may hold more than one period gives, up to quota and burst', () => {
  const bandwidth = withQuota(100, 50);
  bandwidth.refill();
  bandwidth.refill();
  expect(bandwidth.grant(0, 100)).toBe(15);
});

test('a write refills and lets run, whatever was spent', () => {
  const bandwidth = withQuota(10);
  bandwidth.spend(0, bandwidth.grant(0, 1));
  bandwidth.grant(0, 1);
  bandwidth.set(10);
  expect(bandwidth.grant(0, 1)).toBe(1);
});
