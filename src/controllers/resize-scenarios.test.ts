/** Resizes from the guard to the embedded kubelet and back, in virtual time: what becomes of each. */
import { describe, expect, test } from 'vitest';
import { createResize } from '../act/resize.ts';
import { createForgetOriginals } from '../act/restore.ts';
import type { Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { startVirtualCluster, testNodes } from '../cluster/testing/virtual-cluster.ts';
import { planRestore } from '../decide/restore-size.ts';
import type { ResizeDecision } from '../decide/size-decision.ts';
import { approve } from '../guard/approved.ts';
import { inspectSize } from '../guard/size/inspect-size.ts';
import { type SizeSceneChanges, sizeScene } from '../guard/size/testing/size-scene.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import type { ContainerSize } from '../model/sizing-records.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import { createLiveStores } from '../observe/live-stores.ts';
import { createLiveView } from '../observe/live-view.ts';
import { createSizingView } from '../observe/sizing/live-sizing-view.ts';
import { createSizingStores } from '../observe/sizing/sizing-stores.ts';
import { createResizesInFlight, type ResizeEnd } from './resizes-in-flight.ts';

const MIB = 2 ** 20;
const inDefault = { namespace: 'default' };
const { signal } = new AbortController();

async function setUp(nodeCpuMillis = 2000) {
  const world = await startVirtualCluster({ nodes: testNodes(1, nodeCpuMillis) });
  const { api } = world.cluster;
  const { clock } = world;
  const reading = { api, clock, random: createSeededRandom(1), log: createSilentLogger() };
  const stores = createLiveStores({ ...reading, sizing: true });
  const live = createLiveView(stores);
  const view = createSizingView({ view: live, stores, sizingStores: createSizingStores(reading) });
  const stop = new AbortController();
  const running = Promise.all([live.run(stop.signal), view.run(stop.signal)]);
  const deadlines = { deferredMillis: 15_000, errorMillis: 60_000, silenceMillis: 120_000 };
  const flight = createResizesInFlight({ view, clock, deadlines: () => deadlines });
  const resize = createResize({ api, pod: (namespace, name) => view.pod(namespace, name) });

  const create = async (name: string, cpu: string): Promise<void> => {
    const amounts = { requests: { cpu, memory: '64Mi' }, limits: { memory: '256Mi' } };
    const spec = { containers: [{ name: 'app', image: 'app:1', resources: amounts }] };
    await api.create(resources.pods, { metadata: { name, namespace: 'default' }, spec }, inDefault);
    await world.seconds(15);
  };
  const pod = (name: string): SizedPod => {
    const found = view.pod('default', name);
    if (found === undefined) throw new Error(`no pod ${name}`);
    return found;
  };
  const decisionFor = (name: string, to: ContainerSize, more: Partial<ResizeDecision> = {}): ResizeDecision => ({
    kind: 'resize',
    engine: 'rightsizing',
    workload: undefined,
    workloadUid: undefined,
    pod: { namespace: 'default', name, uid: pod(name).pod.uid },
    changes: [{ container: 'app', to }],
    why: { summary: 'scenario', numbers: {} },
    ...more,
  });
  /** Without asking the guard: what it would have kept from happening. */
  const force = async (decision: ResizeDecision): Promise<ResizeEnd | undefined> => {
    flight.begin(decision);
    return flight.settle(decision, await resize(approve(decision), signal));
  };
  const reasonAgainst = (decision: ResizeDecision, changes: SizeSceneChanges = {}): string | undefined => {
    const verdict = inspectSize(decision, {
      ...sizeScene({ policy: { cooldownMillis: 0 }, ...changes }),
      view,
      resizes: flight.list(),
    });
    return verdict.kind === 'blocked' ? verdict.block.reason : undefined;
  };
  /** Second by second, until a resize ends. */
  const untilEnd = async (limitSeconds = 60): Promise<readonly ResizeEnd[]> => {
    for (let second = 0; second < limitSeconds; second++) {
      await world.seconds(1);
      const ends = flight.review();
      if (ends.length > 0) return ends;
    }
    return [];
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
    await world[Symbol.asyncDispose]();
  };
  const read = (name: string): Promise<Pod> => api.get(resources.pods, name, inDefault);
  return { world, api, view, flight, create, pod, decisionFor, force, reasonAgainst, untilEnd, read, end };
}

const cpuOf = (pod: Pod) => pod.spec?.containers[0]?.resources?.requests?.['cpu'];

test('grown in place and given back: same containers, no restart, no trace', async () => {
  const { api, create, decisionFor, force, reasonAgainst, untilEnd, read, pod, view, end } = await setUp();
  await create('web', '500m');
  const grow = decisionFor('web', { cpuRequest: 1500 });
  expect(reasonAgainst(grow)).toBeUndefined();
  await force(grow);
  expect(await untilEnd()).toMatchObject([{ kind: 'done', restarted: false }]);
  const restore = planRestore(pod('web'), 'rightsizing', view.node('node-1'), undefined);
  if (restore.kind !== 'resize') throw new Error('nothing to restore');
  expect(reasonAgainst(restore.decision)).toBeUndefined();
  await force(restore.decision);
  expect(await untilEnd()).toMatchObject([{ kind: 'done' }]);
  const { pod: ref } = grow;
  expect(await createForgetOriginals(api)(ref, 'rightsizing', signal)).toEqual({ result: 'restored' });
  const after = await read('web');
  expect(cpuOf(after)).toBe('500m');
  expect(after.metadata?.annotations?.['optipod.io/original-resources']).toBeUndefined();
  expect(after.status?.containerStatuses?.[0]?.restartCount).toBe(0);
  await end();
});

test('rightsizing bug 28: what the node has no room for is not asked; asked all the same, it is taken back in 15 s and blocks nobody', async () => {
  const { create, decisionFor, force, reasonAgainst, untilEnd, read, world, pod, end } = await setUp();
  await create('web', '500m');
  await create('other', '1000m');
  const tooMuch = decisionFor('web', { cpuRequest: 1400 });
  expect(reasonAgainst(tooMuch)).toBe('NodeHasNoRoom');
  await force(tooMuch);
  const [ended] = await untilEnd();
  expect(ended).toMatchObject({ kind: 'taken-back', answer: { action: 'wait', reason: 'ResizeDeferred' } });
  if (ended?.kind !== 'taken-back' || ended.withdrawal === undefined) throw new Error('no withdrawal');
  expect(reasonAgainst(ended.withdrawal)).toBeUndefined();
  await force(ended.withdrawal);
  expect(await untilEnd()).toMatchObject([{ kind: 'done' }]);
  expect(cpuOf(await read('web'))).toBe('500m');
  await world.seconds(2);
  expect(pod('web').sizing.resize).toEqual({ pending: undefined, inProgress: undefined });
  await end();
});

test('decreases first: an increase waits until the decrease that pays for it is in force, and then goes ahead', async () => {
  const { create, decisionFor, force, reasonAgainst, untilEnd, end } = await setUp();
  await create('web', '500m');
  await create('hog', '1400m');
  const grow = decisionFor('web', { cpuRequest: 900 });
  expect(reasonAgainst(grow)).toBe('NodeHasNoRoom');
  const shrink = decisionFor('hog', { cpuRequest: 800 });
  expect(reasonAgainst(shrink)).toBeUndefined();
  await force(shrink);
  // The view does not show it yet, or shows it asked for and not done.
  expect(reasonAgainst(grow)).toBe('WaitsForDecrease');
  expect(await untilEnd()).toMatchObject([{ kind: 'done' }]);
  expect(reasonAgainst(grow)).toBeUndefined();
  await force(grow);
  expect(await untilEnd()).toMatchObject([{ kind: 'done' }]);
  await end();
});

describe('memory', () => {
  test('a limit below what is used is refused by the guard; got past it, it is put back at once', async () => {
    const { create, decisionFor, force, reasonAgainst, untilEnd, read, world, end } = await setUp();
    await create('web', '500m');
    world.cluster.kubelet.useMemory('default/web', 'app', 200 * MIB);
    const shrink = decisionFor('web', { memoryLimit: 128 * MIB });
    expect(reasonAgainst(shrink, { memoryOf: () => ({ now: 200 * MIB, peak: 220 * MIB }) })).toBe('MemoryInUse');
    await force(shrink);
    const [ended] = await untilEnd();
    expect(ended).toMatchObject({ kind: 'taken-back', answer: { reason: 'ResizeMemoryStillUsed' } });
    if (ended?.kind !== 'taken-back' || ended.withdrawal === undefined) throw new Error('no withdrawal');
    expect(reasonAgainst(ended.withdrawal)).toBeUndefined();
    await force(ended.withdrawal);
    expect(await untilEnd()).toMatchObject([{ kind: 'done', restarted: false }]);
    expect((await read('web')).spec?.containers[0]?.resources?.limits).toEqual({ memory: '256Mi' });
    await end();
  });
});

test('a full quota is told apart from the node, before and after', async () => {
  const { api, create, decisionFor, force, reasonAgainst, world, read, end } = await setUp();
  await api.create(
    resources.resourceQuotas,
    { metadata: { name: 'compute' }, spec: { hard: { 'requests.cpu': '600m' } } },
    inDefault,
  );
  await world.seconds(5);
  await create('web', '500m');
  const grow = decisionFor('web', { cpuRequest: 700 });
  expect(reasonAgainst(grow)).toBe('QuotaRefuses');
  expect(await force(grow)).toMatchObject({ kind: 'refused', answer: { action: 'wait', reason: 'ResizeQuotaDenied' } });
  expect(cpuOf(await read('web'))).toBe('500m');
  await end();
});
