import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createInstantReader } from './read-instant.ts';

describe('instant of a line', () => {
  test.each([
    ['2014-02-14T14:30:00Z', Date.UTC(2014, 1, 14, 14, 30)],
    ['2014-02-14T14:30:00.250Z', Date.UTC(2014, 1, 14, 14, 30, 0, 250)],
    ['2014-02-14 14:30', Date.UTC(2014, 1, 14, 14, 30)],
    ['2014-02-14T14:30:00+02:00', Date.UTC(2014, 1, 14, 12, 30)],
    ['2014-02-14T14:30:00-0330', Date.UTC(2014, 1, 14, 18)],
    ['2016-02-29 00:00:00', Date.UTC(2016, 1, 29)],
    ['1392388200', Date.UTC(2014, 1, 14, 14, 30)],
    ['1392388200.5', Date.UTC(2014, 1, 14, 14, 30, 0, 500)],
    ['1392388200000', Date.UTC(2014, 1, 14, 14, 30)],
  ])('%s is read', (text, at) => {
    expect(createInstantReader()(text)).toBe(at);
  });

  test.each([
    '2014-13-14 00:00:00',
    '2014-02-30 00:00:00',
    '2015-02-29 00:00:00',
    '2014-02-14 24:00:00',
    '2014-02-14 12:60:00',
    '2014-02-14 12:00:60',
    '2014-02-14T12:00:00+25:00',
    '2014-02-14',
    '14.02.2014 12:00',
    '12345',
    '99999999999999',
    '',
  ])('%s is none', (text) => {
    expect(createInstantReader()(text)).toBeUndefined();
  });

  test('for any instants in any order, one reader gives them back', () => {
    const instants = fc.array(fc.date({ min: new Date(0), max: new Date('2199-12-31'), noInvalidDate: true }));
    fc.assert(
      fc.property(instants, (dates) => {
        const read = createInstantReader();
        for (const date of dates) expect(read(date.toISOString())).toBe(date.getTime());
      }),
      { numRuns: 100 },
    );
  });
});
