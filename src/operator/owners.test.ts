import { describe, expect, onTestFinished, test } from 'vitest';
import type { KubeObject, ReplicaSet } from '../api/core.ts';
import { customResourceDefinitions } from '../api/crd/crd.ts';
import { resources } from '../api/resources.ts';
import { createRollout, type Rollout, rolloutDefinition, rollouts, settleRollout } from './testing/argo-rollout.ts';
import {
  createEmbeddedWorld,
  deploymentObject,
  type EmbeddedWorld,
  namespaceObject,
  readManifests,
} from './testing/embedded-world.ts';
import { eventReasons, inShop, MINUTE, podsOf, policy, startWorld, untilReady, untilSides } from './testing/steps.ts';

const patchRollout = (world: EmbeddedWorld, body: object) =>
  world.api.patch(rollouts, 'web', { type: 'merge', body }, inShop);
const explain = (world: EmbeddedWorld, kind: string) => world.operator().explain({ kind, ...inShop, name: 'web' });

/** A world whose API server serves Rollouts before the operator starts. */
async function startWithRollouts(rbac?: readonly KubeObject[]): Promise<EmbeddedWorld> {
  const user = 'system:serviceaccount:spotalis-system:stowage';
  const world = await createEmbeddedWorld(rbac === undefined ? {} : { rbac: { objects: rbac, user } });
  onTestFinished(() => world.stop());
  await world.api.create(resources.namespaces, namespaceObject('shop'));
  await world.api.create(customResourceDefinitions, rolloutDefinition());
  await world.startOperator();
  return world;
}

describe('Argo Rollouts', () => {
  test('a burst of a new Rollout is exact without one eviction, its owner read live', async () => {
    const world = await startWithRollouts();
    await createRollout(world, { name: 'web', replicas: 10, annotations: policy(70) });
    await untilReady(world, 'web', 10);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 7, 'on-demand': 3, pending: 0 });
    await world.clock.advance(2 * MINUTE);
    expect(world.evictions).toEqual([]);
  });

  test('a changed annotation converges; the Rollout itself is never written', async () => {
    const world = await startWithRollouts();
    await createRollout(world, { name: 'web', replicas: 4, annotations: policy(0, 0) });
    await untilReady(world, 'web', 4);
    await patchRollout(world, { metadata: { annotations: policy(50, 0) } });
    await untilSides(world, 'web', 2, 2);
    expect(world.evictions).toHaveLength(2);
    expect(world.operatorWrites.filter((write) => write.includes('rollouts'))).toEqual([]);
    expect(await eventReasons(world)).toContain('EvictedForRebalance');
  });

  test('the number of replicas is that of the Rollout', async () => {
    const world = await startWithRollouts();
    await createRollout(world, { name: 'web', replicas: 4, annotations: policy(50, 0) });
    await untilReady(world, 'web', 4);
    await patchRollout(world, { spec: { replicas: 8 } });
    await settleRollout(world, 'web', 8);
    await world.api.patch(
      resources.replicaSets,
      'web-abc123',
      { type: 'merge', body: { spec: { replicas: 8 } } },
      inShop,
    );
    await untilSides(world, 'web', 4, 4);
    expect(explain(world, 'Rollout')?.plan).toMatchObject({ replicas: 8, target: { spot: 4, onDemand: 4 } });
    expect(world.evictions).toEqual([]);
  });

  test.each<[string, Partial<Rollout>, string]>([
    ['paused by its owner', { spec: { paused: true } }, 'Paused'],
    ['waiting at a step of its canary', { status: { pauseConditions: [{ reason: 'CanaryPauseStep' }] } }, 'Paused'],
    ['in the middle of a rollout', { status: { updatedReplicas: 1 } }, 'RolloutInProgress'],
    ['not observed by its controller', { status: { observedGeneration: '0' } }, 'GenerationNotObserved'],
    ['observed by a hash, as before version 1.0', { status: { observedGeneration: '6f8b' } }, 'GenerationNotObserved'],
  ])('one that is %s is left alone, and it is told why', async (_, change, reason) => {
    const world = await startWithRollouts();
    await createRollout(world, { name: 'web', replicas: 4, annotations: policy(0, 0) });
    await untilReady(world, 'web', 4);
    await patchRollout(world, { metadata: { annotations: policy(50, 0) }, spec: change.spec ?? {} });
    await settleRollout(world, 'web', 4);
    const body = { status: change.status ?? {} };
    await world.api.patch(rollouts, 'web', { type: 'merge', body }, { ...inShop, subresource: 'status' });
    // What was decided in between may be under way.
    const before = world.evictions.length;
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions.length).toBe(before);
    expect(explain(world, 'Rollout')?.decisions[0]?.blocks[0]?.reason).toBe(reason);
  });

  test('a type installed later is followed within two minutes; when it is removed, its workloads are let go of', async () => {
    const world = await startWorld();
    await world.clock.advance(10_000);
    await world.api.create(customResourceDefinitions, rolloutDefinition());
    await world.clock.advance(2 * MINUTE);
    await createRollout(world, { name: 'web', replicas: 4, annotations: policy(50, 0) });
    await untilSides(world, 'web', 2, 2);
    expect(explain(world, 'Rollout')).toBeDefined();
    await world.api.delete(customResourceDefinitions, 'rollouts.argoproj.io');
    await world.until('it is let go of', () => explain(world, 'Rollout') === undefined, 20 * MINUTE);
    // Nothing else is held up by it.
    await world.api.create(
      resources.deployments,
      deploymentObject({ name: 'api', replicas: 4, annotations: policy(50, 0) }),
      inShop,
    );
    await untilSides(world, 'api', 2, 2);
  });
});

