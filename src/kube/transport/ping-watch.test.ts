/** When a connection counts as frozen, and when it does not. */
import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { watchPings } from './ping-watch.ts';

/** A session whose pongs come when a test says so. */
function setUp() {
  const clock = createVirtualClock(0);
  const socket = { bytesRead: 0 };
  const pings: ((error: Error | null) => void)[] = [];
  const session = {
    destroyed: false,
    ping(...given: unknown[]) {
      pings.push(given.at(-1) as (error: Error | null) => void);
      return true;
    },
  };
  const frozen: number[] = [];
  const end = watchPings({ session, socket, clock, onFrozen: (millis) => void frozen.push(millis) });
  const pong = (error: Error | null = null): void => {
    socket.bytesRead += 17;
    pings.at(-1)?.(error);
  };
  return { clock, socket, session, pings, frozen, end, pong };
}

test('a pong is followed by one ping, half a minute later', async () => {
  const { clock, pings, frozen, pong, end } = setUp();
  for (let round = 1; round <= 10; round++) {
    await clock.advance(29_999);
    expect(pings).toHaveLength(round - 1);
    await clock.advance(1);
    expect(pings).toHaveLength(round);
    pong();
    expect(clock.pendingTimers()).toBe(1);
  }
  expect(frozen).toEqual([]);
  end();
});

test('15 s after a ping without a pong, or any other byte, it is frozen, which is told once', async () => {
  const { clock, pings, frozen } = setUp();
  await clock.advance(44_999);
  expect(frozen).toEqual([]);
  await clock.advance(1);
  expect(frozen).toEqual([15_000]);
  await clock.advance(600_000);
  expect([frozen, pings.length]).toEqual([[15_000], 1]);
});

test('a process that stood still reads the pong that waits in its socket before it judges', async () => {
  const { clock, pings, frozen, pong, end } = setUp();
  await clock.advance(30_000);
  // After the deadline, in the same turn of the event loop.
  clock.setTimer(15_000, pong);
  await clock.advance(15_000);
  expect(frozen).toEqual([]);
  await clock.advance(30_000);
  expect(pings).toHaveLength(2);
  end();
});

test('who sends something else is asked again, also where the pong comes late', async () => {
  const { clock, socket, pings, frozen, pong, end } = setUp();
  for (let round = 1; round <= 3; round++) {
    await clock.advance(30_000);
    socket.bytesRead += 1000;
    await clock.advance(15_000);
    expect([pings.length, frozen]).toEqual([round, []]);
  }
  pong();
  expect(clock.pendingTimers()).toBe(1);
  end();
});

describe('ended', () => {
  test.each([
    ['between two pings', 10_000],
    ['while a pong is awaited', 35_000],
  ])('%s, it waits for nothing and tells nothing', async (_, millis) => {
    const { clock, frozen, end } = setUp();
    await clock.advance(millis);
    end();
    expect(clock.pendingTimers()).toBe(0);
    await clock.advance(60_000);
    expect(frozen).toEqual([]);
  });

  test('in the turn of the deadline, it tells nothing', async () => {
    const { clock, frozen, end } = setUp();
    await clock.advance(30_000);
    clock.setTimer(15_000, end);
    await clock.advance(60_000);
    expect([frozen, clock.pendingTimers()]).toEqual([[], 0]);
  });

  test.each([
    ['a pong of a session that is gone', null, true],
    ['a ping that was cancelled', new Error('cancelled'), false],
  ])('%s begins nothing', async (_, error, isDestroyed) => {
    const { clock, session, end, pong } = setUp();
    await clock.advance(30_000);
    session.destroyed = isDestroyed;
    end();
    pong(error);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('a session that is gone and has not told so yet is not pinged', async () => {
    const { clock, session, pings } = setUp();
    session.destroyed = true;
    await clock.advance(60_000);
    expect([pings.length, clock.pendingTimers()]).toEqual([0, 0]);
  });
});
