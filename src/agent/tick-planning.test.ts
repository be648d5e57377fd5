/** What an agent carries from plan to plan: what got through, as long as it holds, of pods that are there. */
import { describe, expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { type PodAllocation, podAllocations } from '../api/pod-allocation.ts';
import { resources } from '../api/resources.ts';
import { kubeError } from '../kube/testing/scripted-api.ts';
import { type Stage, specOf, stage } from './testing/agent-stage.ts';

const HOUR = 3_600_000;
const inShop = { namespace: 'shop' };

/** One that needs more than it has, and one with room to pay for it. */
async function busyAndCalm(): Promise<Stage> {
  const world = await stage();
  await world.addPod({ name: 'busy', request: 100 });
  await world.addPod({ name: 'calm', request: 500 });
  return world;
}
const loads = { busy: 400, calm: 50 };

describe('no plan', () => {
  test('before the ConfigMap was read: it could say that nothing is to be written', async () => {
    const world = await busyAndCalm();
    world.server.faults.add({ resources: ['configmaps'], effect: { kind: 'outage' } });
    const { agent } = world.start();
    await world.pass(20, loads);
    expect(agent.unready()).toBe('the ConfigMap mbcas-agent-config has not been read yet');
    expect(await world.allocations()).toEqual([]);
  });

  test('is over within seconds of an outage in which the agent began: its pods would lose their share', async () => {
    const world = await busyAndCalm();
    const outage = world.server.faults.add({ effect: { kind: 'outage' } });
    const { agent } = world.start();
    await world.pass(100, loads);
    expect(agent.unready()).toBeDefined();
    outage.remove();
    await world.pass(15, loads);
    expect(agent.unready()).toBeUndefined();
  });

  test('is told once with why, however long that lasts, and again when it comes back', async () => {
    const world = await busyAndCalm();
    world.start();
    await world.pass(4, loads);
    const told = (): number =>
      world.logged.filter((line) => line === 'No plan for now: pods cannot be followed at the moment').length;
    for (const outages of [1, 2]) {
      const outage = world.server.faults.add({ resources: ['pods'], effect: { kind: 'outage' } });
      await world.pass(20, loads);
      expect(told()).toBe(outages);
      outage.remove();
      await world.pass(40, loads);
    }
  });
});

describe('what is remembered', () => {
  test('of the plans before makes a hog known: it takes all it gets for a while before it has a ceiling', async () => {
    const world = await stage({ allocatable: 1000 });
    await world.addPod({ name: 'hog', request: 300, annotations: { 'mbcas.io/weight': '0.5' } });
    await world.addPod({ name: 'web', request: 300 });
    const { metrics } = world.start();
    await world.pass(6, { hog: 700, web: 280 });
    expect((await specOf(world, 'hog'))?.limitPolicy).toBe('Keep');
    await world.pass(30, { hog: 700, web: 280 });
    const { limitPolicy, desiredCPULimit = '' } = (await specOf(world, 'hog')) ?? {};
    expect(limitPolicy).toBe('Apply');
    expect(Number.parseInt(desiredCPULimit, 10)).toBeLessThan(700);
    expect(metrics.render()).toMatch(/^mbcas_nash_mode_total\{mode="congested"\} [1-9]/m);
  });

  test('is what got through: a raise that was refused is wanted again by the next plan, with no pause before it', async () => {
    const world = await busyAndCalm();
    const api = world.server.client();
    let refusedAt: number | undefined;
    const refusing: KubeApi = {
      ...api,
      async patch(type, name, patch, options) {
        const spec = type.plural === podAllocations.plural ? (patch.body as PodAllocation).spec : undefined;
        const isRaise = spec?.podName === 'busy' && spec.desiredCPURequest !== '100m';
        if (refusedAt === undefined && isRaise) {
          refusedAt = world.clock.now();
          throw kubeError(409, 'Conflict', 'the object has been modified');
        }
        return await api.patch(type, name, patch, options);
      },
    };
    world.start({ api: refusing });
    for (let second = 0; second < 20 && refusedAt === undefined; second++) await world.pass(1, loads);
    expect(refusedAt).toBeDefined();
    // A tick; a raise that was made would have to wait for five seconds.
    await world.pass(2, loads);
    expect(Number.parseInt((await specOf(world, 'busy'))?.desiredCPURequest ?? '', 10)).toBeGreaterThan(100);
  });

  test('ends where the clock is set back: what a pod got back for ten minutes is not kept for an hour more', async () => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 300 });
    const { metrics } = world.start();
    const want = (): number =>
      Number(/^mbcas_want_milli\{namespace="shop",pod="web"\} (\S+)$/m.exec(metrics.render())?.[1]);
    const api = world.server.client();
    const setReady = async (status: 'True' | 'False'): Promise<void> => {
      const { metadata } = await api.get(resources.pods, 'web', inShop);
      const lastTransitionTime = new Date(world.clock.now()).toISOString();
      const body = {
        status: {
          observedGeneration: metadata?.generation,
          conditions: [{ type: 'Ready', status, lastTransitionTime }],
        },
      };
      await api.patch(resources.pods, 'web', { type: 'merge', body }, { ...inShop, subresource: 'status' });
    };
    await world.pass(10, { web: 50 });
    const smaller = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '100m' } } }] } };
    await api.patch(resources.pods, 'web', { type: 'strategic', body: smaller }, { ...inShop, subresource: 'resize' });
    await setReady('False');
    await world.pass(4, { web: 50 });
    await setReady('True');
    await world.pass(120, { web: 50 });
    // It did not bear 100m, so it is to have what it had before; by what it uses it needs half of that.
    expect(want()).toBe(300);
    world.shiftClock(-HOUR);
    await world.pass(600, { web: 50 });
    expect(want()).toBeLessThan(150);
  });

  test('of a pod that is gone is nothing: no series tells of its changes any more', async () => {
    const world = await busyAndCalm();
    const { metrics } = world.start();
    await world.pass(12, loads);
    expect(metrics.render()).toContain('mbcas_allocation_changes_total{namespace="shop",pod="busy"');
    const busy = world.pods.get('busy');
    world.pods.delete('busy');
    if (busy !== undefined) await world.removePod(busy);
    await world.pass(4, { calm: 50 });
    expect(metrics.render()).not.toContain('pod="busy"');
    expect(metrics.render()).toContain('pod="calm"');
  });
});

test('allocation bug 18: a limit whose quota something has reset is asked for a step higher, and counted', async () => {
  const world = await stage();
  const annotations = { 'mbcas.io/min-cpu': '300m', 'mbcas.io/max-cpu': '300m' };
  const { fake } = await world.addPod({ name: 'web', request: 270, limit: 300, annotations });
  const { metrics } = world.start({ env: { STOWAGE_ALLOCATION_APPLY: 'limits' } });
  world.pods.delete('web');
  let usageMicros = 0;
  const pass = async (seconds: number, quota: { readonly quotaMicros?: number }): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      usageMicros += 150_000;
      for (const group of [undefined, 'main']) world.tree.set(fake, group, { usageMicros, ...quota });
      await world.pass(1);
    }
  };
  await pass(20, { quotaMicros: 30_000 });
  expect((await specOf(world, 'web'))?.desiredCPULimit).toBe('300m');
  await pass(20, {});
  expect(await specOf(world, 'web')).toMatchObject({ desiredCPULimit: '310m', limitPolicy: 'Apply' });
  expect(metrics.render()).toContain('mbcas_agent_unenforced_limits 1');
});
