import { expect, test } from 'vitest';
import type { DiscoveredResource, KubeApi } from '../api/kube-api.ts';
import { startVirtualCluster } from '../cluster/testing/virtual-cluster.ts';
import { createSilentLogger } from '../lib/log.ts';
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
  const probe = createResizeSupportProbe({ api, clock, log: createSilentLogger(), onChange: () => changes++ });
  const stop = new AbortController();
  const running = probe.run(stop.signal);
  await clock.advance(0);
  return {
    clock,
    probe,
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
  const { probe, clock, changes, end } = await setUp({ ...world.cluster.api, discover: async () => answer() });
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
  await end();
});
