/** What can go wrong around an agent: nothing stale is written, nothing ends the process, pods are never touched. */
import { describe, expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { podAllocations } from '../api/pod-allocation.ts';
import { resources } from '../api/resources.ts';
import { kubeError } from '../kube/testing/scripted-api.ts';
import { patchesOf, specOf, stage } from './testing/agent-stage.ts';
import { AGENT_NAMESPACE, NODE } from './testing/agent-world.ts';

/** The API as it is, with a hand on its writes. */
function withPatch(api: KubeApi, patch: (call: number) => Promise<void>): { api: KubeApi; calls: () => number } {
  let calls = 0;
  const patched: KubeApi = {
    ...api,
    async patch(type, name, body, options) {
      if (type.plural === podAllocations.plural) await patch(++calls);
      return await api.patch(type, name, body, options);
    },
  };
  return { api: patched, calls: () => calls };
}

/** The API behind a line that can be cut: watches break, and nothing gets through until it is mended. */
function cuttable(api: KubeApi) {
  let broken = new AbortController();
  const through = (): void => broken.signal.throwIfAborted();
  const line: KubeApi = {
    ...api,
    async list(type, options) {
      through();
      return await api.list(type, options);
    },
    async patch(type, name, body, options) {
      through();
      return await api.patch(type, name, body, options);
    },
    async *watch(type, options = {}) {
      through();
      const signals = [broken.signal, ...(options.signal === undefined ? [] : [options.signal])];
      yield* api.watch(type, { ...options, signal: AbortSignal.any(signals) });
    },
  };
  const { listEach: _, ...plain } = line;
  return {
    api: plain,
    cut: () => broken.abort(new Error('connection refused')),
    mend: () => {
      broken = new AbortController();
    },
  };
}

describe('the API server', () => {
  test('refuses (403): told once, tried again with growing pauses, and taken up when it is allowed', async () => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 100 });
    let isAllowed = false;
    const missing =
      'podallocations.allocation.mbcas.io "p" is forbidden: User "agent" cannot create resource "podallocations" in API group "allocation.mbcas.io" in the namespace "shop"';
    const { api, calls } = withPatch(world.server.client(), async () => {
      if (!isAllowed) throw kubeError(403, 'Forbidden', missing);
    });
    world.start({ api });
    await world.pass(60, { web: 400 });
    expect(calls()).toBeLessThan(8);
    const told = world.logged.filter((line) => line.startsWith('PodAllocations cannot be written'));
    expect(told).toEqual([
      expect.stringMatching(
        /the account may not create podallocations\.allocation\.mbcas\.io in namespace shop; the ClusterRole of the agent/,
      ),
    ]);
    isAllowed = true;
    await world.pass(70, { web: 400 });
    expect((await specOf(world, 'web'))?.desiredCPURequest).toBeDefined();
    expect(world.logged).toContain('PodAllocations can be written again');
  });

  test('refuses the writes to one namespace: pods elsewhere are looked after, and the agent is heard', async () => {
    const world = await stage();
    await world.server.client().create(resources.namespaces, { metadata: { name: 'locked' } });
    await world.addPod({ name: 'known', namespace: 'locked', request: 300 });
    await world.addPod({ name: 'web', request: 100 });
    const client = world.server.client();
    let isRefused = false;
    const signs: number[] = [];
    const api: KubeApi = {
      ...client,
      async patch(type, name, body, options) {
        const isOurs = type.plural === podAllocations.plural;
        if (isOurs && isRefused && options?.namespace === 'locked')
          throw kubeError(400, 'BadRequest', 'admission webhook "labels.example.com" denied the request: no owner');
        if (isOurs && isRefused) signs.push(world.clock.now());
        return await client.patch(type, name, body, options);
      },
    };
    world.start({ api });
    await world.pass(20, { known: 50, web: 50 });
    isRefused = true;
    for (const name of ['new-1', 'new-2']) await world.addPod({ name, namespace: 'locked', request: 100 });
    const before = (await specOf(world, 'web'))?.desiredCPURequest;
    // The figures of what is known are out of date from now on.
    await world.pass(300, { known: 250, web: 400 });
    expect(await specOf(world, 'new-1')).toBeUndefined();
    expect((await specOf(world, 'web'))?.desiredCPURequest).not.toBe(before);
    const gaps = signs.map((at, index) => at - (signs[index - 1] ?? at));
    expect(Math.max(...gaps, world.clock.now() - (signs.at(-1) ?? 0))).toBeLessThan(45_000);
  });

  test('does not know the kind: told what to install, and it starts once that is there', async () => {
    const world = await stage({ hasDefinition: false });
    await world.addPod({ name: 'web', request: 100 });
    const { agent } = world.start();
    await world.pass(20, { web: 400 });
    expect(agent.unready()).toBe('PodAllocations cannot be followed at the moment');
    expect(patchesOf(world)).toBe(0);
  });

  test('is slow: one batch at a time, given up after a while, and nothing of what it was about is sent later', async () => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 100 });
    const waiting: AbortSignal[] = [];
    const api = world.server.client();
    const slow: KubeApi = {
      ...api,
      patch: (type, name, body, options) => {
        if (type.plural !== podAllocations.plural) return api.patch(type, name, body, options);
        const { signal } = options ?? {};
        if (signal !== undefined) waiting.push(signal);
        return new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
        );
      },
    };
    world.start({ api: slow });
    await world.pass(4, { web: 400 });
    expect(waiting).toHaveLength(1);
    await world.pass(5, { web: 400 });
    expect(waiting[0]?.aborted).toBe(true);
    expect(await world.allocations()).toEqual([]);
  });

  test('is gone: sampling goes on, nothing is planned on old data, and the plan resumes with it', async () => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 100 });
    const line = cuttable(world.server.client());
    const { agent } = world.start({ api: line.api });
    await world.pass(6, { web: 100 });
    const patches = patchesOf(world);
    line.cut();
    await world.pass(30, { web: 900 });
    expect(agent.health().samplesSinceStart).toBeGreaterThanOrEqual(35);
    expect(agent.health().blockedBecause).toMatch(/cannot be followed at the moment$/);
    expect(patchesOf(world)).toBe(patches);
    line.mend();
    // The longest pause between two tries of a watch.
    await world.pass(120, { web: 900 });
    expect(agent.health().blockedBecause).toBeUndefined();
    expect(patchesOf(world)).toBeGreaterThan(patches);
  });
});

