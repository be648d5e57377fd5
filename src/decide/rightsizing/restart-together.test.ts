import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NOON } from '../../model/testing/records.ts';
import type { HoldReason, ResourceAdvice } from './advice.ts';
import type { SizedAdvice } from './recommend-workload.ts';
import { awaitedDecrease, type TogetherQuestion } from './restart-together.ts';
import { dueAdvice } from './testing/advice.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const size = { cpuRequest: 500, memoryRequest: 500 };

const heldUntil = (readyAt: number | undefined, held: HoldReason = 'LowConfidence'): ResourceAdvice => ({
  ...dueAdvice(500),
  isDue: false,
  held,
  readyAt,
});
const advised = (memory: ResourceAdvice, container = 'app', cpu = dueAdvice(200)): SizedAdvice => ({
  container,
  current: size,
  cpu,
  memory,
});
const question = (changes: Partial<TogetherQuestion> = {}): TogetherQuestion => ({
  beginning: { raises: [], decreases: [{ container: 'app', to: { cpuRequest: 200 } }] },
  advice: [advised(heldUntil(NOON + MINUTE))],
  isDear: () => true,
  since: undefined,
  now: NOON,
  ...changes,
});
const awaits = (changes: Partial<TogetherQuestion>) => awaitedDecrease(question(changes), HOUR)?.readyAt;

describe('less of one resource', () => {
  test('waits for less of the other, where only time keeps that', () => {
    expect(awaitedDecrease(question(), HOUR)).toEqual({ container: 'app', resource: 'memory', readyAt: NOON + MINUTE });
    expect(awaits({ advice: [advised(heldUntil(NOON + MINUTE, 'Cooldown'))] })).toBe(NOON + MINUTE);
  });

  test('waits for the last that is ready in time, of whichever container', () => {
    const advice = [
      advised(heldUntil(NOON + MINUTE)),
      advised(heldUntil(NOON + 59 * MINUTE), 'log', heldUntil(NOON + 2 * MINUTE)),
      advised(heldUntil(NOON + 61 * MINUTE), 'mesh'),
    ];
    expect(awaitedDecrease(question({ advice }), HOUR)).toMatchObject({ container: 'log', resource: 'memory' });
    const reversed = advice.toReversed();
    expect(awaitedDecrease(question({ advice: reversed }), HOUR)).toMatchObject({ container: 'log' });
  });

  test('waits to the very end of the wait', () => {
    expect(awaits({ advice: [advised(heldUntil(NOON + HOUR))] })).toBe(NOON + HOUR);
    expect(awaits({ since: NOON - HOUR + 1, advice: [advised(heldUntil(NOON + 1))] })).toBe(NOON + 1);
  });

  test.each<[string, Partial<TogetherQuestion>]>([
    ['what was to be ready before, and is held by something else', { advice: [advised(heldUntil(NOON - 1))] }],
    ['what is to be ready now, and is held all the same', { advice: [advised(heldUntil(NOON))] }],
    ['what is ready when the wait ends', { since: NOON - HOUR, advice: [advised(heldUntil(NOON))] }],
    ['what is ready too late', { advice: [advised(heldUntil(NOON + HOUR + 1))] }],
    ['what nobody knows the time of', { advice: [advised(heldUntil(undefined))] }],
    ['what is as it should be', { advice: [advised(heldUntil(NOON + MINUTE, 'WithinMinChange'))] }],
    ['what an autoscaler keeps', { advice: [advised(heldUntil(NOON + MINUTE, 'HpaTarget'))] }],
    ['what costs no restart', { isDear: ({ resource }) => resource === 'cpu' }],
    ['anything when it has waited long enough', { since: NOON - HOUR }],
    [
      'what is ready only after the wait',
      { since: NOON - 30 * MINUTE, advice: [advised(heldUntil(NOON + 31 * MINUTE))] },
    ],
  ])('does not wait for %s', (_, changes) => {
    expect(awaits(changes)).toBeUndefined();
  });

  test('does not wait where more is given, nor where nothing is', () => {
    const raises = [{ container: 'app', to: { memoryRequest: 900 } }];
    expect(awaits({ beginning: { ...question().beginning, raises } })).toBeUndefined();
    expect(awaits({ beginning: { raises: [], decreases: [] } })).toBeUndefined();
  });
});

test('for any times, even such as move on for ever, the wait is no longer than it may be', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 3 * HOUR }), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.integer({ min: 0, max: HOUR }),
      (ahead, isMoving, patience) => {
        let since: number | undefined;
        let now = NOON;
        for (; now <= NOON + 2 * HOUR; now += MINUTE) {
          const from = isMoving ? now : NOON;
          const advice = ahead.map((millis, index) => advised(heldUntil(from + millis), `c${index}`));
          const awaited = awaitedDecrease(question({ advice, since, now }), patience);
          if (awaited === undefined) break;
          since ??= now;
          expect(awaited.readyAt).toBeLessThanOrEqual(since + patience);
        }
        expect(now - NOON).toBeLessThanOrEqual(patience + MINUTE);
      },
    ),
    { numRuns: 150 },
  );
});
