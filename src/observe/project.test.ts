import { describe, expect, test } from 'vitest';
import type { Deployment, Namespace, Node, Pod, PodDisruptionBudget, StatefulSet } from '../api/core.ts';
import { createProjections, type Projections } from './project.ts';
import { joinClaim } from './project-cluster.ts';

function setUp(): { project: Projections; skipped: string[] } {
  const skipped: string[] = [];
  return { project: createProjections((message) => skipped.push(message)), skipped };
}

const T0 = '2026-01-31T12:00:00Z';
const T0_MILLIS = Date.parse(T0);

const pod = (fields: { metadata?: object; spec?: object; status?: object } = {}): Pod => ({
  metadata: { name: 'web-1', namespace: 'shop', uid: 'u1', creationTimestamp: T0, ...fields.metadata },
  spec: { containers: [{ name: 'app' }], ...fields.spec },
  status: { phase: 'Running', ...fields.status },
});

describe('pods', () => {
  test('stamps, owner, readiness and volumes are read', () => {
    const { project } = setUp();
    const record = project.pod(
      pod({
        metadata: {
          resourceVersion: '7',
          annotations: {
            'spotalis.io/slot': '4',
            'spotalis.io/capacity': 'spot',
            'spotalis.io/admission-id': 'r1',
            'spotalis.io/unconfirmed': 'true',
            'controller.kubernetes.io/pod-deletion-cost': '-4',
          },
          ownerReferences: [
            { apiVersion: 'x/v1', kind: 'Other', name: 'o', uid: 'o1' },
            { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-abc', uid: 'rs1', controller: true },
          ],
        },
        spec: {
          nodeName: 'n1',
          volumes: [
            { name: 'data', persistentVolumeClaim: { claimName: 'data-web-1' } },
            { name: 'scratch', ephemeral: {} },
            { name: 'config', configMap: {} },
          ],
        },
        status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: T0 }] },
      }),
    );
    expect(record).toMatchObject({
      uid: 'u1',
      namespace: 'shop',
      name: 'web-1',
      resourceVersion: '7',
      owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-abc', uid: 'rs1' },
      ready: true,
      readyChangedAt: T0_MILLIS,
      nodeName: 'n1',
      slot: 4,
      capacity: 'spot',
      admissionId: 'r1',
      unconfirmed: true,
      deletionCost: -4,
      claims: ['data-web-1', 'web-1-scratch'],
      createdAt: T0_MILLIS,
      deletingAt: undefined,
    });
  });

  test('pods of one template share one template record, whatever their own labels are', () => {
    const { project } = setUp();
    const ofOrdinal = (ordinal: number) =>
      project.pod(
        pod({
          metadata: {
            name: `db-${ordinal}`,
            labels: {
              app: 'db',
              'statefulset.kubernetes.io/pod-name': `db-${ordinal}`,
              'apps.kubernetes.io/pod-index': `${ordinal}`,
            },
          },
        }),
      );
    expect(ofOrdinal(0)?.template).toBe(ofOrdinal(1)?.template);
    expect(ofOrdinal(0)?.template.labels).toEqual({ app: 'db' });
  });

  test.each([
    ['0', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['01', undefined],
    ['12', 12],
  ])('slot %j is read as %j', (text, slot) => {
    expect(setUp().project.pod(pod({ metadata: { annotations: { 'spotalis.io/slot': text } } }))?.slot).toBe(slot);
  });

  test.each([
    ['+5', 0],
    ['007', 0],
    ['3000000000', 0],
    ['-2147483648', -2147483648],
    ['12', 12],
  ])('deletion cost %j counts as %j, as the ReplicaSet controller reads it', (text, cost) => {
    const annotations = { 'controller.kubernetes.io/pod-deletion-cost': text };
    expect(setUp().project.pod(pod({ metadata: { annotations } }))?.deletionCost).toBe(cost);
  });

  test.each<[Record<string, string>, string | undefined]>([
    [{ 'karpenter.sh/do-not-disrupt': 'true' }, 'karpenter.sh/do-not-disrupt'],
    [{ 'karpenter.sh/do-not-disrupt': '2h' }, 'karpenter.sh/do-not-disrupt'],
    [{ 'karpenter.sh/do-not-disrupt': 'false' }, undefined],
    [{ 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' }, 'cluster-autoscaler.kubernetes.io/safe-to-evict'],
    [{ 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' }, undefined],
  ])('%j is protected by %j', (annotations, expected) => {
    expect(setUp().project.pod(pod({ metadata: { annotations } }))?.protectedBy).toBe(expected);
  });

  test.each<[object, boolean]>([
    [{ resize: 'InProgress' }, true],
    [{ resize: 'Infeasible' }, false],
    [{ conditions: [{ type: 'PodResizeInProgress', status: 'True' }] }, true],
    [{ conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Deferred' }] }, true],
    [{ conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] }, false],
    [{ conditions: [{ type: 'PodResizeInProgress', status: 'False' }] }, false],
  ])('status %j: resizing is %j', (status, expected) => {
    expect(setUp().project.pod(pod({ status }))?.resizing).toBe(expected);
  });

  test('only the reason Unschedulable starts the clock of an unschedulable pod', () => {
    const { project } = setUp();
    const since = (reason: string) =>
      project.pod(
        pod({ status: { conditions: [{ type: 'PodScheduled', status: 'False', reason, lastTransitionTime: T0 }] } }),
      )?.unschedulableSince;
    expect(since('Unschedulable')).toBe(T0_MILLIS);
    expect(since('SchedulingGated')).toBeUndefined();
  });

  test.each<[string, object, boolean]>([
    [
      'required anti-affinity',
      { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } },
      true,
    ],
    [
      'preferred anti-affinity',
      { affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{}] } } },
      false,
    ],
    ['hard spread', { topologySpreadConstraints: [{ whenUnsatisfiable: 'DoNotSchedule' }] }, true],
    ['soft spread', { topologySpreadConstraints: [{ whenUnsatisfiable: 'ScheduleAnyway' }] }, false],
  ])('%s: placement rules %j -> %j', (_, spec, expected) => {
    expect(setUp().project.pod(pod({ spec }))?.template.hasPodPlacementRules).toBe(expected);
  });
});

