/** From a PodAllocation to a resized pod and back, on the embedded cluster; what agents would write is written by hand. */
import { describe, expect, test } from 'vitest';
import { sizingKeys } from '../api/annotations-sizing.ts';
import { podAllocations } from '../api/pod-allocation.ts';
import { apiVersionOf, resources } from '../api/resources.ts';
import {
  type AllocatedWorld,
  type AllocatedWorldOptions,
  createPods,
  type LoadedPodFields,
  present,
  startAllocatedWorld,
  watchCharges,
} from './testing/allocated-world.ts';
import { wish } from './testing/wish.ts';

const inShop = { namespace: 'shop' };

async function worldOf(pods: readonly LoadedPodFields[], options: AllocatedWorldOptions = {}): Promise<AllocatedWorld> {
  const world = await startAllocatedWorld({ startsAgents: false, ...options });
  await createPods(world.api, pods);
  await world.until('the pods run', async () => {
    for (const { name } of pods) {
      const { status } = await world.pod(name);
      if (status?.containerStatuses?.every(({ ready }) => ready) !== true) return false;
    }
    return true;
  });
  return world;
}

const statusOf = async (world: AllocatedWorld, name: string) => (await world.allocation(name))?.status ?? {};
const untilPhase = (world: AllocatedWorld, name: string, phase: string, reason?: string): Promise<void> =>
  world.until(
    `${name} is ${phase} ${reason ?? ''}`,
    async () => {
      const status = await statusOf(world, name);
      return status.phase === phase && (reason === undefined || status.reason === reason);
    },
    60_000,
  );

