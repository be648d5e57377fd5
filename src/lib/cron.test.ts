import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCron } from './cron.ts';
import { InvalidValueError } from './errors.ts';
import golden from './testdata/cron.json' with { type: 'json' };

const validRows = golden.valid as unknown as readonly [string, string, readonly string[]][];
const iso = (millis: number | undefined): string | undefined =>
  millis === undefined ? undefined : new Date(millis).toISOString().replace(/:00\.000Z$/, 'Z');
const nextOf = (text: string, after: string): string | undefined => iso(parseCron(text).nextAfter(Date.parse(after)));

describe('golden vectors of robfig/cron', () => {
  test('the table is there', () => {
    expect(validRows.length).toBeGreaterThan(120);
    expect(golden.invalid.length).toBeGreaterThan(30);
  });

  test.each(validRows)('%j after %s', (text, from, expected) => {
    const cron = parseCron(text);
    let instant = Date.parse(from);
    for (const occurrence of expected) {
      instant = cron.nextAfter(instant) ?? Number.NaN;
      expect(iso(instant)).toBe(occurrence);
      expect(cron.latestAt(instant)).toBe(instant);
    }
  });

  test.each(golden.invalid)('%j is refused', (text) => {
    expect(() => parseCron(text)).toThrow(InvalidValueError);
  });
});

describe('stricter than robfig/cron', () => {
  test.each(['1,,2 * * * *', ', * * * *', '*-5 * * * *', '+5 * * * *', 'TZ= 0 2 * * *', 'TZ=Local 0 2 * * *'])(
    '%j is refused',
    (text) => {
      expect(() => parseCron(text)).toThrow(InvalidValueError);
    },
  );

  test.each(['0 0 31 2 *', '0 0 30 2 *', '0 0 31 4,6,9,11 *', '0 0 31 feb ?'])(
    '%j never comes and is refused',
    (text) => {
      expect(() => parseCron(text)).toThrow(/a date that exists in some year/);
    },
  );

  test.each(['0 0 29 2 *', '0 0 31 2,3 *', '0 0 31 2 1', '0 0 * 2 *'])('%j comes in some year', (text) => {
    expect(parseCron(text).nextAfter(0)).toBeDefined();
  });
});

describe('messages', () => {
  test.each([
    ['61 * * * *', /minute "61".*numbers 0-59,/],
    ['* * * * 7', /day of week "7".*numbers 0-6 or SUN-SAT/],
    ['* * * brumaire *', /month "brumaire".*numbers 1-12 or JAN-DEC/],
    ['* * * * * *', /five cron fields/],
    ['TZ=UTC', /five cron fields/],
    ['CRON_TZ=Mars/Base 0 2 * * *', /IANA/],
  ])('%j tells what is accepted', (text, message) => expect(() => parseCron(text)).toThrow(message));
});

