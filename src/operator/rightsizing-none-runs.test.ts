/** Incident: every pod of a workload ends as soon as it starts, and the policy does not allow pods to be recreated. */
import { expect, test } from 'vitest';
import type { StatefulSet } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import { createPolicy, loadedDeployment, sizedPods, startSizedWorld, statusOf } from './testing/sized-world.ts';
import { inShop, MINUTE } from './testing/steps.ts';

/** Limits follow: a container that is killed at its limit is helped by nothing else. */
const updates = { updateRequestsOnly: false, limitConfig: { policy: 'Ratio' } };

async function startDb(): Promise<EmbeddedWorld> {
  const world = await startSizedWorld({ onDemandNodes: 2, spotNodes: 0 });
  const sizes = { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '256Mi' } };
  const { metadata, spec } = loadedDeployment({ replicas: 1, cpu: '80m', memory: '200Mi', ...sizes });
  const { replicas, selector, template } = spec ?? {};
  const statefulSet = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: { replicas, selector, template, serviceName: 'web' },
  } as StatefulSet;
  await world.api.create(resources.statefulSets, statefulSet, inShop);
  await untilReady(world);
  await createPolicy(world, { mode: 'Auto', updates });
  return world;
}

async function untilReady(world: EmbeddedWorld): Promise<void> {
  await world.until(
    'the pod is ready',
    async () => (await sizedPods(world)).some(({ status }) => status?.containerStatuses?.every((each) => each.ready)),
    5 * MINUTE,
  );
}

const tells = async (world: EmbeddedWorld): Promise<boolean> =>
  /and none runs now.*; pod web-0 ends before it can be resized/.test((await statusOf(world))?.message ?? '');

test('what a new version was killed for want of is in force for the pod to come, and that is told', async () => {
  const world = await startDb();
  await world.until('nothing is to be done', async () => (await statusOf(world))?.reason === 'WithinMinChange');
  const body = { spec: { template: { metadata: { annotations: { 'stowage.test/memory': '400Mi' } } } } };
  await world.api.patch(resources.statefulSets, 'web', { type: 'merge', body }, inShop);
  await world.until('it is told', () => tells(world), 3 * MINUTE);
  await world.api.delete(resources.pods, 'web-0', inShop);
  await untilReady(world);
});

test('where pods end for another reason nothing is changed, and that none can be resized is told', async () => {
  const world = await startDb();
  const body = { spec: { template: { metadata: { annotations: { 'stowage.test/crash-after': '1s' } } } } };
  await world.api.patch(resources.statefulSets, 'web', { type: 'merge', body }, inShop);
  await world.clock.advance(10 * MINUTE);
  const web = await world.api.get(resources.statefulSets, 'web', inShop);
  expect(web.metadata?.annotations?.['optipod.io/applied-sizes']).toBeUndefined();
});
