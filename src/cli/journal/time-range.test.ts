import { describe, expect, test } from 'vitest';
import { parseTimeRange } from './time-range.ts';

const now = Date.parse('2026-11-29T03:10:00Z');
const text = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString();
const range = (from?: string, to?: string) => {
  const given = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const { from: first, to: last } = parseTimeRange(given, now);
  return [text(first), text(last)];
};

describe('parseTimeRange', () => {
  test.each<[string | undefined, string | undefined, string | undefined, string | undefined]>([
    [undefined, undefined, undefined, undefined],
    ['02:00', '03:00', '2026-11-29T02:00:00.000Z', '2026-11-29T03:00:00.000Z'],
    ['2:00', undefined, '2026-11-29T02:00:00.000Z', undefined],
    ['02:00:30', undefined, '2026-11-29T02:00:30.000Z', undefined],
    // Later than now is a time of yesterday.
    ['23:30', '00:30', '2026-11-28T23:30:00.000Z', '2026-11-29T00:30:00.000Z'],
    // The hour is not over yet.
    ['03:00', '04:00', '2026-11-29T03:00:00.000Z', '2026-11-29T04:00:00.000Z'],
    ['90m', undefined, '2026-11-29T01:40:00.000Z', undefined],
    ['2h', '1h', '2026-11-29T01:10:00.000Z', '2026-11-29T02:10:00.000Z'],
    ['2026-11-29T02:00:00Z', undefined, '2026-11-29T02:00:00.000Z', undefined],
    ['2026-11-29T03:00+01:00', undefined, '2026-11-29T02:00:00.000Z', undefined],
    // Without a zone it is UTC, wherever the machine is.
    ['2026-11-29T02:00', undefined, '2026-11-29T02:00:00.000Z', undefined],
    ['2026-11-29 02:00', undefined, '2026-11-29T02:00:00.000Z', undefined],
    ['2026-11-29', undefined, '2026-11-29T00:00:00.000Z', undefined],
  ])('--from %s --to %s', (from, to, first, last) => {
    expect(range(from, to)).toEqual([first, last]);
  });

  test.each(['25:00', '02:60', 'yesterday', '', '5', '2026-13-01', '2026-11-29Tnoon'])('%j is no time', (from) => {
    expect(() => range(from)).toThrow(`--from ${JSON.stringify(from)} is no time; write 02:00 (UTC), `);
  });

  test('a range that ends before it begins is refused, with both instants', () => {
    expect(() => range('1h', '2h')).toThrow(
      '--to 2h (2026-11-29T01:10:00.000Z) is before --from 1h (2026-11-29T02:10:00.000Z)',
    );
  });
});