describe('daylight saving', () => {
  const berlin = 'CRON_TZ=Europe/Berlin';

  test('the time of day follows the wall clock', () => {
    expect(nextOf('CRON_TZ=America/New_York 0 2 * * *', '2026-03-07T00:00:00Z')).toBe('2026-03-07T07:00Z');
    expect(nextOf('CRON_TZ=America/New_York 0 2 * * *', '2026-03-09T00:00:00Z')).toBe('2026-03-09T06:00Z');
  });

  test('a time skipped in spring comes at the first instant after the gap', () => {
    expect(nextOf(`${berlin} 30 2 * * *`, '2026-03-28T12:00:00Z')).toBe('2026-03-29T01:00Z');
    expect(nextOf(`${berlin} 30 2 * * *`, '2026-03-29T01:00:00Z')).toBe('2026-03-30T00:30Z');
  });

  test('one whose gap ends with the day is left out that day', () => {
    const nuuk = 'CRON_TZ=America/Nuuk 15 23 * * *';
    expect(nextOf(nuuk, '2026-03-28T12:00:00Z')).toBe('2026-03-30T00:15Z');
  });

  test('a time shown twice in autumn comes the first time only', () => {
    expect(nextOf(`${berlin} 30 2 * * *`, '2026-10-24T12:00:00Z')).toBe('2026-10-25T00:30Z');
    expect(nextOf(`${berlin} 30 2 * * *`, '2026-10-25T00:30:00Z')).toBe('2026-10-26T01:30Z');
  });

  test.each([
    ['30 2,14 * * *', '2026-03-29T01:00Z 2026-03-29T12:30Z', '2026-10-25T00:30Z 2026-10-25T13:30Z'],
    ['15,45 2 * * *', '2026-03-29T01:00Z 2026-03-30T00:15Z', '2026-10-25T00:15Z 2026-10-25T00:45Z'],
    ['*/30 2-3 * * *', '2026-03-29T01:00Z 2026-03-29T01:30Z', '2026-10-25T00:00Z 2026-10-25T00:30Z 2026-10-25T02:00Z'],
    ['30 */2 * * *', '2026-03-28T23:30Z 2026-03-29T01:00Z 2026-03-29T02:30Z', '2026-10-25T00:30Z 2026-10-25T03:30Z'],
    ['* 2 * * *', '2026-03-29T01:00Z 2026-03-30T00:00Z', '2026-10-25T00:00Z 2026-10-25T00:01Z'],
  ])('so do several times of day: %s', (fields, spring, autumn) => {
    const cron = parseCron(`${berlin} ${fields}`);
    for (const [midnight, expected] of [
      ['2026-03-28T23:00:00Z', spring],
      ['2026-10-24T22:30:00Z', autumn],
    ] as const) {
      let instant = Date.parse(midnight);
      for (const each of expected.split(' ')) {
        instant = cron.nextAfter(instant) ?? Number.NaN;
        expect(iso(instant)).toBe(each);
      }
    }
  });

  test.each(['0 * * * *', '0 */1 * * *', '0 0-23 * * *'])('every hour means every hour that passes: %s', (fields) => {
    const cron = parseCron(`${berlin} ${fields}`);
    for (const day of ['2026-03-29', '2026-10-25']) {
      let instant = Date.parse(`${day}T00:00:00Z`);
      for (let hour = 1; hour <= 5; hour++) {
        instant = cron.nextAfter(instant) ?? Number.NaN;
        expect(iso(instant)).toBe(`${day}T0${hour}:00Z`);
      }
    }
  });
});

describe('nextAfter and latestAt', () => {
  test('the next is strictly after, the latest may be now', () => {
    const cron = parseCron('0 2 * * *');
    const two = Date.parse('2026-01-01T02:00:00Z');
    expect(cron.nextAfter(two - 1)).toBe(two);
    expect(cron.nextAfter(two)).toBe(two + 86_400_000);
    expect(cron.latestAt(two)).toBe(two);
    expect(cron.latestAt(two + 999)).toBe(two);
    expect(cron.latestAt(two - 1)).toBe(two - 86_400_000);
  });

  test('for any instant nothing lies between the latest and the next', () => {
    const texts = [
      '0 2 * * *',
      '*/7 3-5 * * *',
      '0 0 1,15 * 3',
      'CRON_TZ=Europe/Berlin 30 2 * * *',
      'TZ=Australia/Lord_Howe 0 2 * * 0',
    ];
    const crons = texts.map(parseCron);
    fc.assert(
      fc.property(
        fc.constantFrom(...crons),
        fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2030, 0) }),
        (cron, instant) => {
          const latest = cron.latestAt(instant) ?? Number.NaN;
          const next = cron.nextAfter(instant) ?? Number.NaN;
          expect(latest).toBeLessThanOrEqual(instant);
          expect(next).toBeGreaterThan(instant);
          expect(cron.nextAfter(latest)).toBe(next);
          expect(cron.latestAt(next - 1)).toBe(latest);
        },
      ),
      { numRuns: 300 },
    );
  });
});

test('the time zone is known, UTC by default', () => {
  expect(parseCron('0 2 * * *').timeZone).toBe('UTC');
  expect(parseCron('TZ=Asia/Tokyo 0 2 * * *')).toMatchObject({
    timeZone: 'Asia/Tokyo',
    text: 'TZ=Asia/Tokyo 0 2 * * *',
  });
});

