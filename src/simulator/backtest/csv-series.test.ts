import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidValueError } from '../../lib/errors.ts';
import { createCsvReader } from './csv-series.ts';

const MACHINE = 4000;

function read(...pieces: readonly string[]) {
  const reader = createCsvReader('cpu.csv', MACHINE);
  for (const piece of pieces) reader.push(piece);
  return reader.end();
}
const usageOf = (text: string) => [...read(text).series.usage];
const line = (minute: number, value: number | string) =>
  `2014-02-14 00:${String(minute).padStart(2, '0')}:00,${value}\n`;

describe('recorded CPU usage', () => {
  test('is percent of the machine, at UTC instants', () => {
    const { series, note } = read('timestamp,value\n2014-02-14 14:30:00,25\n2014-02-14 14:35:00,0.5\n');
    expect([...series.at]).toEqual([Date.UTC(2014, 1, 14, 14, 30), Date.UTC(2014, 1, 14, 14, 35)]);
    expect([...series.usage]).toEqual([1000, 20]);
    expect(note).toBeUndefined();
  });

  test('wherever the pieces of the file end, it is the same', () => {
    const text = `timestamp,value\r\n${line(0, 1)}${line(5, 'NaN')}\r\n${line(10, 3)}${line(5, 7)}`;
    const whole = read(text);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 6 }), (cuts) => {
        const ends = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        expect(read(...ends.slice(1).map((end, index) => text.slice(ends[index], end)))).toEqual(whole);
      }),
      { numRuns: 100 },
    );
  });

  test('constant zero is a usage, and one sample is a series', () => {
    expect(usageOf(line(0, 0) + line(5, 0))).toEqual([0, 0]);
    expect(usageOf(line(0, 7))).toEqual([280]);
  });

  test.each([
    [
      'no number',
      line(0, 1) + line(5, '') + line(10, 'NaN') + line(15, 2),
      [40, 80],
      '2 lines (the first is line 2) without a number count as gaps',
    ],
    [
      'less than nothing',
      line(0, 1) + line(5, -1) + line(10, 2),
      [40, 80],
      '1 line (the first is line 2) below 0 or above 10000 % are left out',
    ],
    [
      'more than any machine',
      line(0, 1) + line(5, '1e9') + line(10, 2),
      [40, 80],
      '1 line (the first is line 2) below 0 or above 10000 % are left out',
    ],
    [
      'endless',
      line(0, 1) + line(5, 'Infinity') + line(10, 2),
      [40, 80],
      '1 line (the first is line 2) below 0 or above 10000 % are left out',
    ],
    [
      'no time',
      `${line(0, 1)}yesterday,5\n${line(10, 2)}`,
      [40, 80],
      '1 line (the first is line 2) without a date and time are left out',
    ],
    [
      'equal instants',
      line(0, 1) + line(5, 2) + line(5, 3),
      [40, 120],
      '1 instants are told again, the last value counts',
    ],
    [
      'another order',
      line(10, 3) + line(0, 1) + line(5, 2) + line(0, 4),
      [160, 80, 120],
      '1 instants are told again, the last value counts; lines are not in order of time and were put in order',
    ],
    [
      'a gap',
      `${line(0, 1)}2014-02-14 05:30:00,2\n`,
      [40, 80],
      'the longest gap is 5.5 h, after 2014-02-14T00:00:00.000Z',
    ],
  ])('%s: the rest counts, and one line says so', (_name, text, usage, note) => {
    const recording = read(text);
    expect([...recording.series.usage]).toEqual(usage);
    expect(recording.note).toBe(`cpu.csv: ${note}`);
  });

  test.each([
    ['no time', 'timestamp,value\nyesterday,5', 2],
    ['a time that does not exist', '2014-02-14 00:00:00,1\n2014-13-14 00:00:00,1', 2],
    ['nothing but less than nothing', '2014-02-14 00:00:00,-1', 1],
    ['no number anywhere', 'timestamp,value\n2014-02-14 00:00:00,x', 2],
    ['nothing at all', '', 1],
    ['a heading alone', 'timestamp,value\n', 1],
    ['no lines', 'x'.repeat(200_000), 1],
  ])('%s is refused with file and line', (_name, text, at) => {
    expect(() => read(text)).toThrow(InvalidValueError);
    expect(() => read(text)).toThrow(`cpu.csv, line ${at}`);
    expect(() => read(text)).toThrow(/^.{1,400}$/);
  });

  test('what goes on without an end is not kept', () => {
    const endless = createCsvReader('cpu.csv', MACHINE);
    for (let piece = 0; piece < 20; piece++) endless.push('\0'.repeat(100_000));
    expect(() => endless.end()).toThrow(InvalidValueError);
  });
});
