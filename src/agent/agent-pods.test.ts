/** Pods that come, go, restart or cannot be measured, as an agent takes them. */
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { specOf, stage } from './testing/agent-stage.ts';

describe('pods', () => {
  test('come and go: each gets its allocation, and series of those that left are dropped', async () => {
    const world = await stage();
    const first = await world.addPod({ name: 'first', request: 100 });
    const { metrics } = world.start();
    await world.pass(4, { first: 50 });
    await world.addPod({ name: 'second', request: 100 });
    await world.pass(4, { first: 50, second: 50 });
    expect((await world.allocations()).map(({ spec }) => spec?.podName ?? '').toSorted()).toEqual(['first', 'second']);
    world.pods.delete('first');
    await world.removePod(first);
    await world.pass(4, { second: 50 });
    expect(metrics.render()).not.toContain('pod="first"');
    expect(metrics.render()).toContain('pod="second"');
  });

  test('mbcas bug 10: a pod of the same name is another pod, with an allocation of its own', async () => {
    const world = await stage();
    const old = await world.addPod({ name: 'db-0', request: 100 });
    world.start();
    await world.pass(4, { 'db-0': 50 });
    world.pods.delete('db-0');
    await world.removePod(old);
    const young = await world.addPod({ name: 'db-0', request: 100 });
    await world.pass(6, { 'db-0': 50 });
    const names = (await world.allocations()).map(({ metadata }) => metadata?.name);
    expect(names).toContain(young.fake.uid);
    expect(young.fake.uid).not.toBe(old.fake.uid);
  });

  test('a container that restarts under a new id is measured on', async () => {
    const world = await stage();
    const pod = await world.addPod({ name: 'web', request: 300 });
    const { agent, metrics } = world.start();
    await world.pass(4, { web: 100 });
    world.pods.set('web', await world.restart(pod, 'main'));
    await world.pass(6, { web: 100 });
    expect(agent.health().problems).toEqual([]);
    expect(metrics.render()).toContain('mbcas_agent_unread_groups 0');
  });

  test('mbcas bug 12: a pod that cannot be measured makes no bid: it keeps what it has, and bids when it can be measured', async () => {
    const world = await stage();
    const pod = await world.addPod({ name: 'web', request: 300 });
    await world.addPod({ name: 'hungry', request: 300 });
    world.start();
    const requestOf = async (name: string): Promise<number> =>
      Number.parseInt((await specOf(world, name))?.desiredCPURequest ?? '', 10);
    // By these figures web needs a third of what it has, and nobody needs the rest.
    await world.pass(60, { web: 50, hungry: 100 });
    expect([await requestOf('web'), await requestOf('hungry')]).toEqual([300, 300]);
    world.pods.delete('web');
    for (let second = 0; second < 60; second++) {
      writeFileSync(world.tree.file(pod.fake, undefined, 'cpu.stat'), 'garbage\n');
      await world.pass(1, { hungry: 295 });
    }
    // An old bid of little would have paid for the other.
    expect([await requestOf('web'), await requestOf('hungry')]).toEqual([300, 300]);
    world.pods.set('web', pod);
    await world.addPod({ name: 'young', request: 200 });
    // Nobody carries anything out here, so that wishes are taken back after some time: what counts is that they were made.
    const wishes: number[] = [];
    for (let second = 0; second < 10; second++) {
      await world.pass(1, { web: 50, hungry: 295, young: 150 });
      wishes.push(await requestOf('web'));
    }
    expect(Math.min(...wishes)).toBeLessThan(200);
    expect(await requestOf('hungry')).toBeGreaterThan(300);
    expect((await specOf(world, 'young'))?.decision?.cpuUsage).toBe('150m');
  });

  test('mbcas bug 3: a pod that does nothing at all is no number out of place', async () => {
    const world = await stage();
    await world.addPod({ name: 'idle', request: 100 });
    const { metrics } = world.start();
    await world.pass(20);
    const spec = await specOf(world, 'idle');
    expect(spec?.decision?.cpuUsage).toBe('0m');
    expect(metrics.render()).not.toContain('NaN');
  });

  test('allocation bug 3: limits that are shares are asked for in tens, as systemd rounds others up (k/k#129357)', async () => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 100, limit: 200 });
    world.start({ env: { STOWAGE_ALLOCATION_APPLY: 'limits' } });
    const limits: number[] = [];
    for (let second = 0; second < 8; second++) {
      await world.pass(1, { web: 187 });
      limits.push(Number.parseInt((await specOf(world, 'web'))?.desiredCPULimit ?? '0', 10));
    }
    // It wants 335m.
    expect(Math.max(...limits)).toBe(330);
    expect(limits.filter((limit) => limit % 10 !== 0)).toEqual([]);
  });

  test('without the CPU controller on the node usage still counts', async () => {
    const world = await stage({ layout: { hasCpuController: false } });
    await world.addPod({ name: 'web', request: 100 });
    world.start();
    await world.pass(12, { web: 400 });
    expect((await specOf(world, 'web'))?.decision).toMatchObject({ cpuUsage: '400m' });
  });
});
