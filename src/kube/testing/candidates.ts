/** Candidates of a leader election on an API in memory, in virtual time. */
import { expect } from 'vitest';
import type { Lease } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import type { Clock } from '../../lib/clock.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock, type VirtualClock } from '../../lib/virtual-clock.ts';
import { createLeaderElector, type LeaderElectionOptions } from '../leader.ts';
import { createMemoryApi, type MemoryApi } from './memory-api.ts';

export const start = Date.UTC(2026, 0, 1);

export function candidate(
  memory: MemoryApi,
  clock: Clock,
  identity: string,
  options: Partial<LeaderElectionOptions> = {},
) {
  const log: string[] = [];
  const elector = createLeaderElector({
    api: memory.api,
    clock,
    random: createSeededRandom(identity.charCodeAt(0)),
    log: createSilentLogger(),
    namespace: 'ns',
    name: 'leader',
    identity,
    onStarted: (signal) => {
      log.push('started');
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(void log.push('work ended'))));
    },
    ...options,
  });
  const stop = new AbortController();
  const ended = elector.run(stop.signal);
  return { elector, log, ended, stop: () => stop.abort(new Error('SIGTERM')) };
}

export const lease = (memory: MemoryApi): Lease | undefined =>
  memory.get(resources.leases, 'ns/leader') as Lease | undefined;

export async function leading(
  options: Partial<LeaderElectionOptions> = {},
  clock: VirtualClock = createVirtualClock(start),
) {
  const memory = createMemoryApi();
  const one = candidate(memory, clock, 'one', options);
  await clock.advance(0);
  expect(one.elector.isLeader()).toBe(true);
  return { memory, clock, one };
}
