/** What pods that come and go leave behind in their agent: nothing. Counted, not measured. */
import { readdirSync, readlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stage } from './testing/agent-stage.ts';

const PODS = 6;

/** Files below a folder that this process holds open, those that were deleted meanwhile among them. */
function openBelow(folder: string): number {
  const paths = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      // The one the folder was read by.
      return '';
    }
  });
  return paths.filter((path) => path.startsWith(`${folder}/`)).length;
}

test('hundreds of pods that came, restarted and went leave no series, no open file and no timer', async () => {
  const world = await stage();
  await world.addPod({ name: 'stays', request: 100 });
  const { agent, metrics } = world.start();
  const wave = async (number: number): Promise<void> => {
    const names = Array.from({ length: PODS }, (_, index) => `w${number}-${index}`);
    const loads = { stays: 50, ...Object.fromEntries(names.map((name) => [name, 900])) };
    for (const name of names) await world.addPod({ name, request: 100, limit: 200 });
    await world.pass(4, loads);
    for (const name of names.slice(0, PODS / 2)) {
      const pod = world.pods.get(name);
      if (pod !== undefined) world.pods.set(name, await world.restart(pod, 'main'));
    }
    await world.pass(2, loads);
    for (const name of names) {
      const pod = world.pods.get(name);
      world.pods.delete(name);
      if (pod !== undefined) await world.removePod(pod);
    }
    await world.pass(4, { stays: 50 });
  };
  const counts = () => ({
    series: metrics.render().split('\n').length,
    files: openBelow(world.tree.mount),
    timers: world.clock.pendingTimers(),
    problems: agent.health().problems,
    pods: agent.health().podsTracked,
  });
  for (let number = 0; number < 5; number++) await wave(number);
  const young = counts();
  for (let number = 5; number < 50; number++) await wave(number);
  expect(counts()).toEqual(young);
  expect(young).toMatchObject({ problems: [], pods: 1 });
  // Of the pod that stays, its container, and the tree.
  expect(young.files).toBeLessThan(10);
});
