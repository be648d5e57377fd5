import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createMonotonicTime, createSystemClock, pause, sleep } from './clock.ts';
import { createVirtualClock } from './virtual-clock.ts';

describe('monotonic time', () => {
  test('goes on when the clock of the machine is set back', () => {
    vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] });
    try {
      const monotonic = createMonotonicTime();
      const before = monotonic();
      vi.setSystemTime(0);
      expect(monotonic()).toBeGreaterThanOrEqual(before);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the system clock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_000_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('tells the time of the machine', () => {
    expect(createSystemClock().now()).toBe(1_000_000);
  });

  test('fires once, when the delay has passed', () => {
    const fired = vi.fn();
    createSystemClock().setTimer(500, fired);
    vi.advanceTimersByTime(499);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(10_000);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  test.each([0, -5])('a delay of %d fires as soon as possible', (delay) => {
    const fired = vi.fn();
    createSystemClock().setTimer(delay, fired);
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  test('a cancelled timer never fires, and may be cancelled again', () => {
    const fired = vi.fn();
    const timer = createSystemClock().setTimer(500, fired);
    timer.cancel();
    timer.cancel();
    vi.advanceTimersByTime(1000);
    expect(fired).not.toHaveBeenCalled();
  });

  test('delays beyond what Node takes are waited for in full', () => {
    const fired = vi.fn();
    const days30 = 30 * 24 * 3_600_000;
    createSystemClock().setTimer(days30, fired);
    vi.advanceTimersByTime(days30 - 1);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  test('a long timer can be cancelled in its second stretch', () => {
    const fired = vi.fn();
    const days30 = 30 * 24 * 3_600_000;
    const timer = createSystemClock().setTimer(days30, fired);
    vi.advanceTimersByTime(days30 - 1000);
    timer.cancel();
    vi.advanceTimersByTime(10_000);
    expect(fired).not.toHaveBeenCalled();
  });
});

describe('sleep', () => {
  test('resolves when the time has passed', async () => {
    const clock = createVirtualClock(0);
    let woke = -1;
    const sleeping = sleep(clock, 1000).then(() => {
      woke = clock.now();
    });
    await clock.advance(5000);
    await sleeping;
    expect(woke).toBe(1000);
  });

  test('rejects at once with the reason of the signal, leaving no timer', async () => {
    const clock = createVirtualClock(0);
    const stop = new AbortController();
    const sleeping = sleep(clock, 1000, stop.signal);
    stop.abort(new Error('stopping'));
    await expect(sleeping).rejects.toThrow('stopping');
    expect(clock.pendingTimers()).toBe(0);
  });

  test('does not start when the signal has aborted', async () => {
    const clock = createVirtualClock(0);
    await expect(sleep(clock, 1000, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    expect(clock.pendingTimers()).toBe(0);
  });

  test('an abort after it woke changes nothing, and its listener is gone', async () => {
    const clock = createVirtualClock(0);
    const stop = new AbortController();
    const removed = vi.spyOn(stop.signal, 'removeEventListener');
    const sleeping = sleep(clock, 10, stop.signal);
    await clock.advance(10);
    await expect(sleeping).resolves.toBeUndefined();
    expect(removed).toHaveBeenCalledTimes(1);
    stop.abort();
  });
});

test('a pause is over with its time, and at once when the signal aborts, which is no error', async () => {
  const clock = createVirtualClock(0);
  const stop = new AbortController();
  const first = pause(clock, 1000, stop.signal);
  await clock.advance(1000);
  await expect(first).resolves.toBeUndefined();
  const second = pause(clock, 1000, stop.signal);
  stop.abort(new Error('stopping'));
  await expect(second).resolves.toBeUndefined();
  await expect(pause(clock, 1000, stop.signal)).resolves.toBeUndefined();
  expect(clock.pendingTimers()).toBe(0);
});