describe('a wish', () => {
  test('is carried out in place; the status says Applied once it is in force, and not before', async () => {
    const world = await worldOf([{ name: 'web' }], { resizeMillis: 3000 });
    const before = await world.pod('web');
    await wish(world, 'web', { request: 600, limit: 900 });
    await world.until('the spec has it', async () => (await world.request('web')) === 600, 5000);
    await world.clock.advance(1000);
    expect(await statusOf(world, 'web')).toMatchObject({
      phase: 'Pending',
      reason: 'Applying',
      appliedCPURequest: '200m',
    });
    await untilPhase(world, 'web', 'Applied');
    const { metadata, spec, status } = await world.pod('web');
    expect(spec?.containers[0]?.resources).toEqual({
      requests: { cpu: '600m', memory: '64Mi' },
      limits: { cpu: '900m' },
    });
    expect(status?.containerStatuses?.[0]?.restartCount).toBe(0);
    expect(metadata?.labels).toEqual(before.metadata?.labels);
    expect(metadata?.annotations?.[sizingKeys.allocationOriginals]).toBe('{"app":{"requests":{"cpu":"200m"}}}');
    const allocation = present(await world.allocation('web'), 'the allocation');
    expect(allocation.status).toMatchObject({
      appliedCPURequest: '600m',
      appliedCPULimit: '900m',
      reason: 'AlreadyApplied',
      observedGeneration: allocation.metadata?.generation,
      lastAppliedTime: expect.stringMatching(/Z$/),
      conditions: [
        { type: 'Managed', status: 'True' },
        { type: 'Applied', status: 'True' },
        { type: 'Constrained', status: 'False' },
      ],
    });
    expect((await world.events('CPUApplied')).map(({ note }) => note)).toEqual([
      expect.stringContaining('200m -> 600m'),
    ]);
    // Then all is quiet.
    const writes = world.operatorWrites.length;
    await world.clock.advance(45_000);
    expect(world.operatorWrites.slice(writes).filter((write) => !/leases|events/.test(write))).toEqual([]);
  });

  test('mbcas bug 14: a resize leaves the labels of the pod, and of its template, alone', async () => {
    const world = await worldOf([{ name: 'web', labels: { tier: 'front' } }]);
    const { metadata: before } = await world.pod('web');
    await wish(world, 'web', { request: 600 });
    await untilPhase(world, 'web', 'Applied');
    expect(await world.request('web')).toBe(600);
    expect((await world.pod('web')).metadata?.labels).toEqual(before?.labels);
    // Resizes and the note of what it had before: no other write to a pod.
    const writes = new Set(world.operatorWrites.filter((write) => /pods?$/.test(write)));
    expect([...writes]).toEqual(['patch pods']);
  });

  test('of a pod that is gone, or of its predecessor by the same name, fails and changes nothing', async () => {
    const world = await worldOf([{ name: 'web' }]);
    await wish(world, 'web', { request: 600, podUID: '00000000-0000-4000-8000-000000000001' });
    await untilPhase(world, 'web', 'Failed', 'PodNotFound');
    expect(await world.request('web')).toBe(200);
  });

  test('that is no amount fails as InvalidDesiredCPU', async () => {
    const world = await worldOf([{ name: 'web' }]);
    const uid = (await world.pod('web')).metadata?.uid ?? '';
    const most = '99999999999m';
    const spec = { namespace: 'shop', podName: 'web', podUID: uid, desiredCPURequest: most, desiredCPULimit: most };
    const identity = { apiVersion: apiVersionOf(podAllocations), kind: podAllocations.kind };
    await world.api.create(podAllocations, { ...identity, metadata: { name: 'odd', ...inShop }, spec });
    await untilPhase(world, 'web', 'Failed', 'InvalidDesiredCPU');
    expect(await world.request('web')).toBe(200);
  });

  test('mbcas bug 7, allocation bug 13: BestEffort is never resized, and is not called Applied', async () => {
    const spec = { containers: [{ name: 'app', image: 'app:1' }] };
    const world = await worldOf([{ name: 'web', spec }]);
    await wish(world, 'web', { request: 600 });
    await untilPhase(world, 'web', 'Pending', 'BestEffort');
    expect((await statusOf(world, 'web')).conditions?.[0]).toMatchObject({ type: 'Managed', status: 'False' });
    expect(world.resizes()).toBe(0);
    expect((await world.events('CPUSkipped')).length).toBe(1);
  });

  test.each<[string, string, Partial<LoadedPodFields>]>([
    ['opted out', 'Excluded', { labels: { 'mbcas.io/managed': 'false' } }],
    ['not opted in', 'NotOptedIn', { labels: { 'mbcas.io/managed': '' } }],
    [
      'Guaranteed',
      'GuaranteedQoS',
      { spec: containers({ cpu: '200m', memory: '64Mi' }, { cpu: '200m', memory: '64Mi' }) },
    ],
    [
      'one that restarts for CPU',
      'RestartPolicy',
      {
        spec: containers({ cpu: '200m', memory: '64Mi' }, undefined, {
          resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
        }),
      },
    ],
  ])('%s pod keeps what it has and is told why', async (_, reason, fields) => {
    const world = await worldOf([{ name: 'web', ...fields }]);
    await wish(world, 'web', { request: 600 });
    await untilPhase(world, 'web', 'Pending', reason);
    expect((await statusOf(world, 'web')).conditions?.[0]).toMatchObject({ type: 'Managed', status: 'False', reason });
    expect(world.resizes()).toBe(0);
  });

  test('mbcas bug 8: a Guaranteed pod that may be managed moves request and limit together', async () => {
    const spec = containers({ cpu: '200m', memory: '64Mi' }, { cpu: '200m', memory: '64Mi' });
    const annotations = { 'mbcas.io/skip-guaranteed': 'false' };
    const world = await worldOf([{ name: 'web', spec, annotations }]);
    await wish(world, 'web', { request: 300, limit: 300 });
    await untilPhase(world, 'web', 'Applied');
    expect((await world.pod('web')).spec?.containers[0]?.resources).toEqual({
      requests: { cpu: '300m', memory: '64Mi' },
      limits: { cpu: '300m', memory: '64Mi' },
    });
  });

  test('mbcas bug 6: the containers of a pod share by what they use, and the sum is verified', async () => {
    const app = (name: string) => ({ name, image: 'app:1', resources: { requests: { cpu: '100m', memory: '64Mi' } } });
    const world = await worldOf([{ name: 'web', spec: { containers: [app('app'), app('log')] } }]);
    await wish(world, 'web', { request: 500, usage: { app: 300, log: 100 } });
    await untilPhase(world, 'web', 'Applied');
    const { spec } = await world.pod('web');
    const requests =
      spec?.containers.map(({ resources: own }) => Number.parseInt(own?.requests?.['cpu'] ?? '', 10)) ?? [];
    expect(requests[0]).toBeGreaterThan(requests[1] ?? 0);
    expect((requests[0] ?? 0) + (requests[1] ?? 0)).toBe(500);
    expect(world.resizes()).toBe(1);
  });
});

