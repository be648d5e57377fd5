import { expect, test } from 'vitest';
import type { DiscoveredResource, KubeApi } from '../api/kube-api.ts';
import { startVirtualCluster } from '../cluster/testing/virtual-cluster.ts';
import { createSilentLogger, type Logger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createResizeSupportProbe } from './resize-support.ts';

const pods = (...subresources: string[]): DiscoveredResource => ({
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
  subresources,
});

async function setUp(api: KubeApi) {
  const clock = createVirtualClock(0);
  let changes = 0;
  const warnings: string[] = [];
  const log: Logger = { ...createSilentLogger(), warn: (_, text) => warnings.push(text) };
  const probe = createResizeSupportProbe({ api, clock, log, onChange: () => changes++ });
  const stop = new AbortController();
  const running = probe.run(stop.signal);
  await clock.advance(0);
  return {
    clock,
    probe,
    warnings,
    changes: () => changes,
    async end() {
      stop.abort();
      await running;
    },
  };
}

test('the embedded API server serves pods/resize', async () => {
  await using world = await startVirtualCluster();
  const { probe, end } = await setUp(world.cluster.api);
  expect(probe.servesResize()).toBe(true);
  await end();
});

test('an upgrade is noticed, and an outage forgets nothing', async () => {
  await using world = await startVirtualCluster();
  let answer: () => readonly DiscoveredResource[] = () => {
    throw new Error('connection refused');
  };
  const { probe, clock, changes, warnings, end } = await setUp({
    ...world.cluster.api,
    discover: async () => answer(),
  });
  await clock.advance(15_000);
  expect(probe.servesResize()).toBeUndefined();
  answer = () => [pods('status', 'eviction')];
  await clock.advance(5_000);
  expect(probe.servesResize()).toBe(false);
  answer = () => [pods('status', 'resize')];
  await clock.advance(300_000);
  expect(probe.servesResize()).toBe(true);
  answer = () => {
    throw new Error('connection refused');
  };
  await clock.advance(300_000);
  answer = () => [];
  await clock.advance(300_000);
  expect(probe.servesResize()).toBe(true);
  expect(changes()).toBe(2);
  // The same trouble before and after an answer is told twice, and not once a try.
  expect(warnings).toEqual(Array(2).fill('Whether pods can be resized is not known'));
  await end();
});