describe('the agent itself', () => {
  test('restarted: it goes on from what it wrote, and writes nothing that is there already', async () => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 300 });
    const first = world.start();
    await world.pass(10, { web: 200 });
    const written = (await specOf(world, 'web'))?.desiredCPURequest;
    await first.stop();
    const patches = patchesOf(world);
    world.start();
    await world.pass(10, { web: 200 });
    expect(patchesOf(world)).toBe(patches);
    expect((await specOf(world, 'web'))?.desiredCPURequest).toBe(written);
  });

  test('restarted: the original size is what it was before the first change, not what a resize made of it', async () => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 300 });
    const first = world.start();
    await world.pass(4, { web: 100 });
    await first.stop();
    const api = world.server.client();
    const bigger = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '700m' } } }] } };
    await api.patch(
      resources.pods,
      'web',
      { type: 'strategic', body: bigger },
      { namespace: 'shop', subresource: 'resize' },
    );
    world.start();
    await world.pass(70, { web: 690 });
    expect((await specOf(world, 'web'))?.originalCPURequest).toBe('300m');
  });

  test('restarted while a pod rests, with limits: no limit falls before the load was looked at for a while', async () => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 900, limit: 1000 });
    const env = { STOWAGE_ALLOCATION_APPLY: 'limits' };
    const first = world.start({ env });
    await world.pass(20, { web: 900 });
    await first.stop();
    world.start({ env });
    await world.pass(20, { web: 50 });
    expect(Number.parseInt((await specOf(world, 'web'))?.desiredCPULimit ?? '', 10)).toBeGreaterThanOrEqual(1000);
    await world.pass(60, { web: 50 });
    expect(Number.parseInt((await specOf(world, 'web'))?.desiredCPULimit ?? '', 10)).toBeLessThan(1000);
  });

  test('killed: nothing but its allocations is left, and those stay as they are', async () => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 100 });
    const running = world.start();
    await world.pass(8, { web: 400 });
    await running.stop();
    const [before, patches] = [await world.allocations(), patchesOf(world)];
    await world.pass(60, { web: 800 });
    expect(await world.allocations()).toEqual(before);
    expect(patchesOf(world)).toBe(patches);
  });

  test.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('a clock set %s: rates stay right and the plan starts anew, with no burst of writes', async (_way, jump) => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 300 });
    const { metrics } = world.start();
    await world.pass(20, { web: 200 });
    const patches = patchesOf(world);
    world.shiftClock(jump);
    await world.pass(20, { web: 200 });
    expect(world.logged).toContain('The clock of the machine was set; the plan starts anew');
    expect(metrics.render()).toContain('mbcas_pod_usage_milli{namespace="shop",pod="web"} 200');
    expect(patchesOf(world) - patches).toBeLessThanOrEqual(2);
  });
});

describe('settings', () => {
  test('from the ConfigMap take effect while it runs; nothing is decided before they are known', async () => {
    const world = await stage();
    const api = world.server.client();
    await world.addPod({ name: 'web', request: 100 });
    await api.create(resources.configMaps, {
      metadata: { name: 'mbcas-agent-config', namespace: AGENT_NAMESPACE },
      data: { 'allocation.apply': 'observe', samplingInterval: 'often' },
    });
    world.start();
    await world.pass(10, { web: 400 });
    expect(await world.allocations()).toEqual([]);
    expect(world.logged.some((line) => line.startsWith('samplingInterval: "often" is not valid'))).toBe(true);
    const patch = { type: 'merge', body: { data: { 'allocation.apply': 'requests+ceilings' } } } as const;
    await api.patch(resources.configMaps, 'mbcas-agent-config', patch, { namespace: AGENT_NAMESPACE });
    await world.pass(6, { web: 400 });
    expect(await world.allocations()).toHaveLength(1);
  });

  test('a node that does not exist is told, with how to name the right one', async () => {
    const world = await stage();
    await world.server.client().delete(resources.nodes, NODE);
    const { agent } = world.start();
    await world.pass(4);
    expect(agent.unready()).toBe(`there is no node ${NODE}; set NODE_NAME or --node-name`);
  });

  test('a node that does not say how much CPU it has is not shared out', async () => {
    const world = await stage();
    const api = world.server.client();
    await world.addPod({ name: 'web', request: 400 });
    const { agent } = world.start();
    await world.pass(6, { web: 300 });
    const before = await world.allocations();
    expect(before).toHaveLength(1);
    const none = { capacity: { cpu: '0' }, allocatable: { cpu: '0' } };
    await api.patch(resources.nodes, NODE, { type: 'merge', body: { status: none } }, { subresource: 'status' });
    await world.addPod({ name: 'api', request: 400 });
    await world.pass(20, { web: 300, api: 300 });
    expect(agent.unready()).toBe(`node ${NODE} does not say how much CPU it has`);
    expect(await world.allocations()).toEqual(before);
  });
});
