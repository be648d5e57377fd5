import { describe, expect, test } from 'vitest';
import { InvalidValueError } from '../../lib/errors.ts';
import { parseCpuCsv } from './usage-series.ts';

const MACHINE = 4000;
const parse = (text: string) => parseCpuCsv('cpu.csv', text, MACHINE).points;

describe('recorded CPU usage', () => {
  test('is percent of the machine, at UTC instants', () => {
    expect(parse('timestamp,value\n2014-02-14 14:30:00,25\n2014-02-14 14:35:00,0.5\n')).toEqual([
      { at: Date.UTC(2014, 1, 14, 14, 30), usage: 1000 },
      { at: Date.UTC(2014, 1, 14, 14, 35), usage: 20 },
    ]);
  });

  test.each([
    ['2014-02-14T14:30:00Z', Date.UTC(2014, 1, 14, 14, 30)],
    ['2014-02-14T14:30:00.250Z', Date.UTC(2014, 1, 14, 14, 30, 0, 250)],
    ['2014-02-14 14:30', Date.UTC(2014, 1, 14, 14, 30)],
    ['2014-02-14T14:30:00+02:00', Date.UTC(2014, 1, 14, 12, 30)],
  ])('the time %s is read', (time, at) => {
    expect(parse(`${time},1`)[0]?.at).toBe(at);
  });

  test('comes in order of time, the last of equal instants counts, empty lines and gaps are skipped', () => {
    const text =
      '2014-02-14 00:10:00,2\r\n\r\n2014-02-14 00:05:00,1\r\n2014-02-14 00:15:00,\r\n2014-02-14 00:20:00,NaN\r\n2014-02-14 00:10:00,3\r\n';
    expect(parse(text).map(({ usage }) => usage)).toEqual([40, 120]);
  });

  test.each([
    ['no time', 'timestamp,value\nyesterday,5', 2],
    ['a time that does not exist', '2014-02-14 00:00:00,1\n2014-13-14 00:00:00,1', 2],
    ['less than nothing', '2014-02-14 00:00:00,-1', 1],
    ['more than any machine', '2014-02-14 00:00:00,1e9', 1],
  ])('%s is refused with file and line', (_name, text, line) => {
    expect(() => parse(text)).toThrow(InvalidValueError);
    expect(() => parse(text)).toThrow(`cpu.csv, line ${line}`);
  });
});
