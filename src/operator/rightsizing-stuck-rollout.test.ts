/** Incident: a new release needs more than its template says, and its rollout is stuck. */
import { describe, expect, test } from 'vitest';
import type { KubeObject, Pod } from '../api/core.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import { parseQuantity, toBytes } from '../lib/quantity.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  createPolicy,
  loadedDeployment,
  type SizedWorldOptions,
  sizedPods,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { inShop, MINUTE, patchDeployment } from './testing/steps.ts';

const KINDS = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;
type Kind = (typeof KINDS)[number];
const typeOf = {
  Deployment: resources.deployments,
  StatefulSet: resources.statefulSets,
  DaemonSet: resources.daemonSets,
} as unknown as Readonly<Record<Kind, ResourceType<KubeObject>>>;

const size = { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '256Mi' } };
/** Limits follow: a container that is killed at its limit is helped by nothing else. */
const updates = { updateRequestsOnly: false, limitConfig: { policy: 'Ratio' } };

/** The pods of version 1 are at ease with what they have. */
async function deploy(
  world: EmbeddedWorld,
  kind: Kind,
  options: { readonly restarts?: boolean; readonly replicas?: number } = {},
): Promise<void> {
  const { replicas: wanted = 3 } = options;
  const web = loadedDeployment({ replicas: wanted, cpu: '80m', memory: '200Mi', ...size });
  const { metadata, spec } = web;
  const [app] = spec?.template.spec?.containers ?? [];
  if (options.restarts === true)
    Object.assign(app ?? {}, { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] });
  Object.assign(spec?.template.metadata?.annotations ?? {}, { version: '1' });
  const { replicas, selector, template } = spec ?? {};
  const specs = {
    Deployment: spec,
    StatefulSet: { replicas, selector, template, serviceName: 'web' },
    DaemonSet: { selector, template },
  };
  const object = { apiVersion: 'apps/v1', kind, metadata, spec: specs[kind] } as KubeObject;
  await world.api.create(typeOf[kind], object, inShop);
  await untilAll(world, '1', undefined, wanted);
}

const versionOf = ({ metadata }: Pod): string | undefined => metadata?.annotations?.['version'];
const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
const memoryOf = ({ spec }: Pod): unknown => spec?.containers[0]?.resources;

async function untilAll(world: EmbeddedWorld, version: string, limit?: number, replicas = 3): Promise<void> {
  await world.until(
    `all pods are of version ${version} and ready`,
    async () => {
      const pods = await sizedPods(world);
      return pods.length >= replicas && pods.every((pod) => versionOf(pod) === version && isReady(pod));
    },
    limit,
  );
}

async function tellsOf(world: EmbeddedWorld, pod: string): Promise<boolean> {
  return (await statusOf(world))?.message?.includes(`pod ${pod} ends before it can be resized`) === true;
}

/** Version 2 needs 400Mi some seconds after its start, and is never ready before it is killed. */
async function release(world: EmbeddedWorld, kind: Kind, memory = 'leak(100Mi, 144000Mi, 400Mi)'): Promise<void> {
  const annotations = { version: '2', 'stowage.test/memory': memory, 'stowage.test/ready-after': '40s' };
  const body = { spec: { template: { metadata: { annotations } } } };
  await world.api.patch(typeOf[kind], 'web', { type: 'merge', body }, inShop);
}

async function start(
  kind: Kind,
  fields: Parameters<typeof createPolicy>[1] = {},
  restarts = false,
  options: SizedWorldOptions = {},
): Promise<EmbeddedWorld> {
  const world = await startSizedWorld({ onDemandNodes: 3, spotNodes: 0, ...options });
  await deploy(world, kind, { restarts });
  await createPolicy(world, { mode: 'Auto', updates, ...fields });
  await world.until('nothing is to be done', async () => (await statusOf(world))?.reason === 'WithinMinChange');
  return world;
}

