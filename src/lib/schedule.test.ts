import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { problemsOf, windowOf } from './testing/windows.ts';

const at = (text: string): number => Date.parse(text.length === 16 ? `${text}:00Z` : text);
const iso = (millis: number | undefined): string =>
  millis === undefined ? 'never' : new Date(millis).toISOString().slice(0, 16);

describe('open or closed', () => {
  test.each([
    ['0 2 * * *', '4h', '2026-01-10T02:00', true],
    ['0 2 * * *', '4h', '2026-01-10T04:00', true],
    ['0 2 * * *', '4h', '2026-01-10T06:00', false],
    ['0 2 * * *', '4h', '2026-01-10T08:00', false],
    ['0 2 * * *', '4h', '2026-01-10T01:59', false],
  ])('case 9: %s for %s at %s: %s', (schedule, duration, time, open) => {
    expect(windowOf(schedule, duration).isOpen(at(time))).toBe(open);
  });

  test.each([
    ['0 12 * * *', '30m', '2026-01-10T12:15', true],
    ['0 12 * * *', '30m', '2026-01-10T13:00', false],
    ['0 14 * * *', '2h30m', '2026-01-10T16:00', true],
    ['0 14 * * *', '2h30m', '2026-01-10T17:00', false],
  ])('case 10: %s for %s at %s: %s', (schedule, duration, time, open) => {
    expect(windowOf(schedule, duration).isOpen(at(time))).toBe(open);
  });

  test.each([
    ['0 22 * * *', '6h', '2026-01-10T03:59', true],
    ['0 22 * * *', '6h', '2026-01-10T04:00', false],
    ['0 22 * * *', '6h', '2026-01-10T22:00', true],
    ['*/5 * * * *', '1h', '2026-01-10T03:33', true],
    ['CRON_TZ=America/New_York 0 2 * * *', '1h', '2026-03-07T07:30', true],
    ['CRON_TZ=America/New_York 0 2 * * *', '1h', '2026-03-09T06:30', true],
    ['CRON_TZ=America/New_York 0 2 * * *', '1h', '2026-03-09T07:30', false],
    ['0 0 13 * 5', '1h', '2026-01-13T00:30', true],
    ['0 0 13 * 5', '1h', '2026-01-16T00:30', true],
    ['0 0 13 * 5', '1h', '2026-01-14T00:30', false],
  ])('case 12: %s for %s at %s: %s', (schedule, duration, time, open) => {
    expect(windowOf(schedule, duration).isOpen(at(time))).toBe(open);
  });

  test('the start belongs to the window, the end does not, to the millisecond', () => {
    const window = windowOf('0 2 * * *', '4h');
    expect(window.isOpen(at('2026-01-10T01:59:59.999Z'))).toBe(false);
    expect(window.isOpen(at('2026-01-10T02:00:00.000Z'))).toBe(true);
    expect(window.isOpen(at('2026-01-10T05:59:59.999Z'))).toBe(true);
    expect(window.isOpen(at('2026-01-10T06:00:00.000Z'))).toBe(false);
  });
});

describe('the next change', () => {
  test.each([
    ['0 2 * * *', '4h', '2026-01-10T01:00', '2026-01-10T02:00'],
    ['0 2 * * *', '4h', '2026-01-10T02:00', '2026-01-10T06:00'],
    ['0 2 * * *', '4h', '2026-01-10T06:00', '2026-01-11T02:00'],
    ['0 22 * * *', '6h', '2026-01-10T23:00', '2026-01-11T04:00'],
    ['0 2 * * 6', '1h', '2026-01-10T12:00', '2026-01-17T02:00'],
    ['0 0 29 2 *', '1h', '2026-01-10T12:00', '2028-02-29T00:00'],
  ])('%s for %s after %s is at %s', (schedule, duration, from, change) => {
    expect(iso(windowOf(schedule, duration).nextChange(at(from)))).toBe(change);
  });

  test('overlapping and adjoining windows close once, at the last end', () => {
    expect(iso(windowOf('0 2,3,4 * * *', '1h').nextChange(at('2026-01-10T02:30')))).toBe('2026-01-10T05:00');
    expect(iso(windowOf('0 2 * * *; 0 3 * * *', '2h; 4h').nextChange(at('2026-01-10T02:30')))).toBe('2026-01-10T07:00');
  });

  test('case 12: a window that never closes has no next change', () => {
    const window = windowOf('*/5 * * * *', '1h');
    expect(window.nextChange(at('2026-01-10T02:30'))).toBeUndefined();
    expect(window.isOpen(at('2026-01-20T02:31'))).toBe(true);
  });

  test('a closing more than eight days ahead is not told before it is near', () => {
    const window = windowOf('0 0 1-20 * *', '24h');
    expect(window.nextChange(at('2026-01-02T12:00'))).toBeUndefined();
    for (const day of ['03', '05', '08', '11', '14']) window.nextChange(at(`2026-01-${day}T12:00`));
    expect(iso(window.nextChange(at('2026-01-17T12:00')))).toBe('2026-01-21T00:00');
  });

  test('case 12: a window shorter than any polling interval is found by its opening', () => {
    const window = windowOf('17 3 * * *', '1s');
    const opens = window.nextChange(at('2026-01-10T03:10')) ?? 0;
    expect(iso(opens)).toBe('2026-01-10T03:17');
    expect(window.isOpen(opens)).toBe(true);
    expect(window.nextChange(opens)).toBe(opens + 1000);
  });
});

