import { describe, expect, test } from 'vitest';
import type { Lease } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { Clock } from '../lib/clock.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLeaderElector } from './leader.ts';
import { candidate, leading, lease, start } from './testing/candidates.ts';
import { createMemoryApi, type MemoryApi } from './testing/memory-api.ts';
import { ConnectionError } from './transport/transport.ts';

describe('acquiring', () => {
  test('the first candidate creates the lease and leads; times have exactly six digits', async () => {
    const { memory, one, clock } = await leading();
    expect(lease(memory)?.spec).toEqual({
      holderIdentity: 'one',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    expect(one.log).toEqual(['started']);
    one.stop();
    await clock.advance(0);
    expect(await one.ended).toBe('stopped');
  });

  test('a live leader is waited for, however its clock differs from ours', async () => {
    const { memory, clock, one } = await leading();
    // Its machine is two hours slow: by its renew times the lease would long be over.
    const slow: Clock = { ...clock, now: () => clock.now() - 7_200_000, setTimer: clock.setTimer };
    const two = candidate(memory, slow, 'two');
    for (let second = 0; second < 120; second++) await clock.advance(1_000);
    expect(one.elector.isLeader()).toBe(true);
    expect(two.log).toEqual([]);
    expect(two.elector.leader()).toMatchObject({ identity: 'one' });
    one.stop();
    two.stop();
    await clock.advance(20_000);
  });

  test('a leader that falls silent is replaced after its lease ran out as seen here, counted from its last sign of life', async () => {
    const memory = createMemoryApi();
    const clock = createVirtualClock(start);
    memory.put(resources.leases, {
      metadata: { namespace: 'ns', name: 'leader', labels: { keep: 'me' } },
      spec: {
        holderIdentity: 'dead',
        leaseDurationSeconds: 15,
        renewTime: '2001-01-01T00:00:00.000000Z',
        leaseTransitions: 4,
      },
    } as Lease);
    const two = candidate(memory, clock, 'two');
    await clock.advance(14_900);
    expect(two.elector.isLeader()).toBe(false);
    await clock.advance(6_000);
    expect(two.elector.isLeader()).toBe(true);
    expect(lease(memory)).toMatchObject({
      metadata: { labels: { keep: 'me' } },
      spec: { holderIdentity: 'two', leaseTransitions: 5 },
    });
    two.stop();
    await clock.advance(0);
  });

  test('a stranger who labels the lease does not keep a dead leader alive', async () => {
    const memory = createMemoryApi();
    const clock = createVirtualClock(start);
    const dead: Lease = {
      metadata: { namespace: 'ns', name: 'leader' },
      spec: { holderIdentity: 'dead', leaseDurationSeconds: 15 },
    };
    memory.put(resources.leases, dead);
    const two = candidate(memory, clock, 'two');
    for (let second = 0; second < 21; second++) {
      if (!two.elector.isLeader())
        memory.put(resources.leases, { ...dead, metadata: { ...dead.metadata, labels: { second: `${second}` } } });
      await clock.advance(1_000);
    }
    expect(two.elector.isLeader()).toBe(true);
    two.stop();
    await clock.advance(0);
  });

  test('a race for a free lease has one winner', async () => {
    const memory = createMemoryApi();
    const clock = createVirtualClock(start);
    const all = ['a', 'b', 'c', 'd'].map((name) => candidate(memory, clock, name));
    for (let second = 0; second < 30; second++) {
      await clock.advance(1_000);
      expect(all.filter(({ elector }) => elector.isLeader())).toHaveLength(1);
    }
    for (const one of all) one.stop();
    await clock.advance(60_000);
  });

  test('an API server that cannot be reached is asked at the retry period, not in a tight loop', async () => {
    const memory = createMemoryApi();
    memory.before = () => {
      throw new ConnectionError('refused');
    };
    const clock = createVirtualClock(start);
    const one = candidate(memory, clock, 'one');
    await clock.advance(60_000);
    expect(memory.calls.length).toBeGreaterThan(10);
    expect(memory.calls.length).toBeLessThan(31);
    one.stop();
    await clock.advance(0);
    expect(await one.ended).toBe('stopped');
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('hand-over', () => {
  test('on stop the work ends first, then the lease is released, and the other candidate leads within its retry period', async () => {
    const { memory, clock, one } = await leading({ annotations: () => ({ 'stowage.io/webhook': '10.0.0.1:9443' }) });
    const two = candidate(memory, clock, 'two');
    await clock.advance(3_000);
    expect(two.elector.leader()).toEqual({ identity: 'one', annotations: { 'stowage.io/webhook': '10.0.0.1:9443' } });
    one.stop();
    await clock.advance(0);
    expect(await one.ended).toBe('stopped');
    expect(one.log).toEqual(['started', 'work ended']);
    const released = lease(memory);
    expect(released?.spec?.holderIdentity).toBeUndefined();
    expect(released?.spec?.leaseDurationSeconds).toBe(1);
    expect(released?.metadata?.annotations).toEqual({});
    await clock.advance(4_400);
    expect(two.elector.isLeader()).toBe(true);
    expect(lease(memory)?.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
    two.stop();
    await clock.advance(0);
  });

  test('work that does not end keeps the lease until it runs out: nobody else may start meanwhile', async () => {
    const { memory, clock, one } = await leading({ onStarted: () => new Promise(() => {}) });
    await clock.advance(4_000);
    one.stop();
    await clock.advance(14_000);
    expect(memory.calls.filter((call) => call.startsWith('replace')).length).toBe(2);
    await clock.advance(2_000);
    expect(await one.ended).toBe('stopped');
    expect(lease(memory)?.spec?.holderIdentity).toBe('one');
  });

  test('never two leaders, while renewals fail at random for one of them', async () => {
    const memory = createMemoryApi();
    const clock = createVirtualClock(start);
    const random = createSeededRandom(7);
    let isCutOff = false;
    const cut = {
      ...memory,
      api: {
        ...memory.api,
        replace: (async (...call: Parameters<typeof memory.api.replace>) => {
          if (isCutOff) throw new ConnectionError('cut off');
          return await memory.api.replace(...call);
        }) as typeof memory.api.replace,
      },
    };
    const one = restarting(cut, clock, 'one');
    const two = restarting(memory, clock, 'two');
    let changes = 0;
    let last: string | undefined;
    for (let second = 0; second < 600; second++) {
      if (random.next() < 0.05) isCutOff = !isCutOff;
      await clock.advance(1_000);
      const leaders = [one, two].filter((each) => each.isLeader());
      expect(leaders.length).toBeLessThan(2);
      const holder = lease(memory)?.spec?.holderIdentity;
      if (holder !== last) changes++;
      last = holder;
    }
    expect(changes).toBeGreaterThan(1);
    one.stop();
    two.stop();
    await clock.advance(60_000);
  });
});

describe('settings', () => {
  test.each([
    [{ leaseDurationMillis: 10_000, renewDeadlineMillis: 10_000 }, /lease duration > renew deadline/],
    [{ renewDeadlineMillis: 2_000, retryPeriodMillis: 2_000 }, /renew deadline > 1.2 x retry period/],
    [{ retryPeriodMillis: 0 }, /retry period > 0/],
    [{ leaseDurationMillis: 15_500 }, /whole seconds/],
    [{ identity: '' }, /needs an identity/],
  ])('%j is refused', (options, message) => {
    const memory = createMemoryApi();
    const create = () =>
      createLeaderElector({
        api: memory.api,
        clock: createVirtualClock(0),
        random: createSeededRandom(1),
        log: createSilentLogger(),
        namespace: 'ns',
        name: 'x',
        identity: 'x',
        onStarted() {},
        ...options,
      });
    expect(create).toThrow(message);
  });
});

/** A process that is started afresh, under another identity, each time it ended because it lost the lease. */
function restarting(memory: MemoryApi, clock: Clock, name: string) {
  let starts = 0;
  let current = begin();
  function begin(): ReturnType<typeof candidate> {
    const process = candidate(memory, clock, `${name}-${starts++}`);
    void process.ended.then((end) => {
      if (end !== 'stopped') current = begin();
    });
    return process;
  }
  return { isLeader: () => current.elector.isLeader(), stop: () => current.stop() };
}
