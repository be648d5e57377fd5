import { describe, expect, test } from 'vitest';
import { createRefreshPace } from './refresh-pace.ts';

const SOON = 150;
const APART = 1000;
const LATER = 5000;

/** Virtual time, for the little that pages have of it. */
function createTimers() {
  let now = 0;
  let waiting: readonly { readonly at: number; readonly callback: () => void }[] = [];
  return {
    now: () => now,
    set(callback: () => void, millis: number) {
      const timer = { at: now + millis, callback };
      waiting = [...waiting, timer];
      return () => {
        waiting = waiting.filter((each) => each !== timer);
      };
    },
    advance(millis: number) {
      const end = now + millis;
      for (;;) {
        const [next] = waiting.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
        if (next === undefined) break;
        waiting = waiting.filter((each) => each !== next);
        now = next.at;
        next.callback();
      }
      now = end;
    },
  };
}

/** @param answerMillis how long each question takes; undefined: nobody begins one. */
function start(answerMillis: number | undefined) {
  const { now, set, advance } = createTimers();
  const asked: number[] = [];
  const pace = createRefreshPace({
    ask() {
      asked.push(now());
      if (answerMillis === undefined) return;
      pace.began();
      set(() => pace.ended(LATER), answerMillis);
    },
    setTimer: set,
    soonMillis: SOON,
    apartMillis: APART,
  });
  return { advance, asked, pace };
}

describe('when a page is asked for again', () => {
  test('now and then, and soon for news of what it shows', () => {
    const { advance, asked, pace } = start(50);
    pace.askIn(0);
    advance(LATER + 100);
    expect(asked).toEqual([0, LATER + 50]);
    advance(1000);
    pace.news();
    advance(SOON);
    expect(asked.slice(2)).toEqual([LATER + 1100 + SOON]);
  });

  test.each([50, 900])('a burst of news keeps no page as it is: answers take %i ms', (answerMillis) => {
    const { advance, asked, pace } = start(answerMillis);
    pace.askIn(0);
    for (let time = 0; time < 10_000; time += 20) {
      advance(20);
      pace.news();
    }
    const gaps = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
    expect(new Set(gaps)).toEqual(new Set([answerMillis + APART]));
    expect(asked.length).toBeGreaterThanOrEqual(5);
  });

  test('what the viewer wants last is asked for, also where there was news before', () => {
    const { advance, asked, pace } = start(50);
    pace.news();
    for (let key = 0; key < 5; key++) {
      pace.askIn(SOON);
      advance(100);
    }
    expect(asked).toEqual([]);
    advance(100);
    expect(asked).toEqual([400 + SOON]);
  });

  test('what the viewer wants while an answer is awaited is not put off by it', () => {
    const { advance, asked, pace } = start(50);
    pace.askIn(0);
    advance(10);
    pace.askIn(SOON);
    pace.news();
    advance(300);
    expect(asked).toEqual([0, 10 + SOON]);
  });

  test('not at all while nobody looks, whatever came before', () => {
    const { advance, asked, pace } = start(undefined);
    pace.began();
    pace.news();
    pace.ended(undefined);
    advance(60_000);
    expect(asked).toEqual([]);
  });
});
