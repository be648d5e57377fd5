import { describe, expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { patchesOf, specOf, stage } from './testing/agent-stage.ts';
import { AGENT_NAMESPACE, NODE } from './testing/agent-world.ts';

describe('what it writes', () => {
  test('a PodAllocation for each pod of its node: named by uid, owned by the pod, labelled by node', async () => {
    const world = await stage();
    const { fake } = await world.addPod({ name: 'web', request: 200 });
    world.start();
    await world.pass(4, { web: 150 });
    const [allocation] = await world.allocations();
    expect(allocation?.metadata).toMatchObject({
      name: fake.uid,
      namespace: 'shop',
      labels: { 'mbcas.io/node': NODE, 'app.kubernetes.io/component': 'agent' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: fake.uid }],
    });
    expect(allocation?.spec).toMatchObject({
      namespace: 'shop',
      podName: 'web',
      podUID: fake.uid,
      nodeName: NODE,
      originalCPURequest: '200m',
    });
    const managers = allocation?.metadata?.managedFields?.map(({ manager }) => manager);
    expect(managers).toEqual(['mbcas-agent']);
  });

  test('never a pod', async () => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 100 });
    const before = (await world.server.client().get(resources.pods, 'web', { namespace: 'shop' })).metadata
      ?.resourceVersion;
    world.start();
    await world.pass(30, { web: 900 });
    const after = (await world.server.client().get(resources.pods, 'web', { namespace: 'shop' })).metadata
      ?.resourceVersion;
    expect(after).toBe(before);
  });

  test('mbcas bug 13, 14: nothing but PodAllocations: no table in a ConfigMap, no label on pods', async () => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 100 });
    world.server.accessLog.clear();
    world.start();
    await world.pass(30, { web: 400 });
    const writes = world.server.accessLog.entries().filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));
    expect(writes.map(({ verb, resource, subresource }) => [verb, resource, subresource])).toEqual([
      ['patch', 'podallocations', ''],
    ]);
  });

  test('a pod that uses all it asked for is to have more, with the figures that say why', async () => {
    const world = await stage();
    await world.addPod({ name: 'busy', request: 100 });
    await world.addPod({ name: 'calm', request: 500 });
    world.start();
    await world.pass(12, { busy: 400, calm: 50 });
    const spec = await specOf(world, 'busy');
    expect(Number.parseInt(spec?.desiredCPURequest ?? '', 10)).toBeGreaterThan(300);
    expect(spec?.decision).toMatchObject({ cpuUsage: '400m', mode: expect.stringMatching(/congested$/) });
    expect(spec?.decision?.containers).toEqual([{ name: 'main', cpuUsage: '400m' }]);
  });

  test('nothing while it only observes', async () => {
    const world = await stage();
    await world.addPod({ name: 'busy', request: 100 });
    const { metrics } = world.start({ isObserving: true });
    await world.pass(60, { busy: 800 });
    expect(await world.allocations()).toEqual([]);
    expect(metrics.render()).toContain('mbcas_pod_usage_milli{namespace="shop",pod="busy"} 800');
  });

  test('nothing for pods of other nodes, of excluded namespaces, and for those that opted out', async () => {
    const world = await stage();
    await world.addPod({ name: 'mine', request: 100 });
    await world.addPod({ name: 'out', request: 100, labels: { 'mbcas.io/managed': 'false' } });
    await world.addPod({ name: 'own', namespace: AGENT_NAMESPACE, request: 100 });
    world.start();
    await world.pass(10, { mine: 50, out: 50, own: 50 });
    expect((await world.allocations()).map(({ spec }) => spec?.podName)).toEqual(['mine']);
  });

  test('by default only pods that opted in, by their own label or their namespace’s', async () => {
    const world = await stage();
    const api = world.server.client();
    await api.create(resources.namespaces, { metadata: { name: 'all-in', labels: { 'mbcas.io/managed': 'true' } } });
    await world.addPod({ name: 'silent' });
    await world.addPod({ name: 'in', labels: { 'mbcas.io/managed': 'true' } });
    await world.addPod({ name: 'by-namespace', namespace: 'all-in' });
    world.start({ env: { STOWAGE_ALLOCATION_MANAGEMENT_MODE: 'optIn' } });
    await world.pass(10);
    expect((await world.allocations()).map(({ spec }) => spec?.podName ?? '').toSorted()).toEqual([
      'by-namespace',
      'in',
    ]);
  });

  test('constant load: a finite number of writes, then signs of life alone, one a node and interval', async () => {
    const world = await stage();
    for (const name of ['a', 'b', 'c']) await world.addPod({ name, request: 300 });
    world.start();
    const loads = { a: 250, b: 200, c: 100 };
    await world.pass(60, loads);
    const desired = async () => (await world.allocations()).map(({ spec }) => [spec?.podName, spec?.desiredCPURequest]);
    const generations = async () => (await world.allocations()).map(({ metadata }) => metadata?.generation);
    const [before, generationsBefore, writesBefore] = [await desired(), await generations(), patchesOf(world)];
    await world.pass(150, loads);
    expect(await desired()).toEqual(before);
    expect(await generations()).toEqual(generationsBefore);
    // Every 30 s: 150 s are 5, one more or fewer at the edges.
    expect(patchesOf(world) - writesBefore).toBeLessThanOrEqual(6);
    expect(patchesOf(world) - writesBefore).toBeGreaterThanOrEqual(4);
  });

  test('figures that say something else by now, though nothing is to change: written once, as a sign of life', async () => {
    const world = await stage();
    for (const name of ['a', 'b']) await world.addPod({ name, request: 400 });
    world.start();
    await world.pass(100, { a: 300, b: 100 });
    const generations = async () =>
      Object.fromEntries(
        (await world.allocations()).map(({ metadata, spec }) => [spec?.podName, metadata?.generation ?? 0]),
      );
    const { a = 0, b = 0 } = await generations();
    // Nobody is short, so nobody is asked to give.
    await world.pass(32, { a: 180, b: 100 });
    expect(await specOf(world, 'a')).toMatchObject({ desiredCPURequest: '400m', decision: { cpuUsage: '180m' } });
    expect(await generations()).toEqual({ a: a + 1, b });
    await world.pass(200, { a: 180, b: 100 });
    expect(await generations()).toEqual({ a: a + 1, b });
  });

  test('what is asked for and not done yet is asked for once, and leaves room for what the pod needs later', async () => {
    const world = await stage();
    await world.addPod({ name: 'busy', request: 100 });
    await world.addPod({ name: 'calm', request: 900 });
    world.start();
    // No operator is there, as between two leaders: at each tick the pod has too little.
    await world.pass(40, { busy: 200, calm: 50 });
    expect(await specOf(world, 'busy')).not.toMatchObject({ desiredCPURequest: '550m' });
    await world.pass(4, { busy: 400, calm: 50 });
    expect(await specOf(world, 'busy')).toMatchObject({ desiredCPURequest: '550m' });
  });

  test('what was asked for and not done is taken back when it is no longer wanted', async () => {
    const world = await stage();
    await world.addPod({ name: 'web', request: 300 });
    // Has more than it needs, so that there is something to raise the other by.
    await world.addPod({ name: 'rest', request: 900 });
    world.start();
    // No operator is there: the pod keeps its 300m whatever is asked for.
    await world.pass(10, { web: 900 });
    expect((await specOf(world, 'web'))?.desiredCPURequest).not.toBe('300m');
    // 1.5 times 166m and 50m are 299m, too little off what it has to be written by itself.
    await world.pass(120, { web: 166 });
    expect((await specOf(world, 'web'))?.desiredCPURequest).toBe('300m');
  });
});