describe('hazard H29: daylight saving, midnight and impossible dates', () => {
  const window = windowOf('CRON_TZ=Europe/Berlin 30 2 * * *', '1h');

  test('in spring a skipped start opens right after the gap, for the whole duration', () => {
    expect(iso(window.nextChange(at('2026-03-28T12:00')))).toBe('2026-03-29T01:00');
    expect(iso(window.nextChange(at('2026-03-29T01:00')))).toBe('2026-03-29T02:00');
  });

  test('in autumn a start shown twice opens once', () => {
    expect(iso(window.nextChange(at('2026-10-24T12:00')))).toBe('2026-10-25T00:30');
    expect(window.isOpen(at('2026-10-25T01:29'))).toBe(true);
    expect(window.isOpen(at('2026-10-25T01:30'))).toBe(false);
    expect(iso(window.nextChange(at('2026-10-25T01:30')))).toBe('2026-10-26T01:30');
  });

  test('a duration is elapsed time, so the wall clock shows another end on the day of the change', () => {
    const night = windowOf('CRON_TZ=Europe/Berlin 0 22 * * *', '8h');
    expect(iso(night.nextChange(at('2026-03-28T22:00')))).toBe('2026-03-29T05:00');
    expect(iso(night.nextChange(at('2026-10-24T21:00')))).toBe('2026-10-25T04:00');
  });

  test('a date that never comes is invalid, not a window that never opens', () => {
    expect(problemsOf('0 2 31 2 *', '1h')).toEqual([
      { part: 'schedule', value: '0 2 31 2 *', accepted: 'a date that exists in some year' },
    ]);
  });
});

describe('several windows', () => {
  test('one duration serves all schedules', () => {
    const window = windowOf('0 2 * * 1-5; 0 20 * * 6', '30m');
    expect(window.isOpen(at('2026-01-09T02:15'))).toBe(true);
    expect(window.isOpen(at('2026-01-10T02:15'))).toBe(false);
    expect(window.isOpen(at('2026-01-10T20:15'))).toBe(true);
    expect(window.text).toBe('0 2 * * 1-5 for 30m; 0 20 * * 6 for 30m');
  });

  test('each schedule may have its own duration and time zone', () => {
    const window = windowOf('0 2 * * *;CRON_TZ=Asia/Tokyo 0 2 * * *', '1h;2h');
    expect(window.isOpen(at('2026-01-10T02:59'))).toBe(true);
    expect(window.isOpen(at('2026-01-10T03:00'))).toBe(false);
    expect(window.isOpen(at('2026-01-10T18:59'))).toBe(true);
  });

  test('another number of durations is refused', () => {
    expect(problemsOf('0 2 * * *; 0 4 * * *; 0 6 * * *', '1h; 2h')).toEqual([
      { part: 'duration', value: '1h; 2h', accepted: 'one duration for all, or one for each of the 3 schedules' },
    ]);
    expect(problemsOf('0 2 * * *', '1h; 2h')).toHaveLength(1);
  });
});

test('for any instant the state holds until the next change and flips there', () => {
  const windows = [
    windowOf('0 2 * * *', '4h'),
    windowOf('0 22 * * *; 30 5 * * 1', '6h; 90m'),
    windowOf('CRON_TZ=Europe/Berlin 30 2 * * *', '45m'),
    windowOf('CRON_TZ=America/Sao_Paulo 0 */3 * * 1-5', '1h'),
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...windows),
      fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2028, 0) }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (window, instant, share) => {
        const open = window.isOpen(instant);
        const change = window.nextChange(instant) ?? Number.NaN;
        expect(change).toBeGreaterThan(instant);
        expect(window.isOpen(Math.floor(instant + (change - instant) * share))).toBe(open);
        expect(window.isOpen(change - 1)).toBe(open);
        expect(window.isOpen(change)).toBe(!open);
      },
    ),
    { numRuns: 300 },
  );
});

test('for any windows, open is what a search among all their starts says', () => {
  const HOUR = 3_600_000;
  const start = fc.record({
    minute: fc.integer({ min: 0, max: 59 }),
    hour: fc.integer({ min: 0, max: 23 }),
    minutes: fc.integer({ min: 1, max: 3000 }),
  });
  const origin = Date.UTC(2026, 4, 1);
  fc.assert(
    fc.property(
      fc.array(start, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 0, max: 10 * 24 * HOUR }),
      (parts, offset) => {
        const window = windowOf(
          parts.map(({ minute, hour }) => `${minute} ${hour} * * *`).join(';'),
          parts.map(({ minutes }) => `${minutes}m`).join(';'),
        );
        const instant = origin + offset;
        // 3000 minutes are a little over two days, so starts of the last three days can matter.
        const open = parts.some(({ minute, hour, minutes }) =>
          [-3, -2, -1, 0].some((day) => {
            const midnight = Math.floor(instant / (24 * HOUR)) * 24 * HOUR + day * 24 * HOUR;
            const opened = midnight + hour * HOUR + minute * 60_000;
            return opened <= instant && instant < opened + minutes * 60_000;
          }),
        );
        expect(window.isOpen(instant)).toBe(open);
      },
    ),
    { numRuns: 300 },
  );
});

test('asking in any order gives the same answers', () => {
  const remembering = windowOf('0 2 * * *; 30 14 * * 1-5', '4h; 45m');
  const instants = fc.array(fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2026, 1) }), {
    minLength: 2,
    maxLength: 20,
  });
  fc.assert(
    fc.property(instants, (asked) => {
      for (const instant of asked) {
        const fresh = windowOf('0 2 * * *; 30 14 * * 1-5', '4h; 45m');
        expect(remembering.isOpen(instant)).toBe(fresh.isOpen(instant));
        expect(remembering.nextChange(instant)).toBe(fresh.nextChange(instant));
      }
    }),
    { numRuns: 30 },
  );
});
