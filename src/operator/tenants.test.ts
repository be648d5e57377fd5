import { describe, expect, onTestFinished, test } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { createEmbeddedWorld, deploymentObject, type EmbeddedWorld, readManifests } from './testing/embedded-world.ts';
import { annotate, deploy, inShop, MINUTE, policy, untilReady, untilSides } from './testing/steps.ts';

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

describe('many tenants and one budget', () => {
  /** Pods take a while to end, so that evictions overlap. */
  async function createSlow(world: EmbeddedWorld, name: string): Promise<void> {
    const deployment = deploymentObject({ name, replicas: 2, annotations: policy(0, 0) });
    const annotations = { 'stowage.test/stop-after': '5s' };
    const template = { ...deployment.spec?.template, metadata: { labels: { app: name }, annotations } };
    const spec = { ...deployment.spec, selector: { matchLabels: { app: name } }, template };
    await world.api.create(resources.deployments, { ...deployment, spec }, inShop);
  }

  test('hazard H32: a default that flips from 0 to 100 % on 60 workloads: never more than the budget at once, no second turn before every first', async () => {
    const config = 'placement:\n  maxConcurrentEvictions: 6';
    const world = await createEmbeddedWorld({ config, spotNodes: 4, onDemandNodes: 4 });
    onTestFinished(() => world.stop());
    await world.api.create(resources.namespaces, namespace('shop'));
    await world.startOperator();
    const names = Array.from({ length: 60 }, (_, index) => `w${index}`);
    for (const name of names) await createSlow(world, name);
    for (const name of names) await untilReady(world, name, 2);
    await world.clock.advance(15_000);
    const body = { metadata: { annotations: policy(100, 0) } };
    for (const name of names) await world.api.patch(resources.deployments, name, { type: 'merge', body }, inShop);
    let most = 0;
    await world.until(
      'every pod has moved',
      async () => {
        const { items } = await world.api.list(resources.pods, inShop);
        most = Math.max(most, items.filter((pod) => pod.metadata?.deletionTimestamp !== undefined).length);
        return world.evictions.length >= 2 * names.length;
      },
      30 * MINUTE,
    );
    expect(most).toBe(6);
    expect(world.evictions).toHaveLength(2 * names.length);
    const firstRound = world.evictions.slice(0, names.length).map((pod) => pod.split('-')[0]);
    expect(new Set(firstRound).size).toBe(names.length);
  });
});
