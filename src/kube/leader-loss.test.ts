import { describe, expect, test } from 'vitest';
import type { Lease } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { createVirtualClock, type VirtualClock } from '../lib/virtual-clock.ts';
import { candidate, leading, lease, start } from './testing/candidates.ts';
import { ConnectionError } from './transport/transport.ts';

describe('losing', () => {
  test('lease lost: renewals that fail until the deadline end leading before anybody else may start', async () => {
    const { memory, clock, one } = await leading();
    await clock.advance(4_000);
    memory.before = () => {
      throw new ConnectionError('cut off');
    };
    await clock.advance(9_900);
    expect(one.elector.isLeader()).toBe(true);
    await clock.advance(200);
    expect(one.elector.isLeader()).toBe(false);
    expect(await one.ended).toBe('lost');
    expect(one.log).toEqual(['started', 'work ended']);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('requests that hang are cut at half the deadline, so that a second try fits in', async () => {
    const { memory, clock, one } = await leading();
    let isHanging = true;
    memory.before = (_, { signal }) =>
      isHanging
        ? new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
        : undefined;
    await clock.advance(2_100);
    isHanging = false;
    await clock.advance(20_000);
    expect(one.elector.isLeader()).toBe(true);
    one.stop();
    await clock.advance(0);
  });

  test('another holder on the lease ends leading at once', async () => {
    const { memory, clock, one } = await leading();
    memory.put(resources.leases, {
      metadata: { namespace: 'ns', name: 'leader' },
      spec: { holderIdentity: 'usurper', leaseDurationSeconds: 15, leaseTransitions: 1 },
    } as Lease);
    await clock.advance(2_000);
    expect(one.elector.isLeader()).toBe(false);
    expect(await one.ended).toBe('lost');
    expect(lease(memory)?.spec?.holderIdentity).toBe('usurper');
  });

  test('a renewal whose answer was lost does not end leading', async () => {
    const { memory, clock, one } = await leading();
    let lost = 0;
    memory.after = () => {
      if (lost++ === 0) throw new ConnectionError('answer lost');
    };
    await clock.advance(30_000);
    expect(lost).toBeGreaterThan(1);
    expect(one.elector.isLeader()).toBe(true);
    one.stop();
    await clock.advance(0);
    expect(await one.ended).toBe('stopped');
    expect(lease(memory)?.spec?.holderIdentity).toBeUndefined();
  });

  test('a lease somebody deleted is created again', async () => {
    const { memory, clock, one } = await leading();
    memory.remove(resources.leases, 'ns/leader');
    await clock.advance(3_000);
    expect(one.elector.isLeader()).toBe(true);
    expect(lease(memory)?.spec?.holderIdentity).toBe('one');
    one.stop();
    await clock.advance(0);
  });

  test('event-loop stall: after 12 s without a turn the process knows, before any callback ran, that it no longer leads', async () => {
    const virtual = createVirtualClock(start);
    let stallMillis = 0;
    const clock: VirtualClock = { ...virtual, now: () => virtual.now() + stallMillis };
    const { one } = await leading({}, clock);
    stallMillis = 12_000;
    expect(one.elector.isLeader()).toBe(false);
    await virtual.advance(2_000);
    expect(await one.ended).toBe('lost');
  });

  test('a loop that runs late counts against the deadline, up to half of it', async () => {
    let delay = 0;
    const { memory, clock, one } = await leading({ loopDelayMillis: () => delay });
    memory.before = () => {
      throw new ConnectionError('cut off');
    };
    await clock.advance(5_500);
    expect(one.elector.isLeader()).toBe(true);
    delay = 60_000;
    expect(one.elector.isLeader()).toBe(false);
    delay = 4_000;
    expect(one.elector.isLeader()).toBe(true);
    delay = 4_600;
    expect(one.elector.isLeader()).toBe(false);
    one.stop();
    await clock.advance(20_000);
  });

  test('a machine clock set back does not prolong leading', async () => {
    const virtual = createVirtualClock(start);
    let offset = 0;
    const clock: VirtualClock = { ...virtual, now: () => virtual.now() + offset };
    const { memory, one } = await leading({}, clock);
    memory.before = () => {
      throw new ConnectionError('cut off');
    };
    offset = -3_600_000;
    await virtual.advance(10_100);
    expect(one.elector.isLeader()).toBe(false);
    expect(await one.ended).toBe('lost');
  });

  test('work that fails ends leading at once: the lease is not held by a process that does nothing', async () => {
    const work = Promise.withResolvers<void>();
    const { memory, clock, one } = await leading({ onStarted: () => work.promise });
    await clock.advance(5_000);
    work.reject(new Error('bug'));
    await clock.advance(0);
    expect(one.elector.isLeader()).toBe(false);
    expect(await one.ended).toBe('failed');
    expect(clock.pendingTimers()).toBe(0);
    // Other parts of the work may still be winding down: the lease protects them until it runs out.
    expect(lease(memory)?.spec?.holderIdentity).toBe('one');
    const two = candidate(memory, clock, 'two');
    await clock.advance(20_000);
    expect(two.elector.isLeader()).toBe(true);
    two.stop();
    await clock.advance(0);
  });

  test('work that fails because it is told to end is no failure', async () => {
    const { clock, one } = await leading({
      onStarted: (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    one.stop();
    await clock.advance(0);
    expect(await one.ended).toBe('stopped');
  });

  test('no request for the lease stands in line behind other requests', async () => {
    const { memory, clock, one } = await leading();
    const lanes = new Set<string | undefined>();
    memory.before = (_, { lane }) => void lanes.add(lane);
    await clock.advance(10_000);
    one.stop();
    await clock.advance(0);
    expect([...lanes]).toEqual(['lease']);
  });
});
