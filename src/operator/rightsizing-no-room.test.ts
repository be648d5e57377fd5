/** Incident: pods are to have more by a new template, and no node has room for the new ones. */
import { expect, test } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  createPolicy,
  loadedDeployment,
  requestsOf,
  sizedEvents,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

type Kind = 'Deployment' | 'StatefulSet';
const typeOf = {
  Deployment: resources.deployments,
  StatefulSet: resources.statefulSets,
} as unknown as Readonly<Record<Kind, ResourceType<KubeObject>>>;

const FILLERS = ['filler-0', 'filler-1'];

/** Two nodes of 16 cores, and nobody who adds one; a replica of the four has 200m, uses 700m, and is to have 840m. */
async function startCramped(kind: Kind = 'Deployment', more: object = {}): Promise<EmbeddedWorld> {
  const world = await startSizedWorld({
    onDemandNodes: 2,
    spotNodes: 0,
    config: 'controllers: { nodeClassifier: { profiles: [aks] } }',
  });
  await world.startOperator('test_2');
  const web = loadedDeployment({ replicas: 4, cpu: '700m', requests: { cpu: '200m', memory: '120Mi' } });
  const { replicas, selector, template } = web.spec ?? {};
  const spec = kind === 'Deployment' ? web.spec : { replicas, selector, template, serviceName: 'web' };
  await world.api.create(typeOf[kind], { ...web, kind, spec: { ...spec, ...more } } as KubeObject, inShop);
  await untilReady(world, 'web', 4);
  const { items } = await world.api.list(resources.nodes);
  for (const [index, name] of FILLERS.entries()) {
    const container = { name: 'app', image: 'app:1', resources: { requests: { cpu: '15300m', memory: '64Mi' } } };
    const spec = { nodeName: items[index]?.metadata?.name ?? '', containers: [container] };
    await world.api.create(resources.pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }, inShop);
  }
  await createPolicy(world, { mode: 'Auto', updates: { allowInPlaceResize: false, allowRecreate: true } });
  await world.until('a new pod waits', async () => (await requestsOf(world)).some(isLarge), 5 * MINUTE);
  return world;
}

const isLarge = ({ cpu }: Readonly<Record<string, string>>): boolean => cpu === '840m';
const largeOf = async (world: EmbeddedWorld): Promise<number> => (await requestsOf(world)).filter(isLarge).length;
const toldOf = async (world: EmbeddedWorld): Promise<(string | undefined)[]> =>
  (await sizedEvents(world)).filter(({ reason }) => reason === 'ChangeReverted').map(({ note }) => note);
const untilReverted = (world: EmbeddedWorld, limit: number): Promise<void> =>
  world.until('taken back', async () => (await toldOf(world)).length > 0, limit);

test('more by a new template that finds no room is taken back after ten minutes, and not tried again for an hour', async () => {
  const world = await startCramped();
  await world.clock.advance(9 * MINUTE);
  expect(await toldOf(world)).toEqual([]);
  await untilReverted(world, 3 * MINUTE);
  expect((await toldOf(world))[0]).toMatch(/was taken back: no node has room for pod web-/);
  await untilReady(world, 'web', 4);
  expect(await largeOf(world)).toBe(0);
  const { metadata } = await world.api.get(resources.deployments, 'web', inShop);
  // Nothing was too little.
  expect(JSON.parse(metadata?.annotations?.['optipod.io/learned-floors'] ?? '')).toMatchObject({ floors: [] });
  await world.until('told', async () => (await statusOf(world))?.reason === 'ChangeBackoff', 5 * MINUTE);
  expect((await statusOf(world))?.message).toMatch(/no node had room for its new pods/);
  await world.clock.advance(50 * MINUTE);
  const later = (await world.api.get(resources.deployments, 'web', inShop)).metadata;
  expect(later?.generation).toBe(metadata?.generation);
  for (const name of FILLERS) await world.api.delete(resources.pods, name, inShop);
  await world.until('all have more', async () => (await largeOf(world)) === 4, 20 * MINUTE);
  await untilReady(world, 'web', 4);
  expect(await toldOf(world)).toHaveLength(1);
});

test('so it is by the next leader', async () => {
  const world = await startCramped();
  const annotationsOf = async () => (await world.api.get(resources.deployments, 'web', inShop)).metadata?.annotations;
  await world.until('kept', async () => (await annotationsOf())?.['optipod.io/watched-changes'] !== undefined);
  world.cutOff('test_1');
  await untilReverted(world, 15 * MINUTE);
  await untilReady(world, 'web', 4);
  expect(await largeOf(world)).toBe(0);
  await world.until('kept no more', async () => (await annotationsOf())?.['optipod.io/watched-changes'] === undefined);
});

test('nor is it tried again for the rest of that hour where another leads meanwhile', async () => {
  const world = await startCramped();
  await untilReverted(world, 15 * MINUTE);
  await untilReady(world, 'web', 4);
  const read = () => world.api.get(resources.deployments, 'web', inShop);
  const { generation } = (await read()).metadata ?? {};
  world.cutOff('test_1');
  await world.clock.advance(MINUTE);
  await world.until('told', async () => (await statusOf(world))?.reason === 'ChangeBackoff', 15 * MINUTE);
  await world.clock.advance(30 * MINUTE);
  expect((await read()).metadata?.generation).toBe(generation);
});

test('so it is where all pods go at once, so that the rollout is over while they wait', async () => {
  const world = await startCramped('Deployment', { strategy: { type: 'Recreate' } });
  await untilReverted(world, 15 * MINUTE);
  await untilReady(world, 'web', 4);
  expect(await largeOf(world)).toBe(0);
});

test('so it is of a StatefulSet; the pod that Kubernetes leaves behind is named', async () => {
  const world = await startCramped('StatefulSet');
  await untilReverted(world, 15 * MINUTE);
  const help = 'pod web-3 still has what did harm: deleted, it is made anew as the template says';
  await world.until('told', async () => (await statusOf(world))?.message?.includes(help) === true, MINUTE);
  await world.api.delete(resources.pods, 'web-3', inShop);
  await untilReady(world, 'web', 4);
  expect(await largeOf(world)).toBe(0);
});
