import { describe, expect, test } from 'vitest';
import type { ReplicaSet } from '../api/core.ts';
import { createProjections } from './project.ts';
import type { OwnerObject } from './project-owner.ts';

const rollouts = { group: 'argoproj.io', version: 'v1alpha1', plural: 'rollouts', kind: 'Rollout', namespaced: true };
const metadata = {
  name: 'web',
  namespace: 'shop',
  uid: 'uid-web',
  generation: 7,
  labels: { 'spotalis.io/enabled': 'true' },
  annotations: { 'spotalis.io/spot-percentage': '70', other: 'x' },
};

function setUp() {
  const skipped: string[] = [];
  const project = createProjections((message) => skipped.push(message));
  const owner = (more: Partial<OwnerObject>) => project.owner(rollouts)({ metadata, ...more });
  return { skipped, owner, replicaSet: project.replicaSet };
}

describe('an Argo Rollout', () => {
  test('is read like a Deployment: enabled, annotations, replicas, counts', () => {
    const record = setUp().owner({
      spec: {
        replicas: 5,
        minReadySeconds: 20,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { nodeSelector: { disk: 'ssd' }, containers: [] } },
      },
      status: { observedGeneration: '7', replicas: 6, updatedReplicas: 2, readyReplicas: 5, availableReplicas: 4 },
    });
    expect(record).toMatchObject({
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Rollout',
      uid: 'uid-web',
      enabled: true,
      annotations: { 'spotalis.io/spot-percentage': '70' },
      replicas: 5,
      minReadyMillis: 20_000,
      generation: 7,
      observedGeneration: 7,
      paused: false,
      template: { labels: { app: 'web' }, nodeSelector: { disk: 'ssd' } },
      status: { replicas: 6, updated: 2, ready: 5, available: 4 },
    });
  });

  test('without anything in it has one replica, no template and no news', () => {
    expect(setUp().owner({})).toMatchObject({
      replicas: 1,
      observedGeneration: 0,
      template: { labels: {}, nodeSelector: {} },
      status: { replicas: 0, updated: 0, stuckSince: undefined },
    });
  });

  test.each<[string, Partial<OwnerObject>, boolean]>([
    ['spec.paused', { spec: { paused: true } }, true],
    ['a step of its canary', { status: { pauseConditions: [{ reason: 'CanaryPauseStep' }] } }, true],
    ['no step', { status: { pauseConditions: [] } }, false],
  ])('paused by %s', (_, more, paused) => {
    expect(setUp().owner(more)?.paused).toBe(paused);
  });

  test.each([
    ['12', 12],
    [12, 12],
    ['6f8b7c', 0],
    ['', 0],
    [undefined, 0],
  ])('the observed generation %j is %i', (value, generation) => {
    const status = value === undefined ? {} : { observedGeneration: value };
    expect(setUp().owner({ status })?.observedGeneration).toBe(generation);
  });

  test('tells since when it is stuck', () => {
    const condition = {
      type: 'Progressing',
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      lastTransitionTime: '2026-01-31T12:00:00Z',
    };
    const { status } = setUp().owner({ status: { conditions: [condition] } }) ?? {};
    expect(status?.stuckSince).toBe(Date.UTC(2026, 0, 31, 12));
  });

  test('that cannot be read is left out, with its kind and name', () => {
    const { owner, skipped } = setUp();
    expect(owner({ spec: { replicas: -1 } })).toBeUndefined();
    expect(skipped).toEqual([expect.stringMatching(/^Rollout shop\/web was skipped.*spec\.replicas/)]);
  });
});

describe('a ReplicaSet', () => {
  const replicaSet = (more: ReplicaSet['metadata'], status: ReplicaSet['status'] = { replicas: 3 }): ReplicaSet => ({
    metadata: { ...metadata, ...more },
    spec: { replicas: 3, selector: {}, template: { spec: { containers: [] } } },
    status,
  });
  const owned = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'web', uid: 'uid-r', controller: true };

  test.each([
    [{ 'pod-template-hash': 'a1' }, 'a1'],
    [{ 'rollouts-pod-template-hash': 'b2' }, 'b2'],
    [{}, ''],
  ])('with the labels %j is of revision %j', (labels, revision) => {
    expect(setUp().replicaSet(replicaSet({ labels }))?.revision).toBe(revision);
  });

  test('that somebody owns is no workload; one that is only listed as a dependant is', () => {
    const { replicaSet: project } = setUp();
    expect(project(replicaSet({ ownerReferences: [owned] }))?.workload).toBeUndefined();
    expect(project(replicaSet({ ownerReferences: [{ ...owned, controller: false }] }))?.workload).toBeDefined();
  });

  test('that nobody owns is a workload that never rolls out', () => {
    const record = setUp().replicaSet(replicaSet({}, { replicas: 1, readyReplicas: 1, observedGeneration: 7 }));
    expect(record?.workload).toMatchObject({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      uid: 'uid-web',
      enabled: true,
      replicas: 3,
      observedGeneration: 7,
      // Pods that are missing are of no other revision.
      status: { replicas: 1, updated: 3, ready: 1 },
    });
    expect(setUp().replicaSet(replicaSet({}, { replicas: 5 }))?.workload?.status).toMatchObject({ updated: 5 });
  });
});