describe('a rollout whose pods are killed for want of memory', () => {
  test.each(KINDS)('%s: they are given more, and it gets to its end', async (kind) => {
    const world = await start(kind);
    await release(world, kind);
    const old: unknown[] = [];
    const given = new Set<number>();
    await world.until(
      'the rollout is over',
      async () => {
        const pods = await sizedPods(world);
        old.push(...pods.filter((pod) => versionOf(pod) === '1').map(memoryOf));
        for (const { spec } of pods) {
          given.add(toBytes(parseQuantity(spec?.containers[0]?.resources?.limits?.['memory'] ?? '0')));
        }
        return pods.length >= 3 && pods.every((pod) => versionOf(pod) === '2' && isReady(pod));
      },
      15 * MINUTE,
    );
    // Whatever is of the old template was left alone.
    for (const each of old) expect(each).toEqual(size);
    // Never less than the template says, and what is given suffices.
    expect(Math.min(...given)).toBe(toBytes(parseQuantity('256Mi')));
    expect([...given].filter((bytes) => bytes < toBytes(parseQuantity('400Mi')))).toHaveLength(1);
    // One raise, of one kill: what is killed while it is resized was killed with what it had before.
    expect(given.size).toBe(2);
    const workload = await world.api.get(typeOf[kind], 'web', inShop);
    expect(workload.metadata?.generation).toBe(2);
    expect(workload.metadata?.annotations?.['optipod.io/applied-sizes']).toBeDefined();
    expect(world.evictions).toEqual([]);
    const sizes = (await sizedPods(world)).map(memoryOf);
    expect(new Set(sizes.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(sizes[0]).toMatchObject({ requests: { cpu: '100m' } });
  });

  test.each(['Deployment', 'StatefulSet'] as const)(
    '%s: what ends before it can be resized is replaced where the policy allows it',
    async (kind) => {
      const evicting = { ...updates, allowRecreate: true, evictToResize: true };
      const world = await start(kind, { updates: evicting });
      await release(world, kind, '400Mi');
      await world.until(
        'it is told',
        async () => (await statusOf(world))?.message?.includes('ends before it can be resized') === true,
        2 * MINUTE,
      );
      // A rollout that gets on is waited for.
      expect(world.evictions).toEqual([]);
      await untilAll(world, '2', 40 * MINUTE);
      expect(world.evictions).toHaveLength(1);
    },
  );

  test('who deletes such a pod gets one that is large enough', async () => {
    const world = await start('StatefulSet');
    await release(world, 'StatefulSet', '400Mi');
    await world.until('it is told', () => tellsOf(world, 'web-2'), 2 * MINUTE);
    await world.api.delete(resources.pods, 'web-2', inShop);
    await untilAll(world, '2', 5 * MINUTE);
  });

  test('so does who deletes one that has a size of its own', async () => {
    const world = await start('StatefulSet', { updates: { ...updates, sizePerReplica: true } });
    await world.until(
      'each has its own',
      async () => (await statusOf(world))?.replicaSizes?.startsWith('3 of 3 replicas have sizes of their own') === true,
      5 * MINUTE,
    );
    await release(world, 'StatefulSet', '400Mi');
    await world.until('it is told', () => tellsOf(world, 'web-2'), 3 * MINUTE);
    await world.api.delete(resources.pods, 'web-2', inShop);
    await world.until(
      'it is ready',
      async () => (await sizedPods(world)).some((pod) => pod.metadata?.name === 'web-2' && isReady(pod)),
      3 * MINUTE,
    );
  });

  test('a container that restarts when its memory changes is restarted once more than it would', async () => {
    const world = await start('Deployment', { updates: { ...updates, allowRecreate: true } }, true);
    await release(world, 'Deployment');
    await untilAll(world, '2', 15 * MINUTE);
    expect(world.evictions).toEqual([]);
  });

  test.each(['Deployment', 'StatefulSet'] as const)('so is that of the only replica of a %s', async (kind) => {
    const world = await startSizedWorld({ onDemandNodes: 3, spotNodes: 0 });
    await deploy(world, kind, { restarts: true, replicas: 1 });
    await createPolicy(world, { mode: 'Auto', updates: { ...updates, allowRecreate: true } });
    await world.until('nothing is to be done', async () => (await statusOf(world))?.reason === 'WithinMinChange');
    await release(world, kind);
    await untilAll(world, '2', 15 * MINUTE, 1);
    expect(world.evictions).toEqual([]);
  });

  test.each([
    ['ten minutes behind', -10 * MINUTE],
    ['a day behind', -1440 * MINUTE],
    ['an hour ahead', 60 * MINUTE],
    ['a year ahead', 525_600 * MINUTE],
  ])('they are helped on nodes whose clocks are %s', async (_, nodesAheadMillis) => {
    const world = await start('Deployment', {}, false, { nodesAheadMillis });
    await release(world, 'Deployment');
    await untilAll(world, '2', 15 * MINUTE);
    expect(world.evictions).toEqual([]);
  });

  test('a leader that dies once a pod has more, before that is in force, leaves nothing stuck', async () => {
    let [isArmed, isGiven] = [false, false];
    const onWrite: SizedWorldOptions['onWrite'] = ({ resource, subresource }) => {
      isGiven ||= isArmed && subresource === 'resize';
      if (!isGiven || !isArmed || resource !== 'deployments') return;
      isArmed = false;
      world.cutOff('test_1');
      throw new Error('connect ETIMEDOUT');
    };
    const world: EmbeddedWorld = await start('Deployment', {}, false, { onWrite });
    isArmed = true;
    // What it was given is not enough.
    await release(world, 'Deployment', 'leak(100Mi, 144000Mi, 2Gi)');
    await world.until('the leader is gone', () => isGiven && !isArmed, 5 * MINUTE);
    await world.startOperator('test_2');
    await untilAll(world, '2', 40 * MINUTE);
    expect(world.evictions).toEqual([]);
  });

  test('where limits are kept nothing helps, and why is told', async () => {
    const world = await start('Deployment', { updates: {} });
    await release(world, 'Deployment');
    await world.until('told', async () => (await statusOf(world))?.reason === 'AtLimit', 5 * MINUTE);
  });
});

test('a pod that runs and does not get ready for ten minutes is given the CPU that is due, and no other pod', async () => {
  const world = await start('Deployment');
  const annotations = { version: '2', 'stowage.test/cpu': '400m', 'stowage.test/ready-after': '15m' };
  await patchDeployment(world, { template: { metadata: { annotations } } });
  const cpuOf = async (): Promise<string[]> =>
    (await sizedPods(world)).map((pod) => `${versionOf(pod)} ${pod.spec?.containers[0]?.resources?.requests?.['cpu']}`);
  await world.clock.advance(9 * MINUTE);
  expect((await cpuOf()).sort()).toEqual(['1 100m', '1 100m', '1 100m', '2 100m']);
  await world.until('it has more', async () => (await cpuOf()).includes('2 480m'), 3 * MINUTE);
  expect((await cpuOf()).sort()).toEqual(['1 100m', '1 100m', '1 100m', '2 480m']);
});
