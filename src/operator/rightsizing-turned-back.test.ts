/** Incident: new pods cannot do with less, and the rollout that brings it hangs. */
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import { policyType } from '../api/optimization-policy.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import { patchNewPods } from './testing/patch-new-pods.ts';
import {
  createPolicy,
  loadedDeployment,
  requestsOf,
  sizedEvents,
  sizedPods,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

const limits = { cpu: '1', memory: '512Mi' };
const isSmall = ({ memory }: Readonly<Record<string, string>>): boolean => memory === '120Mi';
const hasReverted = async (world: EmbeddedWorld): Promise<boolean> =>
  (await sizedEvents(world)).some(({ reason }) => reason === 'ChangeReverted');

interface Hanging {
  readonly kind?: 'Deployment' | 'StatefulSet';
  /** Else it is killed again and again before it is ready. */
  readonly isNeverReady?: boolean;
  readonly updates?: object;
  readonly stuckAfter?: string;
}

/** The first new pod does not get ready, so that none of the others goes. */
async function startHanging(hanging: Hanging = {}): Promise<EmbeddedWorld> {
  const { kind = 'Deployment', isNeverReady, updates, stuckAfter = '15m' } = hanging;
  const world = await startSizedWorld({
    rightsizing: '  revertWindow: 30m',
    config: `placement: { maxConcurrentEvictions: 1, stuckRolloutAfter: ${stuckAfter} }`,
  });
  const web = loadedDeployment({ replicas: 3, limits });
  Object.assign(web.spec?.template.metadata?.annotations ?? {}, { 'stowage.test/ready-after': '40s' });
  const type: ResourceType<KubeObject> = kind === 'Deployment' ? resources.deployments : resources.statefulSets;
  const spec = kind === 'Deployment' ? web.spec : { ...web.spec, serviceName: 'web' };
  await world.api.create(type, { ...web, kind, spec } as KubeObject, inShop);
  await untilReady(world, 'web', 3);
  const path = '/metadata/annotations/stowage.test~1ready-after';
  if (isNeverReady === true) await patchNewPods(world, { op: 'replace', path, value: 'never' });
  const rolling = { updateRequestsOnly: false, allowInPlaceResize: false, allowRecreate: true };
  await createPolicy(world, { mode: 'Auto', updates: { ...rolling, ...updates } });
  await world.until('a first pod has less', async () => (await requestsOf(world)).some(isSmall), 10 * MINUTE);
  if (isNeverReady === true) {
    await world.api.delete(resources.mutatingWebhookConfigurations, 'adding');
    return world;
  }
  for (const { metadata, spec: pod } of await sizedPods(world)) {
    if (!isSmall({ ...pod?.containers[0]?.resources?.requests })) continue;
    const body = { metadata: { annotations: { 'stowage.test/memory': 'step(100Mi, 300Mi, 20s)' } } };
    await world.api.patch(resources.pods, metadata?.name ?? '', { type: 'merge', body }, inShop);
  }
  return world;
}

describe('a template with less, whose new pods are killed', () => {
  test.each([
    ['', undefined],
    [', also outside the windows', [{ cron: '0 2 * * *', duration: '1m' }]],
  ])('is put back while its rollout is under way%s', async (_, schedule) => {
    const world = await startHanging();
    if (schedule !== undefined) {
      const body = { spec: { updateStrategy: { schedule } } };
      await world.api.patch(policyType('optipod.io'), 'sizes', { type: 'merge', body }, inShop);
    }
    await world.until('taken back', () => hasReverted(world), 5 * MINUTE);
    await world.until(
      'all are ready, with what they had or more',
      async () => {
        const sizes = await requestsOf(world);
        return sizes.length === 3 && sizes.every(({ memory = '' }) => Number.parseInt(memory, 10) >= 512);
      },
      5 * MINUTE,
    );
    await untilReady(world, 'web', 3);
    await world.clock.advance(20 * MINUTE);
    expect((await requestsOf(world)).some(isSmall)).toBe(false);
    expect((await sizedEvents(world)).filter(({ reason }) => reason === 'ChangeReverted')).toHaveLength(1);
  });

  test('of a StatefulSet is put back, too; the pod that Kubernetes leaves behind is named', async () => {
    const world = await startHanging({ kind: 'StatefulSet' });
    await world.until('taken back', () => hasReverted(world), 5 * MINUTE);
    const help = 'pod web-2 still has what did harm: deleted, it is made anew as the template says';
    await world.until('told', async () => (await statusOf(world))?.message?.includes(help) === true, MINUTE);
    await world.clock.advance(10 * MINUTE);
    expect((await statusOf(world))?.message).toContain(help);
    await world.api.delete(resources.pods, 'web-2', inShop);
    await world.until(
      'all are ready, with what they had or more',
      async () =>
        (await requestsOf(world)).filter(({ memory = '' }) => Number.parseInt(memory, 10) >= 512).length === 3,
      5 * MINUTE,
    );
    await untilReady(world, 'web', 3);
    await world.until('told no more', async () => (await statusOf(world))?.reason !== 'ChangeReverted', MINUTE);
  });
});

test.each<[string, Hanging]>([
  ['a new template', {}],
  ['a new template, whose rollout has no place in the budget any more,', { stuckAfter: '5m' }],
  ['eviction', { updates: { evictToResize: true } }],
])('less by %s with which the first new pod does not get ready is taken back after ten minutes', async (_, hanging) => {
  const world = await startHanging({ ...hanging, isNeverReady: true });
  await world.clock.advance(9 * MINUTE);
  expect(await hasReverted(world)).toBe(false);
  await world.until('taken back', () => hasReverted(world), 2 * MINUTE);
  await world.until('no pod has less', async () => !(await requestsOf(world)).some(isSmall), 10 * MINUTE);
  await untilReady(world, 'web', 3);
});