test('no text makes the parser throw anything but InvalidValueError', () => {
  const word = fc.stringMatching(/^[*?0-9a-z,/-]{1,6}$/);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(word, { minLength: 5, maxLength: 5 }).map((words) => words.join(' ')),
      ),
      (text) => {
        try {
          parseCron(text);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidValueError);
        }
      },
    ),
  );
});

describe('against a reading of the rules minute by minute', () => {
  interface FieldSample {
    readonly text: string;
    readonly values: ReadonlySet<number>;
    readonly star: boolean;
  }

  /** A field as text together with what it means, made from the meaning and not by parsing. */
  function fieldSample(min: number, max: number): fc.Arbitrary<FieldSample> {
    const all = Array.from({ length: max - min + 1 }, (_, index) => min + index);
    const bounds = fc
      .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
      .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
    const step = fc.integer({ min: 2, max: 9 });
    const item = fc.oneof(
      fc.constantFrom('*', '?').map((text) => ({ text, values: all, star: true })),
      fc.integer({ min, max }).map((value) => ({ text: `${value}`, values: [value], star: false })),
      bounds.map(([low, high]) => ({
        text: `${low}-${high}`,
        values: all.filter((v) => v >= low && v <= high),
        star: false,
      })),
      step.map((by) => ({ text: `*/${by}`, values: all.filter((v) => (v - min) % by === 0), star: false })),
      fc.tuple(fc.integer({ min, max }), step).map(([low, by]) => ({
        text: `${low}/${by}`,
        values: all.filter((v) => v >= low && (v - low) % by === 0),
        star: false,
      })),
      fc.tuple(bounds, step).map(([[low, high], by]) => ({
        text: `${low}-${high}/${by}`,
        values: all.filter((v) => v >= low && v <= high && (v - low) % by === 0),
        star: false,
      })),
    );
    return fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => ({
      text: items.map(({ text }) => text).join(','),
      values: new Set(items.flatMap(({ values }) => values)),
      star: items.some(({ star }) => star),
    }));
  }

  const samples = fc.tuple(
    fieldSample(0, 59),
    fieldSample(0, 23),
    fieldSample(1, 31),
    fieldSample(1, 12),
    fieldSample(0, 6),
  );

  function occurs([minute, hour, day, month, weekday]: readonly FieldSample[], instant: Date): boolean {
    if (!minute?.values.has(instant.getUTCMinutes()) || !hour?.values.has(instant.getUTCHours())) return false;
    if (!month?.values.has(instant.getUTCMonth() + 1)) return false;
    const isDay = day?.values.has(instant.getUTCDate()) ?? false;
    const isWeekday = weekday?.values.has(instant.getUTCDay()) ?? false;
    return day?.star || weekday?.star ? isDay && isWeekday : isDay || isWeekday;
  }

  test('for any schedule the next occurrence is the first minute that meets the rules', () => {
    const MINUTE = 60_000;
    fc.assert(
      fc.property(samples, fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2027, 0) }), (sample, instant) => {
        const text = sample.map((field) => field.text).join(' ');
        let cron: ReturnType<typeof parseCron>;
        try {
          cron = parseCron(text);
        } catch {
          // Only a date that never comes may be refused: 30 February, or the 31st of short months.
          expect(sample[4].star).toBe(true);
          expect(Math.min(...sample[2].values)).toBeGreaterThanOrEqual(30);
          return;
        }
        const horizon = instant + 2 * 86_400_000;
        let expected: number | undefined;
        for (
          let minute = (Math.floor(instant / MINUTE) + 1) * MINUTE;
          minute <= horizon && expected === undefined;
          minute += MINUTE
        ) {
          if (occurs(sample, new Date(minute))) expected = minute;
        }
        const next = cron.nextAfter(instant);
        if (expected === undefined) expect(next ?? Number.POSITIVE_INFINITY).toBeGreaterThan(horizon);
        else expect(next).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });
});
