import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCfsQuota, parseCount, parseCpuMax, parsePressure, parseProcStat, readKey } from './parse.ts';

const stat =
  'usage_usec 123456\nuser_usec 100000\nsystem_usec 23456\nnr_periods 40\nnr_throttled 7\nthrottled_usec 350000\n';

describe('counts', () => {
  test.each([
    ['0\n', 0],
    ['42', 42],
    [' 9007199254740991 ', 9_007_199_254_740_991],
  ])('%j is a count', (text, value) => {
    expect(parseCount(text)).toBe(value);
  });

  test.each(['', '\n', '-1', '1.5', '1e3', 'max', '12 13', '0x10', 'NaN', '99999999999999999', '９'])(
    '%j is none',
    (text) => {
      expect(parseCount(text)).toBeUndefined();
    },
  );
});

describe('keys of a flat-keyed file', () => {
  test('are found wherever they are', () => {
    expect(readKey(stat, 'usage_usec')).toBe(123_456);
    expect(readKey(stat, 'nr_throttled')).toBe(7);
    expect(readKey(stat, 'throttled_usec')).toBe(350_000);
  });

  test('are whole words: no key is taken for one that begins or ends alike', () => {
    expect(readKey('nr_throttled_extra 5\nxnr_throttled 6\n', 'nr_throttled')).toBeUndefined();
  });

  test.each([
    ['', 'nr_periods'],
    ['nr_periods', 'nr_periods'],
    ['nr_periods \n', 'nr_periods'],
    ['nr_periods x\n', 'nr_periods'],
    ['nr_periods -4\n', 'nr_periods'],
  ])('of %j: %s is unknown', (text, key) => {
    expect(readKey(text, key)).toBeUndefined();
  });

  test('a value cut short at the end of the text is read as it stands, without line end', () => {
    expect(readKey('nr_periods 12', 'nr_periods')).toBe(12);
  });
});

describe('quotas', () => {
  test.each([
    ['max 100000\n', { quotaMicros: undefined, periodMicros: 100_000 }],
    ['50000 100000\n', { quotaMicros: 50_000, periodMicros: 100_000 }],
    ['42000 50000', { quotaMicros: 42_000, periodMicros: 50_000 }],
  ])('v2 %j', (text, quota) => {
    expect(parseCpuMax(text)).toEqual(quota);
  });

  test.each(['', 'max', 'max 0', '-1 100000', '1 2 3', 'a b'])('v2 %j is not understood', (text) => {
    expect(parseCpuMax(text)).toBeUndefined();
  });

  test('v1: -1 is none', () => {
    expect(parseCfsQuota('-1\n', '100000\n')).toEqual({ quotaMicros: undefined, periodMicros: 100_000 });
    expect(parseCfsQuota('20000\n', '100000\n')).toEqual({ quotaMicros: 20_000, periodMicros: 100_000 });
    expect(parseCfsQuota('-2\n', '100000\n')).toBeUndefined();
    expect(parseCfsQuota('20000\n', '0\n')).toBeUndefined();
  });
});

describe('pressure', () => {
  test('is the total of the line "some"', () => {
    const text =
      'some avg10=1.20 avg60=0.50 avg300=0.10 total=778899\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=11\n';
    expect(parsePressure(text)).toBe(778_899);
  });

  test.each(['', 'full avg10=0 total=1\n', 'some avg10=0\n', 'some total=x\n'])('%j has none', (text) => {
    expect(parsePressure(text)).toBeUndefined();
  });
});

describe('/proc/stat', () => {
  test('counts what is not idle, in microseconds', () => {
    expect(parseProcStat('cpu  10 2 5 1000 50 1 2 0 3 0\ncpu0 1 1 1 1\n')).toBe(200_000);
  });

  test.each(['', 'cpu0 1 2 3\n', 'cpu a b c\n', 'intr 5\n'])('%j is not understood', (text) => {
    expect(parseProcStat(text)).toBeUndefined();
  });
});

test('no text makes a parser throw, and every number is finite and not negative', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    // Real files with a few characters changed are nearer to what a torn read gives.
    fc
      .tuple(fc.nat(stat.length), fc.string({ maxLength: 3 }))
      .map(([at, put]) => stat.slice(0, at) + put + stat.slice(at + 2)),
  );
  fc.assert(
    fc.property(text, (input) => {
      const quota = parseCpuMax(input) ?? parseCfsQuota(input, input);
      for (const value of [
        parseCount(input),
        readKey(input, 'usage_usec'),
        readKey(input, 'nr_periods'),
        parsePressure(input),
        parseProcStat(input),
        quota?.quotaMicros,
        quota?.periodMicros,
      ])
        expect(value === undefined || (Number.isFinite(value) && value >= 0)).toBe(true);
    }),
  );
});