describe('memory', () => {
  test('templates that differ share what they have in common', () => {
    const project = createProjections(() => {});
    const podOf = (app: string): Pod => ({
      metadata: { name: app, namespace: 'shop', labels: { app } },
      spec: {
        containers: [{ name: 'c', resources: { requests: { cpu: '250m', memory: '64Mi' } } }],
        nodeSelector: { pool: 'spot' },
        tolerations: [{ key: 'spot', operator: 'Exists' }],
      },
    });
    const one = project.pod(podOf('one'))?.template;
    const two = project.pod(podOf('two'))?.template;
    expect(one?.labels).not.toEqual(two?.labels);
    expect(one?.tolerations).toEqual([{ key: 'spot', operator: 'Exists', value: '', effect: '' }]);
    expect(one?.tolerations).toBe(two?.tolerations);
    expect(one?.nodeSelector).toBe(two?.nodeSelector);
    expect(one?.requests).toBe(two?.requests);
  });
});

describe('malformed objects', () => {
  test.each<[string, object, string]>([
    ['no name', { spec: {} }, 'metadata.name'],
    ['labels that are a text', pod({ metadata: { labels: 'app=web' } }), 'metadata.labels'],
    [
      'a creation time that is none',
      pod({ metadata: { creationTimestamp: 'yesterday' } }),
      'metadata.creationTimestamp',
    ],
    ['containers that are no list', pod({ spec: { containers: 'app' } }), 'spec.containers'],
    [
      'a quantity that is none',
      pod({ spec: { containers: [{ name: 'a', resources: { requests: { cpu: {} } } }] } }),
      'requests.cpu',
    ],
    ['null in a list', pod({ spec: { containers: [null] } }), 'was skipped'],
  ])('%s: skipped with one message', (_, object, part) => {
    const { project, skipped } = setUp();
    expect(project.pod(object as Pod)).toBeUndefined();
    expect(skipped).toHaveLength(1);
    expect(skipped[0]).toMatch(/^Pod .* was skipped, it cannot be read: /);
    expect(skipped[0]).toContain(part);
  });

  test.each([[null], ['text'], [7], [[]]])('%j instead of an object: skipped', (value) => {
    const { project, skipped } = setUp();
    expect(project.node(value as unknown as Node)).toBeUndefined();
    expect(skipped).toHaveLength(1);
  });
});

describe('nodes', () => {
  const node = (fields: { spec?: object; status?: object; metadata?: object }): Node => ({
    metadata: { name: 'n1', ...fields.metadata },
    spec: { ...fields.spec },
    status: {
      allocatable: { cpu: '4', memory: '8Gi', pods: '58' },
      conditions: [{ type: 'Ready', status: 'True' }],
      ...fields.status,
    },
  });

  test('capacity, readiness and taints are read', () => {
    const record = setUp().project.node(
      node({
        spec: {
          unschedulable: true,
          taints: [
            { key: 'spot', effect: 'NoSchedule' },
            { key: 'odd', effect: 'Whatever' },
          ],
        },
      }),
    );
    expect(record).toMatchObject({
      ready: true,
      unschedulable: true,
      deleting: false,
      allocatable: { cpuMillis: 4000, memoryBytes: 8 * 1024 ** 3 },
      maxPods: 58,
      taints: [{ key: 'spot', value: '', effect: 'NoSchedule' }],
    });
  });

  test.each(['False', 'Unknown'])('Ready=%s is not ready', (status) => {
    expect(setUp().project.node(node({ status: { conditions: [{ type: 'Ready', status }] } }))?.ready).toBe(false);
  });
});

