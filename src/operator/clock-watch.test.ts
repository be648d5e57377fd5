import { describe, expect, test } from 'vitest';
import { createLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { watchClock } from './clock-watch.ts';
import { annotate, deploy, MINUTE, policy, startWorld, untilSides } from './testing/steps.ts';

function start(monotonic = false) {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  let [offMillis, stoodMillis] = [0, 0];
  const stopper = new AbortController();
  const seen: string[] = [];
  const setClock = (byMillis: number): void => {
    offMillis += byMillis;
  };
  /** Time passes, and no timer fires. */
  const standStill = (millis: number): void => {
    offMillis += millis;
    stoodMillis += millis;
  };
  const watched = { now: () => clock.now() + offMillis, setTimer: clock.setTimer };
  watchClock(watched, stopper.signal, monotonic ? () => clock.now() + stoodMillis : undefined).then(
    (how) => void seen.push(how),
    (error: unknown) => void seen.push(String(error)),
  );
  return { clock, seen, setClock, standStill, stop: () => stopper.abort() };
}

describe('a clock that is watched', () => {
  test.each([3_600_000, 31_000, -31_000, -3_600_000])('is seen to be set by %i ms within five seconds', async (by) => {
    const { clock, seen, setClock } = start();
    await clock.advance(62_000);
    setClock(by);
    await clock.advance(5_000);
    expect(seen).toEqual(['set']);
  });

  test('may be corrected a little, again and again, until the watch is ended', async () => {
    const { clock, seen, setClock, stop } = start();
    for (const by of [29_000, -29_000, 29_000, 29_000]) {
      setClock(by);
      await clock.advance(60_000);
    }
    expect(seen).toEqual([]);
    stop();
    await clock.advance(1);
    expect(seen).toEqual(['stopped']);
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('with time that nobody sets beside it', () => {
  test('a process that stood still for a minute goes on', async () => {
    const { clock, seen, standStill, stop } = start(true);
    await clock.advance(62_000);
    standStill(60_000);
    await clock.advance(60_000);
    expect(seen).toEqual([]);
    stop();
  });

  test.each([31_000, -31_000])(
    'a clock that is set by %i ms is seen all the same, also by one that stood still',
    async (by) => {
      const { clock, seen, setClock, standStill } = start(true);
      await clock.advance(62_000);
      standStill(60_000);
      setClock(by);
      await clock.advance(5_000);
      expect(seen).toEqual(['set']);
    },
  );
});

test.each([1, 2, 3, 4])(
  'a clock that is set just before its look %d, as of a machine that goes on, is seen',
  async (n) => {
    const clock = createVirtualClock(Date.UTC(2026, 0, 1));
    let looks = 0;
    const watched = { now: () => clock.now() + (++looks > n ? 3_600_000 : 0), setTimer: clock.setTimer };
    const stopper = new AbortController();
    const seen = watchClock(watched, stopper.signal, () => clock.now());
    await clock.advance(30_000);
    stopper.abort();
    expect(await seen).toBe('set');
  },
);

describe('an operator whose clock is set', () => {
  test.each(['forwards', 'backwards'])('%s ends at once, and the next one goes on where it was', async (direction) => {
    const lines: string[] = [];
    const log = createLogger({
      level: 'error',
      format: 'json',
      clock: createVirtualClock(0),
      write: (line) => void lines.push(line),
    });
    const world = await startWorld({ log });
    await deploy(world, 4, policy(0, 0));
    const ended = world.operator().ended.then(
      () => 'stopped',
      (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
    );
    world.setClock('test_1', direction === 'forwards' ? 180 * MINUTE : -180 * MINUTE);
    await world.clock.advance(MINUTE);
    // A leader whose clock is set forwards takes its lease for run out, whichever it notices first.
    expect(['CLOCK_SET', 'LEASE_LOST']).toContain(await ended);
    expect(direction === 'forwards' || (await ended) === 'CLOCK_SET').toBe(true);
    // As a record, for whoever collects logs, and not only in the last line of the process.
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        level: 'error',
        msg: 'The operator ends by itself',
        error: expect.stringMatching(/clock|lease/),
      }),
    );
    await world.startOperator('test_2');
    await annotate(world, policy(100, 0));
    await untilSides(world, 'web', 4, 0);
    expect(world.evictions).toHaveLength(4);
  });
});
