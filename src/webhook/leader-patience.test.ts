import { describe, expect, test } from 'vitest';
import type { Clock } from '../lib/clock.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLeaderPatience } from './leader-patience.ts';

const patienceOf = (clock: Clock) =>
  createLeaderPatience({ clock, silenceMillis: 100, mutedSilenceMillis: 40, limitMillis: 1000 });

describe('createLeaderPatience', () => {
  test('ends after the silence, and not before', async () => {
    const clock = createVirtualClock(0);
    const { signal } = patienceOf(clock).wait();
    await clock.advance(99);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.aborted).toBe(true);
  });

  test('a sign of life begins it anew for all who wait, up to the limit of each', async () => {
    const clock = createVirtualClock(0);
    const patience = patienceOf(clock);
    const first = patience.wait();
    await clock.advance(80);
    const second = patience.wait();
    for (let passed = 80; passed < 980; passed += 60) {
      patience.signOfLife();
      await clock.advance(60);
      expect([first.signal.aborted, second.signal.aborted]).toEqual([false, false]);
    }
    patience.signOfLife();
    await clock.advance(20);
    expect([first.signal.aborted, second.signal.aborted]).toEqual([true, false]);
  });

  test('silence from before one began to wait is not counted against the leader', async () => {
    const clock = createVirtualClock(0);
    const patience = patienceOf(clock);
    const first = patience.wait();
    await clock.advance(80);
    const second = patience.wait();
    await clock.advance(20);
    expect([first.signal.aborted, second.signal.aborted]).toEqual([true, false]);
  });

  test('a leader that was given up is waited for shortly only, until it shows a sign of life', async () => {
    const clock = createVirtualClock(0);
    const patience = patienceOf(clock);
    const endsAfter = async (): Promise<number> => {
      const startedAt = clock.now();
      const { signal, end } = patience.wait();
      while (!signal.aborted) await clock.advance(10);
      end();
      return clock.now() - startedAt;
    };
    expect(await endsAfter()).toBe(100);
    expect(await endsAfter()).toBe(40);
    expect(await endsAfter()).toBe(40);
    patience.signOfLife();
    expect(await endsAfter()).toBe(100);
  });

  test('the limit alone is no silence: the next one waits as long as before', async () => {
    const clock = createVirtualClock(0);
    const patience = patienceOf(clock);
    const { signal, end } = patience.wait();
    while (!signal.aborted) {
      patience.signOfLife();
      await clock.advance(20);
    }
    end();
    expect(clock.now()).toBe(1000);
    patience.signOfLife();
    const next = patience.wait();
    await clock.advance(80);
    expect(next.signal.aborted).toBe(false);
  });

  test('a process that was held up itself waits on: what has arrived meanwhile is read first', () => {
    let now = 0;
    const timers: (() => void)[] = [];
    const clock: Clock = {
      now: () => now,
      setTimer(_, callback) {
        timers.push(callback);
        return { cancel: () => {} };
      },
    };
    const { signal } = patienceOf(clock).wait();
    const fireAfter = (millis: number): void => {
      now += millis;
      timers.shift()?.();
    };
    // Each timer is 180 ms late.
    for (let step = 0; step < 4; step++) fireAfter(200);
    expect(signal.aborted).toBe(false);
    fireAfter(200);
    expect(signal.aborted).toBe(true);
  });

  test('nothing runs while nobody waits', async () => {
    const clock = createVirtualClock(0);
    let timers = 0;
    const counting: Clock = {
      ...clock,
      setTimer(millis, callback) {
        timers++;
        return clock.setTimer(millis, callback);
      },
    };
    const patience = patienceOf(counting);
    const wait = patience.wait();
    await clock.advance(50);
    wait.end();
    const before = timers;
    await clock.advance(1000);
    expect(timers).toBe(before);
    expect(wait.signal.aborted).toBe(false);
  });
});
