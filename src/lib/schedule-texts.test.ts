import { describe, expect, test } from 'vitest';
import { createWindowParser, parseWindow } from './schedule.ts';
import { problemsOf } from './testing/windows.ts';

describe('invalid texts', () => {
  test.each([
    ['0 2 * * * *', '1h', 'schedule'],
    ['nonsense', '1h', 'schedule'],
    ['@daily', '1h', 'schedule'],
    ['', '1h', 'schedule'],
    ['0 2 * * *;', '1h', 'schedule'],
    ['0 2 * * *', '', 'duration'],
    ['0 2 * * *', '1 hour', 'duration'],
    ['0 2 * * *', '4', 'duration'],
  ] as const)('case 11: %j for %j: the %s is refused', (schedule, duration, part) => {
    const problems = problemsOf(schedule, duration);
    expect(problems.map((problem) => problem.part)).toEqual([part]);
  });

  test.each(['0s', '0', '-1h', '8785h'])('case 12: a duration of %s is refused', (duration) => {
    expect(problemsOf('0 2 * * *', duration)).toMatchObject([{ part: 'duration', value: duration }]);
  });

  test.each(['1s', '8784h'])('a duration of %s is the shortest or longest there is, and taken', (duration) => {
    expect(problemsOf('0 2 * * *', duration)).toEqual([]);
  });

  test('a part that is empty is told with the whole text, where the reader sees it missing', () => {
    expect(problemsOf('0 2 * * *; ', '1h')).toMatchObject([{ part: 'schedule', value: '0 2 * * *; ' }]);
  });

  test('case 12: TZ=UTC with no schedule after it is a plain error', () => {
    expect(problemsOf('TZ=UTC', '1h')).toMatchObject([{ part: 'schedule', value: 'TZ=UTC' }]);
  });

  test('every problem of both texts is told', () => {
    expect(problemsOf('0 25 * * *; 61 * * * *', '0s; x').map(({ part }) => part)).toEqual([
      'schedule',
      'schedule',
      'duration',
      'duration',
    ]);
  });
});

describe('texts are of other people', () => {
  const many = (part: string, count: number): string => Array.from({ length: count }, () => part).join(';');

  test('twenty parts are enough for anybody', () => {
    expect(problemsOf(many('0 2 * * *', 20), many('1h', 20))).toEqual([]);
    expect(problemsOf(many('0 2 * * *', 21), '1h')).toEqual([
      {
        part: 'schedule',
        value: expect.stringMatching(/^0 2 \* \* \*;/),
        accepted: expect.stringContaining('20 parts'),
      },
    ]);
    expect(problemsOf('0 2 * * *', many('1h', 21))).toMatchObject([{ part: 'duration' }]);
  });

  test('five thousand characters are, too', () => {
    const padded = (length: number): string => '0 2 * * *'.padEnd(length);
    expect(problemsOf(padded(5000), '1h')).toEqual([]);
    expect(problemsOf(padded(5001), '1h')).toMatchObject([{ accepted: expect.stringContaining('5000 characters') }]);
  });

  test('what is remembered of them is bounded by their parts, also right after all was forgotten', () => {
    const parse = createWindowParser(20);
    const [first, second] = [many('0 2 * * *', 20), many('0 3 * * *', 20)];
    const known = parse(first, '1h');
    expect(parse(first, '1h')).toBe(known);
    const next = parse(second, '1h');
    expect(parse(second, '1h')).toBe(next);
    expect(parse('0 4 * * *', '1h')).toMatchObject({ ok: true });
    expect(parse(second, '1h')).not.toBe(next);
  });

  test.each([
    ['a quarter of a megabyte of schedules', many('* * * * *', 26_000)],
    ['of semicolons', ';'.repeat(260_000)],
    ['of one field', `${'0,'.repeat(130_000)}0 2 * * *`],
    ['of blanks', `0 2 * * *${' '.repeat(260_000)}`],
  ])('%s is one problem, told in few words', (_, text) => {
    const problems = problemsOf(text, '1h');
    expect(problems).toHaveLength(1);
    expect(problems[0]?.value.length).toBeLessThan(140);
    expect(problemsOf('0 2 * * *', text)).toHaveLength(1);
    expect(createWindowParser()(text, '1h')).toEqual(parseWindow(text, '1h'));
  });
});
