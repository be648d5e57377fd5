/** Pods have containers that their workload's template has not: a mesh adds its proxy to each new one. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { formatCpu } from '../decide/rightsizing/amount-text.ts';
import { tryParseMillicores } from '../lib/quantity.ts';
import { patchNewPods } from './testing/patch-new-pods.ts';
import { createPolicy, deployLoaded, sizedPods, startSizedWorld, statusOf } from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

const proxy = { name: 'proxy', image: 'proxy:1', resources: { requests: { cpu: '500m', memory: '64Mi' } } };
const rolling = { allowInPlaceResize: false, allowRecreate: true };

test('a template that asks for all that a node has leaves room for them: its pods are placed', async () => {
  const world = await startSizedWorld();
  await patchNewPods(world, { op: 'add', path: '/spec/containers/-', value: proxy });
  await deployLoaded(world, { replicas: 1, cpu: '40', requests: { cpu: '500m', memory: '120Mi' } });
  await untilReady(world, 'web', 1);
  const bounds = { cpu: { min: '10m', max: '64' }, memory: { min: '16Mi', max: '8Gi' } };
  await createPolicy(world, { mode: 'Auto', updates: rolling, bounds });
  const templateCpu = async () =>
    (await world.api.get(resources.deployments, 'web', inShop)).spec?.template.spec?.containers[0]?.resources
      ?.requests?.['cpu'];
  await world.until('the template asks for more', async () => (await templateCpu()) !== '500m', 10 * MINUTE);
  const [node] = (await world.api.list(resources.nodes)).items;
  const ofNode = tryParseMillicores(node?.status?.allocatable?.['cpu'] ?? '') ?? 0;
  expect(await templateCpu()).toBe(formatCpu(ofNode - 500));
  await world.clock.advance(5 * MINUTE);
  await untilReady(world, 'web', 1);
  expect((await sizedPods(world)).map(({ status }) => status?.phase)).toEqual(['Running']);
  expect(await statusOf(world)).toMatchObject({ status: 'Applied', reason: 'NodeTooSmall' });
});
