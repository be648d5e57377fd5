import { describe, expect, test } from 'vitest';
import { cpu, duration, instant, interruptionRate, memory, objectName, share } from './values.ts';

const HOUR = 3_600_000;

describe('durations', () => {
  test.each<[string | number, number]>([
    ['90s', 90_000],
    ['1h30m', 1.5 * HOUR],
    ['7d', 168 * HOUR],
    ['1d12h', 36 * HOUR],
    ['0h', 0],
    [0, 0],
  ])('%j is %d ms', (text, millis) => expect(duration.parse(text)).toBe(millis));

  test.each(['', '5', '-1h', 'd', '7 days', 'h'])('%j is refused with what is accepted', (text) => {
    const { error } = duration.safeParse(text);
    expect(error?.issues[0]?.message).toContain('accepted: a duration such as');
  });
});

describe('interruption rates', () => {
  test.each<[string | number, number, number]>([
    ['2%/hour', 2, 1],
    ['5-10%/hour', 7.5, 1],
    ['<5%/month', 2.5, 730.5],
    ['>20%/month', 25, 730.5],
    ['15-20%/month', 17.5, 730.5],
  ])('%j: a chance of %d %% within %d hours', (text, percent, hours) => {
    // Of many nodes with this rate, the share that is taken within the time.
    const taken = 1 - Math.exp(-interruptionRate.parse(text) * hours);
    expect(taken * 100).toBeCloseTo(percent, 9);
  });

  test('none is 0', () => expect(interruptionRate.parse(0)).toBe(0));

  test.each(['5%', '100%/hour', '10-5%/month', '<5-10%/month', 'often', '5%/day'])('%j is refused', (text) =>
    expect(interruptionRate.safeParse(text).success).toBe(false),
  );
});

describe('amounts and shares', () => {
  test('are read as Kubernetes reads them', () => {
    expect(cpu.parse('250m')).toBe(250);
    expect(cpu.parse(2)).toBe(2000);
    expect(memory.parse('4Gi')).toBe(4 * 1024 ** 3);
    expect(share.parse('30%')).toBe(0.3);
    expect(share.parse(0.3)).toBe(0.3);
  });
  test.each(['130%', '-1', '', 'half'])('a share of %j is refused', (text) =>
    expect(share.safeParse(text).success).toBe(false),
  );
});

test('instants carry their zone and are epoch milliseconds', () => {
  expect(instant.parse('2026-06-01T02:00:00+02:00')).toBe(Date.UTC(2026, 5, 1));
  expect(instant.safeParse('yesterday').success).toBe(false);
});

test.each([
  ['web', true],
  ['Web', false],
  ['-web', false],
  ['a'.repeat(64), false],
])('name %s: %s', (name, isGood) => expect(objectName.safeParse(name).success).toBe(isGood));
