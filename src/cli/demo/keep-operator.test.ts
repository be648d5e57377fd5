import { describe, expect, test } from 'vitest';
import { StowageError } from '../../lib/errors.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { RunningOperator } from '../operator-port.ts';
import { keepOperator } from './keep-operator.ts';

const ports = { webhook: 1, metrics: 2, health: 3, dashboard: 4 };
const lost = new StowageError('LEASE_LOST', 'The lease was lost.');

/** Operators that end when they are told to, by themselves where the test says so. */
function setUp(refused: readonly number[] = []) {
  const clock = createVirtualClock(0);
  const askedFor: unknown[] = [];
  const running: { readonly end: (error: unknown) => void; isStopped: boolean }[] = [];
  const start = async (wanted: RunningOperator['ports'] | undefined): Promise<RunningOperator> => {
    askedFor.push(wanted);
    if (refused.includes(askedFor.length)) throw new Error('port in use');
    const ended = Promise.withResolvers<void>();
    const own = { end: ended.reject, isStopped: false };
    running.push(own);
    return {
      ports,
      synced: Promise.resolve(),
      ended: ended.promise,
      admit: async () => ({ status: 200, body: '' }),
      applyConfig() {},
      explain: () => undefined,
      async stop() {
        own.isStopped = true;
        ended.resolve();
      },
    };
  };
  return { clock, askedFor, running, keep: () => keepOperator({ start, clock, log: createSilentLogger() }) };
}

describe('keepOperator', () => {
  test('one that lost its lease is followed by another on the same ports, which is the one that is stopped', async () => {
    const { clock, askedFor, running, keep } = setUp();
    const kept = await keep();
    running[0]?.end(lost);
    await clock.advance(2_000);
    expect([askedFor, kept.restarts()]).toEqual([[undefined, ports], 1]);
    await kept.stop();
    expect(running[1]?.isStopped).toBe(true);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('ports that are not free yet are asked for again, five times in all', async () => {
    const { clock, askedFor, running, keep } = setUp([2, 3]);
    const kept = await keep();
    running[0]?.end(lost);
    await clock.advance(10_000);
    expect([askedFor.length, kept.restarts()]).toEqual([4, 1]);
    await kept.stop();
    const hopeless = setUp([2, 3, 4, 5, 6]);
    const none = await hopeless.keep();
    hopeless.running[0]?.end(lost);
    await hopeless.clock.advance(10_000);
    await expect(none.failed).rejects.toThrow('port in use');
    await none.stop();
  });

  test('any other end is a failure', async () => {
    const { running, keep } = setUp();
    const kept = await keep();
    const failure = new StowageError('LEADER_FAILED', 'The leader’s work failed.');
    running[0]?.end(failure);
    await expect(kept.failed).rejects.toBe(failure);
    await kept.stop();
  });

  test('stopped while it waits to start another, it starts none', async () => {
    const { clock, askedFor, running, keep } = setUp();
    const kept = await keep();
    running[0]?.end(lost);
    await clock.advance(100);
    await kept.stop();
    await clock.advance(5_000);
    expect(askedFor).toHaveLength(1);
    expect(clock.pendingTimers()).toBe(0);
  });
});
