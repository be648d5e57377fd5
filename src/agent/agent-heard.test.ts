/** How long nothing is heard of an agent that has trouble with its server: pods of one that is silent lose their share. */
import { expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { podAllocations } from '../api/pod-allocation.ts';
import { kubeError } from '../kube/testing/scripted-api.ts';
import { stage } from './testing/agent-stage.ts';

const STALE = 120_000;

test('a server that takes no writes for more than a minute costs no pod its share, though it answers all else', async () => {
  const world = await stage();
  await world.addPod({ name: 'web', request: 100 });
  const client = world.server.client();
  const heard: number[] = [];
  let isDown = false;
  const api: KubeApi = {
    ...client,
    async patch(type, name, body, options) {
      if (type.plural !== podAllocations.plural) return await client.patch(type, name, body, options);
      if (isDown) throw kubeError(503, 'ServiceUnavailable', 'etcdserver: no leader');
      heard.push(world.clock.now());
      return await client.patch(type, name, body, options);
    },
  };
  world.start({ api });
  await world.pass(60, { web: 50 });
  const known = heard.length;
  while (heard.length === known) await world.pass(1, { web: 50 });
  // Just before the next sign of life.
  await world.pass(28, { web: 50 });
  isDown = true;
  await world.pass(70, { web: 50 });
  isDown = false;
  await world.pass(30, { web: 50 });
  const gaps = heard.map((at, index) => at - (heard[index - 1] ?? at));
  expect(Math.max(...gaps)).toBeGreaterThan(90_000);
  expect(Math.max(...gaps)).toBeLessThan(STALE);
});