describe('the right to read Rollouts', () => {
  test('without it they are not touched, and everything else works', async () => {
    const world = await startWithRollouts(readManifests('rbac.yaml'));
    await createRollout(world, { name: 'web', replicas: 4, annotations: policy(100, 0) });
    await untilReady(world, 'web', 4);
    const pods = await podsOf(world, 'web');
    expect(pods.every(({ spec }) => spec?.nodeSelector === undefined)).toBe(true);
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect(explain(world, 'Rollout')).toBeUndefined();
  });

  test('deploy/rbac-argo.yaml gives exactly what is needed', async () => {
    const argo = readManifests('rbac-argo.yaml');
    const world = await startWithRollouts([...readManifests('rbac.yaml'), ...argo]);
    await createRollout(world, { name: 'web', replicas: 4, annotations: policy(0, 0) });
    await untilReady(world, 'web', 4);
    await patchRollout(world, { metadata: { annotations: policy(50, 0) } });
    await untilSides(world, 'web', 2, 2);
    const verbs = world.server.accessLog
      .entries()
      .filter(({ user, resource }) => user.endsWith(':stowage') && resource === 'rollouts')
      .map(({ verb }) => verb);
    expect(verbs).toEqual(expect.arrayContaining(['list', 'watch']));
    expect(verbs.filter((verb) => !['get', 'list', 'watch'].includes(verb))).toEqual([]);
  });
});

describe('a ReplicaSet that nobody owns', () => {
  const replicaSet = (replicas: number, spotPercentage: number): ReplicaSet => {
    const { metadata, spec } = deploymentObject({ name: 'web', replicas, annotations: policy(spotPercentage, 0) });
    return {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { ...metadata },
      spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: spec?.template ?? {} },
    };
  };

  test('is placed exactly, and converges', async () => {
    const world = await startWorld();
    await world.api.create(resources.replicaSets, replicaSet(6, 50), inShop);
    await untilReady(world, 'web', 6);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 3, 'on-demand': 3, pending: 0 });
    expect(world.evictions).toEqual([]);
    const body = { metadata: { annotations: policy(0, 0) } };
    await world.api.patch(resources.replicaSets, 'web', { type: 'merge', body }, inShop);
    await untilSides(world, 'web', 0, 6);
    expect(world.evictions).toHaveLength(3);
  });

  test('is let go of when it is adopted: it is its owner that counts then', async () => {
    const world = await startWorld();
    await world.api.create(resources.replicaSets, replicaSet(2, 0), inShop);
    await untilReady(world, 'web', 2);
    expect(explain(world, 'ReplicaSet')).toBeDefined();
    const owner = { apiVersion: 'example.com/v1', kind: 'Fleet', name: 'web', uid: 'fleet-1', controller: true };
    const body = { metadata: { ownerReferences: [owner], annotations: policy(100, 0) } };
    await world.api.patch(resources.replicaSets, 'web', { type: 'merge', body }, inShop);
    await world.clock.advance(MINUTE);
    expect(explain(world, 'ReplicaSet')).toBeUndefined();
    expect(world.evictions).toEqual([]);
  });
});
