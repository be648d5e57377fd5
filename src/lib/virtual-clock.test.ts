import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sleep } from './clock.ts';
import { createVirtualClock } from './virtual-clock.ts';

describe('time', () => {
  test('moves only when told to, and never backwards', async () => {
    const clock = createVirtualClock(500);
    expect(clock.now()).toBe(500);
    await clock.advance(250);
    expect(clock.now()).toBe(750);
    await clock.advance(-100);
    expect(clock.now()).toBe(750);
  });

  test('is the due time while a timer fires', async () => {
    const clock = createVirtualClock(0);
    const seen: number[] = [];
    for (const delay of [30, 10, 20]) clock.setTimer(delay, () => seen.push(clock.now()));
    await clock.advance(100);
    expect(seen).toEqual([10, 20, 30]);
    expect(clock.now()).toBe(100);
  });
});

describe('timers', () => {
  test('due at the same time fire in the order they were started', async () => {
    const clock = createVirtualClock(0);
    const seen: string[] = [];
    for (const name of ['a', 'b', 'c', 'd']) clock.setTimer(10, () => seen.push(name));
    await clock.advance(10);
    expect(seen).toEqual(['a', 'b', 'c', 'd']);
  });

  test('hundreds of them fire in the order of their due times, those due together in that of their starts', async () => {
    const clock = createVirtualClock(0);
    const timers = Array.from({ length: 300 }, (_, index) => ({ index, delay: (index * 73) % 97 }));
    const seen: number[] = [];
    for (const { index, delay } of timers) clock.setTimer(delay, () => seen.push(index));
    await clock.advance(100);
    expect(seen).toEqual(timers.toSorted((a, b) => a.delay - b.delay || a.index - b.index).map(({ index }) => index));
  });

  test('started while time moves fire in the same move when they are due', async () => {
    const clock = createVirtualClock(0);
    const seen: number[] = [];
    const tick = (): void => {
      seen.push(clock.now());
      clock.setTimer(10, tick);
    };
    clock.setTimer(10, tick);
    await clock.advance(35);
    expect(seen).toEqual([10, 20, 30]);
    expect(clock.pendingTimers()).toBe(1);
  });

  test('started by what could run before time moves fire in that move', async () => {
    const clock = createVirtualClock(0);
    const seen: number[] = [];
    let chain = Promise.resolve();
    for (let step = 0; step < 50; step++) chain = chain.then(() => {});
    const started = chain.then(() => clock.setTimer(5, () => seen.push(clock.now())));
    await clock.advance(10);
    const timer = await started;
    expect(seen).toEqual([5]);
    // One that fired cannot be cancelled any more.
    timer.cancel();
    expect(clock.pendingTimers()).toBe(0);
  });

  test('a cancelled timer does not fire and does not count', async () => {
    const clock = createVirtualClock(0);
    let fired = 0;
    const timer = clock.setTimer(10, () => fired++);
    clock.setTimer(20, () => fired++);
    expect(clock.pendingTimers()).toBe(2);
    timer.cancel();
    timer.cancel();
    expect(clock.pendingTimers()).toBe(1);
    await clock.advance(50);
    expect(fired).toBe(1);
    timer.cancel();
    expect(clock.pendingTimers()).toBe(0);
  });

  test('one timer can cancel another that is due at the same time', async () => {
    const clock = createVirtualClock(0);
    let fired = false;
    clock.setTimer(10, () => second.cancel());
    const second = clock.setTimer(10, () => {
      fired = true;
    });
    await clock.advance(10);
    expect(fired).toBe(false);
  });

  test.each([0, -10])('a delay of %d fires at the present instant, with the next move', async (delay) => {
    const clock = createVirtualClock(100);
    let at = -1;
    clock.setTimer(delay, () => {
      at = clock.now();
    });
    expect(at).toBe(-1);
    await clock.advance(0);
    expect(at).toBe(100);
  });

  test('code that awaits observes the instant it asked for, however long its chain of promises', async () => {
    const clock = createVirtualClock(0);
    const seen: number[] = [];
    const run = async (): Promise<void> => {
      for (let round = 0; round < 3; round++) {
        await sleep(clock, 100);
        for (let hop = 0; hop < 50; hop++) await Promise.resolve();
        seen.push(clock.now());
      }
    };
    const running = run();
    await clock.advance(1000);
    await running;
    expect(seen).toEqual([100, 200, 300]);
  });
});

test('for any timers, those due fire in the order of their due times and starts, the others stay', async () => {
  const timers = fc.array(fc.record({ delay: fc.integer({ min: 0, max: 50 }), cancelled: fc.boolean() }), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(timers, fc.integer({ min: 0, max: 60 }), async (specs, advance) => {
      const clock = createVirtualClock(0);
      const fired: number[] = [];
      const handles = specs.map(({ delay }, index) => clock.setTimer(delay, () => fired.push(index)));
      for (const [index, { cancelled }] of specs.entries()) if (cancelled) handles[index]?.cancel();
      await clock.advance(advance);
      const kept = specs.map((spec, index) => ({ ...spec, index })).filter(({ cancelled }) => !cancelled);
      const due = kept.filter(({ delay }) => delay <= advance).sort((a, b) => a.delay - b.delay || a.index - b.index);
      expect(fired).toEqual(due.map(({ index }) => index));
      expect(clock.pendingTimers()).toBe(kept.length - due.length);
    }),
    { numRuns: 50 },
  );
});