describe('workloads', () => {
  const deployment = (spec: object, status: object = {}): Deployment =>
    ({
      metadata: {
        name: 'web',
        namespace: 'shop',
        uid: 'd1',
        generation: 3,
        labels: { 'spotalis.io/enabled': 'true' },
        annotations: { 'spotalis.io/spot-percentage': '70', 'kubectl.kubernetes.io/restartedAt': T0 },
      },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [] } },
        ...spec,
      },
      status,
    }) as Deployment;

  test('a Deployment', () => {
    expect(
      setUp().project.deployment(
        deployment({ replicas: 10, paused: true }, { observedGeneration: 2, readyReplicas: 9 }),
      ),
    ).toMatchObject({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      generation: 3,
      observedGeneration: 2,
      enabled: true,
      annotations: { 'spotalis.io/spot-percentage': '70' },
      replicas: 10,
      paused: true,
      rollout: { type: 'RollingUpdate', maxSurge: 3, maxUnavailable: 2 },
      status: { ready: 9, updated: 0, available: 0, stuckSince: undefined },
    });
  });

  test.each<[object, number, object]>([
    [{ type: 'Recreate' }, 4, { type: 'Recreate' }],
    [
      { rollingUpdate: { maxSurge: '30%', maxUnavailable: '30%' } },
      10,
      { type: 'RollingUpdate', maxSurge: 3, maxUnavailable: 3 },
    ],
    [
      { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
      10,
      { type: 'RollingUpdate', maxSurge: 2, maxUnavailable: 0 },
    ],
    [
      { rollingUpdate: { maxSurge: 0, maxUnavailable: '1%' } },
      10,
      { type: 'RollingUpdate', maxSurge: 0, maxUnavailable: 1 },
    ],
  ])('strategy %j of %i replicas is %j', (strategy, replicas, expected) => {
    expect(setUp().project.deployment(deployment({ replicas, strategy }))?.rollout).toEqual(expected);
  });

  test.each(['TRUE', 'True', 'yes', '1'])('only an exact "true" enables, not %j', (value) => {
    const object = deployment({});
    expect(
      setUp().project.deployment({
        ...object,
        metadata: { ...object.metadata, labels: { 'spotalis.io/enabled': value } },
      })?.enabled,
    ).toBe(false);
  });

  test('a stuck rollout is known with its time', () => {
    const condition = {
      type: 'Progressing',
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      lastTransitionTime: T0,
    };
    expect(setUp().project.deployment(deployment({}, { conditions: [condition] }))?.status.stuckSince).toBe(T0_MILLIS);
  });

  test('a StatefulSet', () => {
    const object = {
      metadata: { name: 'db', namespace: 'shop', uid: 's1' },
      spec: {
        template: { spec: { containers: [] } },
        ordinals: { start: 5 },
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
      },
      status: { readyReplicas: 1, currentRevision: 'db-1', updateRevision: 'db-2' },
    } as unknown as StatefulSet;
    expect(setUp().project.statefulSet(object)).toMatchObject({
      kind: 'StatefulSet',
      replicas: 1,
      rollout: { type: 'StatefulSet', start: 5, partition: 2, onDelete: false, orderedReady: false },
      status: { ready: 1, available: 1, currentRevision: 'db-1', updateRevision: 'db-2' },
    });
  });
});

describe('namespaces, budgets and volumes', () => {
  test('a namespace being removed is terminating', () => {
    const object: Namespace = {
      metadata: { name: 'shop', labels: { 'spotalis.io/enabled': 'true' } },
      status: { phase: 'Terminating' },
    };
    expect(setUp().project.namespace(object)).toMatchObject({ enabled: true, terminating: true });
  });

  test('a budget whose status lags behind its spec is not observed', () => {
    const budget = (observedGeneration: number): PodDisruptionBudget =>
      ({
        metadata: { name: 'b', generation: 2 },
        spec: {},
        status: { observedGeneration, disruptionsAllowed: 1 },
      }) as PodDisruptionBudget;
    expect(setUp().project.pdb(budget(1))).toMatchObject({ observed: false, disruptionsAllowed: 1 });
    expect(setUp().project.pdb(budget(2))?.observed).toBe(true);
  });

  test('a bound claim takes the node affinity of its volume; without the volume it counts as unbound', () => {
    const { project } = setUp();
    const claim = project.claim({
      metadata: { name: 'c', namespace: 'shop' },
      spec: { volumeName: 'v' },
      status: { phase: 'Bound' },
    });
    const volume = project.volume({
      metadata: { name: 'v' },
      spec: {
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] },
        },
      },
    });
    if (claim === undefined) throw new Error('the claim was not read');
    expect(joinClaim(claim, volume)).toEqual({
      namespace: 'shop',
      name: 'c',
      bound: true,
      requiredNodeTerms: [{ expressions: [{ key: 'zone', operator: 'In', values: ['a'] }], fields: [] }],
    });
    expect(joinClaim(claim, undefined).bound).toBe(false);
  });
});
