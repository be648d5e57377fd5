import { expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLoopDelayMeter } from './loop-delay.ts';

function setUp() {
  const clock = createVirtualClock(0);
  const calls: string[] = [];
  let max = 0;
  const create = () => {
    max = 0;
    return {
      get max() {
        return max;
      },
      percentile: (percentile: number) => (percentile / 100) * max,
      enable: () => calls.push('enable'),
      disable: () => calls.push('disable'),
    };
  };
  const meter = createLoopDelayMeter(clock, create);
  return { clock, meter, calls, stall: (millis: number) => (max = (millis + 100) * 1e6) };
}

test('a stall is told at once, remembered for a minute or two, and then forgotten', async () => {
  const { clock, meter, stall } = setUp();
  expect(meter.maxMillis()).toBe(0);
  stall(3_000);
  expect(meter.maxMillis()).toBe(3_000);
  await clock.advance(60_000);
  expect(meter.maxMillis()).toBe(3_000);
  stall(500);
  await clock.advance(59_000);
  expect(meter.maxMillis()).toBe(3_000);
  await clock.advance(1_000);
  expect(meter.maxMillis()).toBe(3_000);
  expect(meter.maxMillis()).toBe(500);
  await clock.advance(60_000);
  meter.maxMillis();
  expect(meter.maxMillis()).toBe(0);
});

test('quantiles are those of the present minute, without the distance of the samples', () => {
  const { meter, stall } = setUp();
  expect(meter.quantileMillis(0.99)).toBe(0);
  stall(180);
  expect(meter.quantileMillis(0.5)).toBe(40);
  expect(meter.quantileMillis(0.99)).toBeCloseTo(177.2, 5);
});

test('the sampling starts with the meter, anew with each minute, and ends with it', async () => {
  const { clock, meter, calls } = setUp();
  await clock.advance(60_000);
  meter.maxMillis();
  expect(calls).toEqual(['enable', 'disable', 'enable']);
  meter.close();
  expect(calls.slice(3)).toEqual(['disable']);
});

test('with the histogram of Node', () => {
  const meter = createLoopDelayMeter(createVirtualClock(0));
  expect(meter.maxMillis()).toBeGreaterThanOrEqual(0);
  meter.close();
});