describe('what is in flight', () => {
  test('allocation bug 2, 11: raises wait until decreases are in force; the sum stays within the node at every event', async () => {
    const world = await worldOf(
      [
        { name: 'a', request: '900m' },
        { name: 'b', request: '900m' },
      ],
      { resizeMillis: 4000 },
    );
    const charges = watchCharges(world);
    await wish(world, 'b', { request: 1500 });
    await wish(world, 'a', { request: 300 });
    await world.until('a is asked to give', async () => (await world.request('a')) === 300, 5000);
    await world.clock.advance(1500);
    expect(await statusOf(world, 'b')).toMatchObject({ phase: 'Pending', reason: 'CapacityInFlight' });
    expect(await world.request('b')).toBe(900);
    await untilPhase(world, 'b', 'Applied');
    expect(await world.request('b')).toBe(1500);
    expect(charges.most()).toBeLessThanOrEqual(2000);
  });

  test('allocation bug 8: while a resize is under way no second one is sent', async () => {
    const world = await worldOf([{ name: 'web' }], { resizeMillis: 5000 });
    await wish(world, 'web', { request: 300 });
    await world.until('sent', () => world.resizes() === 1, 3000);
    await wish(world, 'web', { request: 400, urgent: true });
    await world.clock.advance(3000);
    expect(world.resizes()).toBe(1);
    expect(await world.request('web')).toBe(300);
    await untilPhase(world, 'web', 'Applied');
    expect(await world.request('web')).toBe(400);
    expect(world.resizes()).toBe(2);
  });

  test('allocation bug 9: A to B to A within two seconds is spaced', async () => {
    const world = await worldOf([{ name: 'web' }]);
    await wish(world, 'web', { request: 400 });
    await world.until('sent', () => world.resizes() === 1, 3000);
    await wish(world, 'web', { request: 200 });
    await untilPhase(world, 'web', 'Pending', 'Spacing');
    const from = world.clock.now();
    await world.until('sent again', () => world.resizes() === 2, 15_000);
    expect(world.clock.now() - from).toBeGreaterThan(5000);
  });

  test('allocation bug 11: a resize that stays Deferred is taken back after 15 s, and not tried again at once', async () => {
    const world = await worldThatDefers('4', '2');
    await wish(world, 'b', { request: 1500 });
    await world.until('asked', async () => (await world.request('b')) === 1500, 5000);
    const askedAt = world.clock.now();
    await world.until('taken back', async () => (await world.request('b')) === 900, 30_000);
    const took = world.clock.now() - askedAt;
    expect(took).toBeGreaterThanOrEqual(14_000);
    expect(took).toBeLessThan(20_000);
    await world.until('told', async () => (await world.events('CPUWithdrawn')).length === 1, 5000);
    const sent = world.resizes();
    await world.clock.advance(8000);
    expect(world.resizes()).toBe(sent);
  });

  test('allocation bug 10, 15: an infeasible size is taken back at once and remembered: a static CPU manager refuses any', async () => {
    const amounts = { cpu: '250m', memory: '64Mi' };
    const annotations = { 'mbcas.io/skip-guaranteed': 'false' };
    const pods = [{ name: 'web', spec: containers(amounts, amounts), annotations }];
    const world = await worldOf(pods, { nodes: [{ cpuManagerPolicy: 'static' }] });
    await wish(world, 'web', { request: 300, limit: 300 });
    await world.until('withdrawn', async () => (await world.events('CPUWithdrawn')).length === 1, 10_000);
    await world.until('as before', async () => (await world.request('web')) === 250, 5000);
    const sent = world.resizes();
    expect(sent).toBe(2);
    await world.clock.advance(20_000);
    await wish(world, 'web', { request: 400, limit: 400, urgent: true });
    await untilPhase(world, 'web', 'Pending', 'Infeasible');
    await wish(world, 'web', { request: 200, limit: 200, urgent: true });
    await untilPhase(world, 'web', 'Pending', 'InfeasibleBefore');
    expect(world.resizes()).toBe(sent);
  });

  test('allocation bug 7: a restart during a resize opens the breaker of that pod, for good and for the next leader', async () => {
    const world = await worldOf([{ name: 'web' }], { resizeMillis: 4000 });
    await wish(world, 'web', { request: 300 });
    await world.until('sent', () => world.resizes() === 1, 3000);
    world.cluster.kubelet.endContainer('shop/web', 'app', 1);
    await untilPhase(world, 'web', 'Pending', 'RestartedOnResize');
    expect((await world.events('CPUBreaker')).length).toBe(1);
    await wish(world, 'web', { request: 500 });
    await world.clock.advance(20_000);
    expect(world.resizes()).toBe(1);
    expect((await statusOf(world, 'web')).guidance).toMatchObject({ restartedOnResize: true });
    await world.operator().stop();
    await world.startOperator('test_2');
    await world.clock.advance(60_000);
    expect(world.resizes()).toBe(1);
  });

  test('allocation bug 17: somebody else wrote the CPU: it is theirs, with an event', async () => {
    const world = await worldOf([{ name: 'web' }]);
    await wish(world, 'web', { request: 300 });
    await untilPhase(world, 'web', 'Applied');
    const body = { spec: { containers: [{ name: 'app', resources: { requests: { cpu: '450m' } } }] } };
    const options = { ...inShop, subresource: 'resize', fieldManager: 'kubectl-patch' };
    await world.api.patch(resources.pods, 'web', { type: 'strategic', body }, options);
    await untilPhase(world, 'web', 'Pending', 'ForeignWriter');
    expect((await world.events('CPUYielded')).map(({ note }) => note)).toEqual([
      expect.stringContaining('kubectl-patch'),
    ]);
    await world.clock.advance(30_000);
    expect(await world.request('web')).toBe(450);
    expect((await statusOf(world, 'web')).guidance).toMatchObject({ hasForeignWriter: true });
  });

  test('allocation bug 4: what differs by less than the kernel rounds is the same', async () => {
    const world = await worldOf([{ name: 'web', limit: '417m' }]);
    await wish(world, 'web', { request: 200, limit: 420 });
    await untilPhase(world, 'web', 'Applied');
    await world.clock.advance(30_000);
    expect(world.resizes()).toBeLessThanOrEqual(1);
  });

  test('a leader that takes over sees to what its predecessor left pending', async () => {
    const world = await worldThatDefers('4', '2');
    await wish(world, 'b', { request: 1500 });
    await world.until('asked', async () => (await world.request('b')) === 1500, 5000);
    await world.operator().stop();
    await world.startOperator('test_2');
    await world.until('taken back', async () => (await world.request('b')) === 900, 60_000);
  });
});

