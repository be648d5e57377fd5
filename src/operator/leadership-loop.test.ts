import { describe, expect, test } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { createMemoryApi } from '../kube/testing/memory-api.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createMetrics } from '../lib/metrics.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLeadershipLoop, unaskedEnd } from './leadership.ts';

function aLoop(isElected: boolean, lead: (signal: AbortSignal) => Promise<void>) {
  const clock = createVirtualClock(0);
  const text = `operator:\n  leaderElection:\n    enabled: ${isElected}\n`;
  const loop = createLeadershipLoop({
    api: createMemoryApi().api,
    config: loadConfig({ text, fileName: 'test.yaml', env: {} }).config,
    identity: 'one',
    annotations: () => ({}),
    lead,
    metrics: createMetrics({ processMetrics: false }),
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
  });
  return { clock, loop };
}

describe.each([true, false])('with election: %s', (isElected) => {
  test('work that fails ends the loop, so that readiness and the process tell', async () => {
    const { clock, loop } = aLoop(isElected, () => Promise.reject(new Error('bug')));
    const ended = loop.run(new AbortController().signal);
    await clock.advance(30_000);
    expect(await ended).toBe('failed');
    expect(loop.isAlive()).toBe(false);
    expect(loop.current().leader).toBe(false);
  });

  test('work that ends as asked is no failure', async () => {
    const stop = new AbortController();
    const { clock, loop } = aLoop(
      isElected,
      (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const ended = loop.run(stop.signal);
    await clock.advance(1_000);
    expect(loop.current().leader).toBe(true);
    stop.abort(new Error('SIGTERM'));
    await clock.advance(1_000);
    expect(await ended).toBe('stopped');
  });
});

test('each end nobody asked for has a code of its own', () => {
  expect(unaskedEnd('lost').code).toBe('LEASE_LOST');
  expect(unaskedEnd('failed').code).toBe('LEADER_FAILED');
});
