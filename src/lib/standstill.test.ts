import { describe, expect, test } from 'vitest';
import { sleep } from './clock.ts';
import { callerIn } from './standstill.ts';
import { createVirtualClock } from './virtual-clock.ts';

const start = Date.UTC(2026, 5, 1);
const limits = { chained: 500, reads: 5000 };

describe('time that cannot move on', () => {
  test('is told, with who starts timers without delay again and again', async () => {
    const clock = createVirtualClock(start, limits);
    let fired = 0;
    const hotLoop = (): void => {
      fired++;
      clock.setTimer(0, hotLoop);
    };
    clock.setTimer(1000, hotLoop);
    const move = clock.advance(60_000);
    await expect(move).rejects.toMatchObject({ code: 'TIME_STANDS_STILL' });
    await expect(move).rejects.toThrow(
      /^Simulated time stands still at 2026-06-01T00:00:01.000Z: timers .* by hotLoop .*standstill.test.ts:\d+/,
    );
    expect(fired).toBeLessThan(600);
    // It does not move later either.
    await expect(clock.advance(0)).rejects.toThrow(/hotLoop/);
  });

  test('is told of code that sleeps for no time', async () => {
    const clock = createVirtualClock(start, limits);
    const sleeper = async (): Promise<void> => {
      for (;;) await sleep(clock, 0);
    };
    void sleeper();
    await expect(clock.advance(1)).rejects.toThrow(/by sleeper/);
  });

  test('is told of less than a millisecond, too', async () => {
    const clock = createVirtualClock(start, limits);
    const halve = (delay: number): void => void clock.setTimer(delay, () => halve(delay / 2));
    halve(0.5);
    await expect(clock.advance(1)).rejects.toThrow(/by halve/);
  });

  test('is told of code that looks at the clock and waits for nothing', async () => {
    const clock = createVirtualClock(start, limits);
    let looks = 0;
    const impatient = async (): Promise<void> => {
      for (;;) {
        await Promise.resolve();
        clock.now();
        looks++;
      }
    };
    const ended = impatient().catch(() => {});
    await expect(clock.advance(1)).rejects.toThrow(/the clock is asked without end by impatient/);
    await ended;
    expect(looks).toBe(5000);
  });
});

describe('time moves on', () => {
  test('where many timers are due at one instant, and where each starts one a millisecond later', async () => {
    const clock = createVirtualClock(start, limits);
    let fired = 0;
    for (let index = 0; index < 2000; index++) clock.setTimer(10, () => fired++);
    const tick = (): void => {
      fired++;
      clock.setTimer(1, tick);
    };
    tick();
    await clock.advance(2000);
    expect(fired).toBe(4001);
  });

  test('where the clock is asked often, by many in turn', async () => {
    const clock = createVirtualClock(start, limits);
    let reads = 0;
    const ask = (): void => {
      for (let index = 0; index < 1000; index++) {
        clock.now();
        reads++;
      }
    };
    for (let index = 0; index < 20; index++) clock.setTimer(5, ask);
    await clock.advance(10);
    expect(reads).toBe(20_000);
  });
});

test('turns are told apart: each timer that fires is one', async () => {
  const clock = createVirtualClock(start);
  const turns = new Set<number>();
  for (const delay of [5, 5, 6]) clock.setTimer(delay, () => turns.add(clock.turn()));
  const before = clock.turn();
  await clock.advance(10);
  expect(turns.size).toBe(3);
  expect(turns).not.toContain(before);
});

test('a clock that was halted says why', async () => {
  const clock = createVirtualClock(start);
  clock.setTimer(5, () => clock.halt(new Error('enough')));
  await expect(clock.advance(10)).rejects.toThrow('enough');
  expect(clock.now()).toBe(start + 5);
});

describe('callerIn', () => {
  const frame = (text: string): string => `    at ${text}`;

  test('names the innermost functions that are no clock', () => {
    const stack = [
      'Error: place',
      frame('chainOf (file:///home/x/src/lib/standstill.ts:50:3)'),
      frame('Object.setTimer (file:///home/x/src/lib/virtual-clock.ts:60:3)'),
      frame('new Promise (<anonymous>)'),
      frame('sleep (file:///home/x/src/lib/clock.ts:60:3)'),
      frame('async run (file:///home/x/src/kube/queue.ts:12:3)'),
      frame('process.processTicksAndRejections (node:internal/process/task_queues:103:5)'),
      frame('async main (file:///home/x/src/main.ts:1:1)'),
    ].join('\n');
    expect(callerIn(stack)).toBe('run (src/kube/queue.ts:12:3) < main (src/main.ts:1:1)');
  });

  test('says so where there are none', () => {
    expect(callerIn('Error: place')).toBe('code that cannot be told');
    expect(callerIn(undefined)).toBe('code that cannot be told');
  });
});
