import { describe, expect, test } from 'vitest';
import { createVirtualClock, type VirtualClock } from '../../../lib/virtual-clock.ts';
import { createRefreshPace, type RefreshPaceOptions } from './refresh-pace.ts';

const SOON = 150;
const APART = 1000;
const LATER = 5000;

const pacedBy = (clock: VirtualClock): Omit<RefreshPaceOptions, 'ask'> => ({
  setTimer(callback, millis) {
    const timer = clock.setTimer(millis, callback);
    return () => timer.cancel();
  },
  soonMillis: SOON,
  apartMillis: APART,
});

/** @param answerMillis how long each question takes. */
function start(answerMillis = 50) {
  const clock = createVirtualClock(0);
  const asked: number[] = [];
  const pace = createRefreshPace({
    ask() {
      asked.push(clock.now());
      pace.began();
      clock.setTimer(answerMillis, () => pace.ended(LATER));
    },
    ...pacedBy(clock),
  });
  return { clock, asked, pace };
}

describe('when a page is asked for again', () => {
  test('now and then, and soon for news of what it shows', async () => {
    const { clock, asked, pace } = start();
    pace.askIn(0);
    await clock.advance(LATER + 100);
    expect(asked).toEqual([0, LATER + 50]);
    await clock.advance(1000);
    pace.news();
    await clock.advance(SOON);
    expect(asked.slice(2)).toEqual([LATER + 1100 + SOON]);
  });

  test.each([50, 900])('a burst of news keeps no page as it is: answers take %i ms', async (answerMillis) => {
    const { clock, asked, pace } = start(answerMillis);
    pace.askIn(0);
    for (let time = 0; time < 10_000; time += 20) {
      await clock.advance(20);
      pace.news();
    }
    const gaps = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
    expect(new Set(gaps)).toEqual(new Set([answerMillis + APART]));
    expect(asked.length).toBeGreaterThanOrEqual(5);
  });

  test('what the viewer wants last is asked for, also where there was news before', async () => {
    const { clock, asked, pace } = start();
    pace.news();
    for (let key = 0; key < 5; key++) {
      pace.askIn(SOON);
      await clock.advance(100);
    }
    expect(asked).toEqual([]);
    await clock.advance(100);
    expect(asked).toEqual([400 + SOON]);
  });

  test('not at all while nobody looks, whatever came before', async () => {
    const clock = createVirtualClock(0);
    const asked: number[] = [];
    const pace = createRefreshPace({
      ask: () => asked.push(clock.now()),
      ...pacedBy(clock),
    });
    pace.began();
    pace.news();
    pace.ended(undefined);
    await clock.advance(60_000);
    expect(asked).toEqual([]);
  });
});
