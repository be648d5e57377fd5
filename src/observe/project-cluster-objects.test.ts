import { describe, expect, test } from 'vitest';
import type { Deployment, Namespace, Node, PodDisruptionBudget, ReplicaSet, StatefulSet } from '../api/core.ts';
import { createProjections, type Projections } from './project.ts';
import { joinClaim } from './project-cluster.ts';

function setUp(): { project: Projections; skipped: string[] } {
  const skipped: string[] = [];
  return { project: createProjections((message) => skipped.push(message)), skipped };
}

const T0 = '2026-01-31T12:00:00Z';
const T0_MILLIS = Date.parse(T0);

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

  test.each([
    ['250', 250],
    ['1k', 1_000],
    ['2k', 2_000],
  ])('room for %s pods, as kubelets write it', (pods, expected) => {
    const { project, skipped } = setUp();
    const allocatable = { cpu: '4', memory: '8Gi', pods };
    expect(project.node(node({ status: { allocatable } }))?.maxPods).toBe(expected);
    expect(skipped).toEqual([]);
  });

  test('devices, local storage and huge pages are read; what it has none of, volumes and pods are left out', () => {
    const allocatable = {
      cpu: '4',
      memory: '8Gi',
      pods: '58',
      'ephemeral-storage': '95Gi',
      'hugepages-1Gi': '0',
      'hugepages-2Mi': '64Mi',
      'nvidia.com/gpu': '2',
      'attachable-volumes-aws-ebs': '25',
    };
    expect(setUp().project.node(node({ status: { allocatable } }))?.extraAllocatable).toEqual({
      'ephemeral-storage': 95 * 1024 ** 3,
      'hugepages-2Mi': 64 * 1024 ** 2,
      'nvidia.com/gpu': 2,
    });
    expect(setUp().project.node(node({}))?.extraAllocatable).toBeUndefined();
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

  test('minReadySeconds of every kind of workload; 0 is as good as none', () => {
    const { project } = setUp();
    const set = {
      metadata: { name: 'db', namespace: 'shop' },
      spec: { ...deployment({}).spec, serviceName: 'db', minReadySeconds: 7 },
    };
    const bare = { metadata: { name: 'rs', namespace: 'shop' }, spec: { minReadySeconds: 5 } };
    expect([
      project.deployment(deployment({ minReadySeconds: 30 }))?.minReadyMillis,
      project.statefulSet(set as StatefulSet)?.minReadyMillis,
      project.replicaSet(bare as ReplicaSet)?.workload?.minReadyMillis,
    ]).toEqual([30_000, 7_000, 5_000]);
    expect(project.deployment(deployment({ minReadySeconds: 0 }))).not.toHaveProperty('minReadyMillis');
    expect(project.deployment(deployment({}))).not.toHaveProperty('minReadyMillis');
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

  test.each<[string, string | undefined, boolean]>([
    ['nothing', undefined, true],
    ['OrderedReady', 'OrderedReady', true],
    ['Parallel', 'Parallel', false],
  ])('case 63: a StatefulSet that says %s of its order', (_, podManagementPolicy, orderedReady) => {
    const object = {
      metadata: { name: 'db', namespace: 'shop', uid: 's1' },
      spec: { selector: {}, template: { spec: { containers: [] } }, podManagementPolicy },
    } as unknown as StatefulSet;
    expect(setUp().project.statefulSet(object)).toMatchObject({ rollout: { type: 'StatefulSet', orderedReady } });
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

  test('a bound claim takes the node affinity of its volume; without the volume no node is known to reach it', () => {
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
    expect(joinClaim(claim, undefined)).toMatchObject({ bound: false, requiredNodeTerms: [] });
  });
});