describe('modes', () => {
  test.each([
    ['observe', { allocation: '  apply: observe' }, 'Observe'],
    ['read-only', { config: 'operator: { readOnlyMode: true }' }, 'ReadOnly'],
  ])('%s writes no pod', async (_, options, reason) => {
    const world = await worldOf([{ name: 'web' }], options);
    await wish(world, 'web', { request: 600 });
    await untilPhase(world, 'web', 'Pending', reason);
    expect(world.operatorWrites.filter((write) => write.includes('pods'))).toEqual([]);
    expect(await world.request('web')).toBe(200);
  });

  test('limits: as MBCAS, the limit is the share and the request follows', async () => {
    const world = await worldOf([{ name: 'web', limit: '500m' }], { allocation: '  apply: limits' });
    await wish(world, 'web', { request: 540, limit: 600 });
    await untilPhase(world, 'web', 'Applied');
    expect((await world.pod('web')).spec?.containers[0]?.resources).toMatchObject({
      requests: { cpu: '540m' },
      limits: { cpu: '600m' },
    });
  });
});

/** Pods a and b of 900m; the node shrinks at the moment the first resize leaves, so its kubelet says no. */
async function worldThatDefers(before: string, after: string): Promise<AllocatedWorld> {
  let shrink: (() => void) | undefined;
  const onWrite: AllocatedWorldOptions['onWrite'] = ({ subresource }) => {
    if (subresource === 'resize') shrink?.();
    if (subresource === 'resize') shrink = undefined;
  };
  const pods = [
    { name: 'a', request: '900m' },
    { name: 'b', request: '900m' },
  ];
  const world = await worldOf(pods, { onWrite });
  await setAllocatable(world, before);
  await world.clock.advance(1000);
  shrink = () => void setAllocatable(world, after);
  return world;
}

function containers(requests: object, limits?: object, more: object = {}) {
  return {
    containers: [
      {
        name: 'app',
        image: 'app:1',
        resources: { requests: { ...requests }, ...(limits && { limits: { ...limits } }) },
        ...more,
      },
    ],
  };
}

async function setAllocatable(world: AllocatedWorld, cpu: string): Promise<void> {
  const body = { status: { allocatable: { cpu } } };
  await world.api.patch(resources.nodes, 'node-1', { type: 'merge', body }, { subresource: 'status' });
}
