import { expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import { shareLoad } from './shared-load.ts';
import { aFleet } from './testing/facts.ts';

function setUp(refuses = false) {
  const clock = createVirtualClock(0);
  const told: string[] = [];
  let facts: WorkloadFacts | undefined = aFleet({ replicas: 3, spotPercentage: 0 });
  const patch = async (_type: unknown, name: string, { body }: { body: object }) => {
    told.push(`${name} ${JSON.stringify(body).replace(/.*cpu":"|".*/g, '')}`);
    if (refuses) throw new Error('it is gone');
  };
  const end = shareLoad({
    api: { patch } as unknown as Pick<KubeApi, 'patch'>,
    clock,
    fleet: { workload: () => facts },
    workloads: [{ key: 'shop/web', millicores: 1000 }],
  });
  return {
    end,
    told: () => told.splice(0),
    /** With so many pods, of which the first few are not ready. */
    async with(replicas: number | undefined, notReady = 0) {
      facts = replicas === undefined ? undefined : aFleet({ replicas, spotPercentage: 0, notReady });
      await clock.advance(15_000);
    },
  };
}

test('each ready pod is told its share, and again when that changes', async () => {
  const scene = setUp();
  await scene.with(3);
  expect(scene.told()).toEqual(['p1 340m', 'p2 340m', 'p3 340m']);
  await scene.with(3);
  expect(scene.told()).toEqual([]);
  await scene.with(4, 2);
  expect(scene.told()).toEqual(['p3 500m', 'p4 500m']);
  await scene.with(4);
  expect(scene.told()).toEqual(['p1 250m', 'p2 250m', 'p3 250m', 'p4 250m']);
});

test('a workload that is not there, and pods that are gone, are nothing to stop for', async () => {
  const scene = setUp(true);
  await scene.with(undefined);
  await scene.with(1);
  await scene.with(2);
  expect(scene.told()).toEqual(['p1 1000m', 'p1 500m', 'p2 500m']);
  scene.end();
  await scene.with(1);
  expect(scene.told()).toEqual([]);
});
