/** New pods by eviction: sized at admission, one at a time, within all that forbids or delays a disruption. */
import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  createPolicy,
  deployLoaded,
  loadedDeployment,
  requestsOf,
  sizedEvents,
  sizedPods,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

const evicting = { allowInPlaceResize: false, allowRecreate: true, evictToResize: true };
const small = { cpu: '240m', memory: '120Mi' };
const allSmall = async (world: EmbeddedWorld): Promise<boolean> =>
  (await requestsOf(world)).every(({ cpu, memory }) => cpu === small.cpu && memory === small.memory);
const isReady = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
const untilReason = (world: EmbeddedWorld, reason: string): Promise<void> =>
  world.until(`the reason is ${reason}`, async () => (await statusOf(world))?.reason === reason);

describe('evictToResize', () => {
  test('pods are evicted one at a time, born with the new size, and the template stays', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 3 });
    await untilReady(world, 'web', 3);
    await createPolicy(world, { mode: 'Auto', updates: evicting });
    let fewest = 3;
    await world.until('all are resized', async () => {
      fewest = Math.min(fewest, (await sizedPods(world)).filter(isReady).length);
      return allSmall(world);
    });
    await untilReady(world, 'web', 3);
    expect(fewest).toBeGreaterThanOrEqual(2);
    expect(world.evictions).toHaveLength(3);
    const { metadata, spec } = await world.api.get(resources.deployments, 'web', inShop);
    expect(metadata?.generation).toBe(1);
    expect(spec?.template?.spec?.containers[0]?.resources?.requests).toEqual({ cpu: '500m', memory: '512Mi' });
    await world.until('applied', async () => (await statusOf(world))?.status === 'Applied');
    expect(await statusOf(world)).toMatchObject({ lastApplyMethod: 'Eviction' });
    const told = (await sizedEvents(world)).filter(({ reason }) => reason === 'EvictedToResize');
    expect(told[0]?.note).toMatch(/^Pod web-\S+ was evicted .*cpu 500m -> 240m, memory 512Mi -> 120Mi/);
    const journal = world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' })?.journal;
    expect(journal?.filter(({ kind, reason }) => kind === 'done' && reason === 'EvictedToResize')).toHaveLength(3);
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toHaveLength(3);
  });

  test('the first new pod is watched from when it is ready', async () => {
    const world = await startSizedWorld({ rightsizing: '  canaryPeriod: 1m' });
    const web = loadedDeployment({ replicas: 3 });
    const [app] = web.spec?.template?.spec?.containers ?? [];
    Object.assign(app ?? {}, { readinessProbe: { httpGet: { port: 80 }, initialDelaySeconds: 120 } });
    await world.api.create(resources.deployments, web, inShop);
    await untilReady(world, 'web', 3);
    await createPolicy(world, { mode: 'Auto', updates: evicting });
    await world.until('the first goes', () => world.evictions.length === 1);
    await world.clock.advance(175_000);
    expect((await sizedPods(world)).filter(isReady)).toHaveLength(3);
    expect(world.evictions).toHaveLength(1);
    await world.until('the next goes', () => world.evictions.length === 2, 5 * MINUTE);
  });

  test('where a LimitRange fills in limits pods are born with the new size, too', async () => {
    const world = await startSizedWorld();
    const limits = [
      { type: 'Container', default: { cpu: '1', memory: '1Gi' }, defaultRequest: { cpu: '50m' } },
    ] as const;
    const range = { metadata: { name: 'defaults' }, spec: { limits: [...limits] } };
    await world.api.create(resources.limitRanges, range, inShop);
    await deployLoaded(world, { replicas: 2 });
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto', updates: evicting });
    await world.until('all are resized', () => allSmall(world));
    await untilReady(world, 'web', 2);
    expect(world.evictions).toHaveLength(2);
  });

  test('a container that a resize would restart is replaced instead', async () => {
    const world = await startSizedWorld();
    const web = loadedDeployment({ replicas: 2 });
    const [app] = web.spec?.template?.spec?.containers ?? [];
    Object.assign(app ?? {}, { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] });
    await world.api.create(resources.deployments, web, inShop);
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto', updates: { allowRecreate: true, evictToResize: true } });
    await world.until('all are resized', () => allSmall(world));
    expect(world.evictions).toHaveLength(2);
    expect(world.operatorWrites).not.toContain('patch pods');
  });

  test.each([
    [
      'a webhook that refuses evictions',
      'admission webhook "evictions.example.com" denied the request: not now',
      'ResizeAdmissionDenied',
    ],
    [
      'a right that is missing',
      'pods "web" is forbidden: User "stowage" cannot create resource "pods/eviction" in API group "" in the namespace "shop"',
      'RBACError',
    ],
  ])('%s is told as what it is', async (_, message, reason) => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 2 });
    await untilReady(world, 'web', 2);
    world.server.faults.add({ resources: ['pods/eviction'], effect: { kind: 'status', code: 403, message } });
    await createPolicy(world, { mode: 'Auto', updates: evicting });
    await untilReason(world, reason);
    expect((await statusOf(world))?.message).toContain(message);
  });

  test('a pod that somebody else resizes is left to him: its replacement would only be resized again', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 2 });
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto', updates: evicting });
    await world.until('all are resized', () => allSmall(world));
    await untilReady(world, 'web', 2);
    const name = (await sizedPods(world))[0]?.metadata?.name ?? '';
    const body = { spec: { containers: [{ name: 'app', resources: { requests: { cpu: '310m' } } }] } };
    const options = { ...inShop, subresource: 'resize', fieldManager: 'kubectl-edit' };
    await world.api.patch(resources.pods, name, { type: 'strategic', body }, options);
    await untilReason(world, 'OtherResizer');
    await world.clock.advance(10 * MINUTE);
    expect(world.evictions).toHaveLength(2);
    await world.api.delete(resources.pods, name, inShop);
    await world.until('applied', async () => (await statusOf(world))?.status === 'Applied');
    expect(await allSmall(world)).toBe(true);
  });

  test('no pod goes to be given more than a new maximum of the policy, though that is in force still', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 2, requests: { cpu: '100m', memory: '120Mi' } });
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto', updates: { ...evicting, cooldown: '1h' } });
    await world.until('all are resized', () => allSmall(world));
    await untilReady(world, 'web', 2);
    const spec = { resourceBounds: { cpu: { max: '150m' } } };
    await world.api.patch(policyType('optipod.io'), 'sizes', { type: 'merge', body: { spec } }, inShop);
    world.setWebhookUp(false);
    await world.api.delete(resources.pods, (await sizedPods(world))[0]?.metadata?.name ?? '', inShop);
    await world.until('one has the size of the template', async () =>
      (await requestsOf(world)).some(({ cpu }) => cpu === '100m'),
    );
    world.setWebhookUp(true);
    await world.clock.advance(10 * MINUTE);
    expect(world.evictions).toHaveLength(2);
  });

  test('without the webhook nobody is evicted, and the status says so', async () => {
    const world = await startSizedWorld({ isWebhookOff: true });
    await deployLoaded(world, { replicas: 2 });
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto', updates: evicting });
    await untilReason(world, 'EvictToResizeUnavailable');
    await world.clock.advance(2 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect((await world.api.get(resources.deployments, 'web', inShop)).metadata?.generation).toBe(1);
  });

  test('rightsizing bug 9: new pods that miss the webhook end it after a few', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 2 });
    await untilReady(world, 'web', 2);
    world.setWebhookUp(false);
    await createPolicy(world, { mode: 'Auto', updates: evicting });
    await untilReason(world, 'ChangesIneffective');
    expect(world.evictions).toHaveLength(3);
  });

  test.each([
    ['a budget of the owner', 'BlockedByPdb', {}, 2],
    ['an annotation of the pods', 'Protected', { 'karpenter.sh/do-not-disrupt': 'true' }, 2],
    ['being the only one', 'SingleReplica', {}, 1],
  ] as const)('%s keeps pods from being evicted', async (_, reason, annotations, replicas) => {
    const world = await startSizedWorld();
    if (reason === 'BlockedByPdb') {
      await world.api.create(
        resources.podDisruptionBudgets,
        {
          apiVersion: 'policy/v1',
          kind: 'PodDisruptionBudget',
          metadata: { name: 'web', namespace: 'shop' },
          spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
        },
        inShop,
      );
    }
    const web = loadedDeployment({ replicas });
    Object.assign(web.spec?.template?.metadata?.annotations ?? {}, annotations);
    await world.api.create(resources.deployments, web, inShop);
    await untilReady(world, 'web', replicas);
    await createPolicy(world, { mode: 'Auto', updates: evicting });
    await untilReason(world, reason);
    await world.clock.advance(MINUTE);
    expect(world.evictions).toEqual([]);
    // Nothing is promised to new pods either.
    const { metadata } = await world.api.get(resources.deployments, 'web', inShop);
    expect(metadata?.annotations?.['optipod.io/applied-sizes']).toBeUndefined();
  });

  test('outside the disruption window neither pods are evicted nor templates changed', async () => {
    const config = 'operator: { disruptionWindow: { schedule: "0 2 * * *", duration: 1h } }';
    const world = await startSizedWorld({ config });
    await deployLoaded(world, { replicas: 2 });
    await deployLoaded(world, { replicas: 2, name: 'api', labels: { optimize: 'other' } });
    await untilReady(world, 'api', 2);
    await createPolicy(world, { mode: 'Auto', updates: evicting });
    await createPolicy(world, {
      name: 'templates',
      mode: 'Auto',
      spec: { selector: { workloadSelector: { matchLabels: { optimize: 'other' } } } },
      updates: { ...evicting, evictToResize: false },
    });
    await untilReason(world, 'OutsideWindow');
    await world.until(
      'told of the other',
      async () => (await statusOf(world, 'api', { name: 'templates' }))?.reason === 'OutsideWindow',
    );
    expect(world.evictions).toEqual([]);
    expect((await world.api.get(resources.deployments, 'api', inShop)).metadata?.generation).toBe(1);
  });
});
