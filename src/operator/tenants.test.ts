import { describe, expect, onTestFinished, test } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import { customResourceDefinitions } from '../api/crd/crd.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import { configOf } from '../config/testing/load-text.ts';
import { createRollout, rolloutDefinition } from './testing/argo-rollout.ts';
import { createEmbeddedWorld, deploymentObject, type EmbeddedWorld, readManifests } from './testing/embedded-world.ts';
import { annotate, deploy, inShop, MINUTE, patchDeployment, policy, untilSides } from './testing/steps.ts';

const roles: ResourceType = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'roles',
  kind: 'Role',
  namespaced: true,
};
const user = 'system:serviceaccount:spotalis-system:stowage';

function namespace(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  const enabled = { 'spotalis.io/enabled': 'true', ...labels };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: enabled } };
}

async function createIn(world: EmbeddedWorld, name: string, spotPercentage: number): Promise<void> {
  const deployment = deploymentObject({ name: 'web', replicas: 4, annotations: policy(spotPercentage, 0) });
  const metadata = { ...deployment.metadata, namespace: name };
  await world.api.create(resources.deployments, { ...deployment, metadata }, { namespace: name });
}

const sidesIn = (world: EmbeddedWorld, name: string) => world.sides(name, 'web');

describe('controllers.namespaceSelector', () => {
  const config = `
controllers:
  namespaceSelector:
    matchExpressions:
      - { key: tenant, operator: In, values: [a, b] }
      - { key: frozen, operator: DoesNotExist }`;

  test('decides with all its expressions about admission and about moves alike', async () => {
    const world = await createEmbeddedWorld({ config });
    onTestFinished(() => world.stop());
    const tenants = { a: { tenant: 'a' }, b: { tenant: 'b', frozen: 'yes' }, c: { tenant: 'c' }, none: {} };
    for (const [name, labels] of Object.entries(tenants))
      await world.api.create(resources.namespaces, namespace(name, labels));
    await world.startOperator();
    for (const name of Object.keys(tenants)) await createIn(world, name, 50);
    await world.clock.advance(MINUTE);
    expect(await sidesIn(world, 'a')).toEqual({ spot: 2, 'on-demand': 2, pending: 0 });
    for (const name of ['b', 'c', 'none']) {
      const { items } = await world.api.list(resources.pods, { namespace: name });
      expect(items.map(({ spec }) => spec?.nodeSelector)).toEqual([undefined, undefined, undefined, undefined]);
    }
    // The same word for the controllers: the pods of the others are anywhere, and stay.
    for (const name of Object.keys(tenants)) {
      const body = { metadata: { annotations: policy(100, 0) } };
      await world.api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace: name });
    }
    await world.clock.advance(3 * MINUTE);
    expect(await sidesIn(world, 'a')).toEqual({ spot: 4, 'on-demand': 0, pending: 0 });
    expect(world.evictions).toHaveLength(2);
  });

  test('a label that changes takes effect at once', async () => {
    const world = await createEmbeddedWorld({ config });
    onTestFinished(() => world.stop());
    await world.api.create(resources.namespaces, namespace('a', { tenant: 'a' }));
    await world.startOperator();
    await createIn(world, 'a', 0);
    await world.clock.advance(MINUTE);
    const relabel = (frozen: string | null) =>
      world.api.patch(resources.namespaces, 'a', { type: 'merge', body: { metadata: { labels: { frozen } } } });
    await relabel('yes');
    const body = { metadata: { annotations: policy(100, 0) } };
    await world.api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace: 'a' });
    await world.clock.advance(MINUTE);
    expect(world.evictions).toEqual([]);
    await relabel(null);
    await world.clock.advance(2_000);
    expect(world.evictions).toHaveLength(1);
  });
});

