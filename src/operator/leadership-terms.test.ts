/** What the configuration accepts for the lease, leader election accepts, too. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { configOf, problemsOf } from '../config/testing/load-text.ts';
import { createMemoryApi } from '../kube/testing/memory-api.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createNoMetrics } from '../lib/testing/no-metrics.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createLeadershipLoop } from './leadership.ts';

const [clock, random, log] = [createVirtualClock(0), createSeededRandom(1), createSilentLogger()];
const { api } = createMemoryApi();

function build(text: string): void {
  const config = configOf(text);
  const lead = (): Promise<void> => Promise.resolve();
  createLeadershipLoop({
    api,
    config,
    identity: 'a',
    annotations: () => ({}),
    lead,
    metrics: createNoMetrics(),
    clock,
    random,
    log,
  });
}

test('for any terms of the lease: either the configuration is refused, or leader election begins', () => {
  const millis = fc.integer({ min: 1, max: 60 }).chain((tenths) => fc.constantFrom(tenths * 100, tenths * 1000));
  fc.assert(
    fc.property(millis, millis, millis, (lease, deadline, retry) => {
      const section = `{ leaseDuration: ${lease}ms, renewDeadline: ${deadline}ms, retryPeriod: ${retry}ms }`;
      const text = `operator: { leaderElection: ${section} }`;
      if (problemsOf(text).length === 0) expect(() => build(text)).not.toThrow();
    }),
    {
      numRuns: 200,
      examples: [
        [15_000, 10_000, 8_400],
        [15_000, 10_000, 8_300],
        [15_500, 10_000, 2_000],
      ],
    },
  );
});

test('what is accepted has all of it', () => {
  expect(() => build('operator: { leaderElection: { retryPeriod: 8300ms } }')).not.toThrow();
});