describe('controllers.watchNamespaces', () => {
  const config = 'controllers:\n  watchNamespaces: [shop]';

  async function start(more = ''): Promise<EmbeddedWorld> {
    const objects = [namespace('shop'), namespace('other'), ...readManifests('rbac-namespaced.yaml')];
    const world = await createEmbeddedWorld({ config: `${config}${more}`, rbac: { objects, user } });
    onTestFinished(() => world.stop());
    await world.startOperator();
    return world;
  }

  test('with Roles alone a burst is exact and a change converges; other namespaces are left alone', async () => {
    const world = await start();
    await deploy(world, 10);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 7, 'on-demand': 3, pending: 0 });
    await createIn(world, 'other', 100);
    await annotate(world, policy(50, 0));
    await untilSides(world, 'web', 5, 5);
    expect(world.evictions).toHaveLength(2);
    const { items } = await world.api.list(resources.pods, { namespace: 'other' });
    expect(items.every(({ spec }) => spec?.nodeSelector === undefined)).toBe(true);
    expect(items).toHaveLength(4);
  });

  test('nothing outside the Roles is even asked for', async () => {
    const world = await start();
    await deploy(world, 4, policy(0, 0));
    await createIn(world, 'other', 100);
    await annotate(world, policy(50, 0));
    await untilSides(world, 'web', 2, 2);
    const own = world.server.accessLog.entries().filter((access) => access.user === user);
    const asked = new Set(own.map(({ namespace: where, resource }) => `${where ?? '-'}/${resource}`));
    for (const what of asked) expect(what).toMatch(/^(shop|spotalis-system)\//);
  });

  test('one of several that is deleted, and its Role with it, holds up none of the others', async () => {
    const manifests = readManifests('rbac-namespaced.yaml');
    const inMail = manifests.flatMap((object) =>
      object.metadata?.namespace === 'shop' ? [{ ...object, metadata: { ...object.metadata, namespace: 'mail' } }] : [],
    );
    const role = inMail.find(({ kind }) => kind === 'Role') ?? {};
    const objects = [namespace('shop'), namespace('mail'), ...manifests, ...inMail];
    const both = 'controllers:\n  watchNamespaces: [mail, shop]';
    const world = await createEmbeddedWorld({ config: both, rbac: { objects, user } });
    onTestFinished(() => world.stop());
    await world.startOperator();
    await createIn(world, 'mail', 0);
    await deploy(world, 4, policy(50, 0));
    await world.api.delete(roles, 'stowage', { namespace: 'mail' });
    // Watches last ten minutes at most.
    await world.clock.advance(20 * MINUTE);
    await annotate(world, policy(100, 0));
    await untilSides(world, 'web', 4, 0);
    expect(world.evictions).toHaveLength(2);

    const stopping = world.operator().stop();
    await world.clock.advance(2_000);
    await stopping;
    await world.startOperator('test_2');
    let isSynced = false;
    void world.operator().synced.then(() => {
      isSynced = true;
    });
    await world.until('it has begun anew', () => isSynced);
    await patchDeployment(world, { replicas: 6 });
    await untilSides(world, 'web', 6, 0);
    expect(world.evictions).toHaveLength(2);

    await world.api.create(roles, role, { namespace: 'mail' });
    await world.clock.advance(2 * MINUTE);
    const body = { metadata: { annotations: policy(100, 0) } };
    await world.api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace: 'mail' });
    await world.until('it is placed again', async () => (await sidesIn(world, 'mail')).spot === 4);
  });

  test('Argo Rollouts of these namespaces are followed where a Role allows it', async () => {
    const world = await start();
    const allow: KubeObject & { rules: unknown } = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'stowage', namespace: 'shop' },
      rules: [
        ...((
          readManifests('rbac-namespaced.yaml').find(({ metadata }) => metadata?.namespace === 'shop') as typeof allow
        ).rules as unknown[]),
        { apiGroups: ['argoproj.io'], resources: ['rollouts'], verbs: ['get', 'list', 'watch'] },
      ],
    };
    await world.api.create(customResourceDefinitions, rolloutDefinition());
    await world.api.replace(roles, allow, inShop);
    await world.clock.advance(2 * MINUTE);
    await createRollout(world, { name: 'web', replicas: 4, annotations: policy(50, 0) });
    await untilSides(world, 'web', 2, 2);
    expect(world.operator().explain({ kind: 'Rollout', ...inShop, name: 'web' })?.plan.target).toEqual({
      spot: 2,
      onDemand: 2,
    });
  });

  test('nodes are known by the pods that are pinned to them: unsteered pods elsewhere are of unknown side and stay', async () => {
    const world = await start();
    world.setWebhookUp(false);
    await deploy(world, 4, policy(100, 0));
    world.setWebhookUp(true);
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toEqual([]);
    const explanation = world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' });
    expect(explanation?.plan.actual).toEqual({ spot: 0, onDemand: 0, unknown: 4 });
    expect(explanation?.plan.pods.every(({ state }) => state === 'unknown')).toBe(true);
  });

  test('without an autoscaler no room can be proved: moves are blocked, and it is told', async () => {
    const world = await start(
      '\n  nodeClassifier:\n    spotLabels: [{ matchLabels: { "karpenter.sh/capacity-type": spot } }]\n    onDemandLabels: [{ matchLabels: { "karpenter.sh/capacity-type": on-demand } }]',
    );
    await deploy(world, 4, policy(50, 0));
    expect(await world.sides('shop', 'web')).toEqual({ spot: 2, 'on-demand': 2, pending: 0 });
    await annotate(world, policy(100, 0));
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toEqual([]);
    const explanation = world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' });
    expect(explanation?.decisions[0]?.blocks[0]?.reason).toBe('NoRoomOnSide');
  });
});

describe('hazard H32: a default that flips from 0 to 100 % for 120 workloads', () => {
  const budget = 10;
  const textOf = (spotPercentage: number) =>
    `placement:\n  maxConcurrentEvictions: ${budget}\n  defaults:\n    spotPercentage: ${spotPercentage}`;

  /** Pods take a while to end, so that evictions overlap. */
  function slowDeployment(name: string) {
    const deployment = deploymentObject({ name, replicas: 2 });
    const annotations = { 'stowage.test/stop-after': '5s' };
    const template = { ...deployment.spec?.template, metadata: { labels: { app: name }, annotations } };
    return { ...deployment, spec: { ...deployment.spec, selector: { matchLabels: { app: name } }, template } };
  }

  test('never more evictions at once than the budget, and nobody has a second one before everybody had a first', async () => {
    const world = await createEmbeddedWorld({ config: textOf(0), spotNodes: 4, onDemandNodes: 4 });
    onTestFinished(() => world.stop());
    await world.api.create(resources.namespaces, namespace('shop'));
    await world.startOperator();
    const names = Array.from({ length: 120 }, (_, index) => `w${index}`);
    for (const name of names) await world.api.create(resources.deployments, slowDeployment(name), inShop);
    await world.clock.advance(MINUTE);
    const env = { SPOTALIS_WEBHOOK_ENABLED: 'false' };
    world.operator().applyConfig(configOf(textOf(100), env));
    let most = 0;
    await world.until(
      'every workload has moved a pod',
      async () => {
        const { items } = await world.api.list(resources.pods, inShop);
        most = Math.max(most, items.filter((pod) => pod.metadata?.deletionTimestamp !== undefined).length);
        return world.evictions.length >= names.length;
      },
      30 * MINUTE,
    );
    expect(most).toBe(budget);
    const firstRound = world.evictions.slice(0, names.length).map((pod) => pod.split('-')[0]);
    expect(new Set(firstRound).size).toBe(names.length);
  });
});
