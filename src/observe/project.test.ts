import { describe, expect, test } from 'vitest';
import type { Node, Pod } from '../api/core.ts';
import { createProjections, type Projections } from './project.ts';

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
  test('stamps, owner, readiness and volumes are read; of volumes only those that the next pod will have', () => {
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
      claims: ['data-web-1'],
      createdAt: T0_MILLIS,
      deletingAt: undefined,
    });
  });

  test('a pod that others pinned is told by its stamp', () => {
    const { project } = setUp();
    const pinnedBy = (annotations: object) => project.pod(pod({ metadata: { annotations } }))?.pinned;
    expect([pinnedBy({ 'spotalis.io/pinned': 'true' }), pinnedBy({})]).toEqual([true, undefined]);
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
    [
      { 'descheduler.alpha.kubernetes.io/prefer-no-eviction': '' },
      'descheduler.alpha.kubernetes.io/prefer-no-eviction',
    ],
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

  test.each([
    ['True', 'EvictionByEvictionAPI', T0_MILLIS],
    ['False', 'EvictionByEvictionAPI', undefined],
    ['True', 'DeletionByTaintManager', undefined],
    ['True', 'PreemptionByScheduler', undefined],
  ])('DisruptionTarget %s of reason %s: evicted at %j', (status, reason, expected) => {
    const condition = { type: 'DisruptionTarget', status, reason, lastTransitionTime: T0 };
    expect(setUp().project.pod(pod({ status: { conditions: [condition] } }))?.evictedAt).toBe(expected);
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
    ['a port of the machine', { containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80 }] }] }, true],
    ['a port of its own', { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] }, false],
    ['soft spread', { topologySpreadConstraints: [{ whenUnsatisfiable: 'ScheduleAnyway' }] }, false],
  ])('%s: placement rules %j -> %j', (_, spec, expected) => {
    expect(setUp().project.pod(pod({ spec }))?.template.hasPodPlacementRules).toBe(expected);
  });

  test('hazard H20: required topology spread, with the defaults of the API', () => {
    const web = { matchLabels: { app: 'web' } };
    const spreadOf = (...topologySpreadConstraints: object[]) =>
      setUp().project.pod(pod({ spec: { topologySpreadConstraints } }))?.template.spread;
    const asked = { topologyKey: 'zone', maxSkew: 2, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web };
    const plain = {
      topologyKey: 'zone',
      maxSkew: 2,
      minDomains: 1,
      selector: web,
      matchLabelKeys: [],
      honorsAffinity: true,
      honorsTaints: false,
    };
    expect(spreadOf(asked, { ...asked, whenUnsatisfiable: 'ScheduleAnyway' })).toEqual([plain]);
    const more = {
      minDomains: 3,
      matchLabelKeys: ['pod-template-hash'],
      nodeAffinityPolicy: 'Ignore',
      nodeTaintsPolicy: 'Honor',
    };
    expect(spreadOf({ ...asked, ...more })).toEqual([
      { ...plain, minDomains: 3, matchLabelKeys: ['pod-template-hash'], honorsAffinity: false, honorsTaints: true },
    ]);
    expect(spreadOf({ ...asked, nodeAffinityPolicy: 'Honor', nodeTaintsPolicy: 'Ignore' })).toEqual([plain]);
    expect(spreadOf()).toBeUndefined();
  });

  test('claims of devices', () => {
    const claimsOf = (spec: object) => setUp().project.pod(pod({ spec: { containers: [], ...spec } }))?.template;
    expect(claimsOf({ resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpu' }] })).toMatchObject({
      claimsDevices: true,
    });
    expect(claimsOf({ resourceClaims: [] })?.claimsDevices).toBeUndefined();
  });

  test('hazard H20: required pod affinity: all affinity, and anti-affinity to its like', () => {
    const web = { matchLabels: { app: 'web' } };
    const cache = { matchLabels: { app: 'cache' } };
    const [zone, hostname] = ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'];
    const required = (...terms: object[]) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });
    const podAffinityOf = (affinity: object) =>
      setUp().project.pod(pod({ metadata: { labels: { app: 'web' } }, spec: { affinity } }))?.template.podAffinity;
    const podAffinity = required(
      { topologyKey: hostname, labelSelector: cache },
      { topologyKey: zone, labelSelector: web, namespaceSelector: {}, namespaces: ['prod'] },
      { topologyKey: zone },
      { topologyKey: zone, labelSelector: web, namespaces: ['prod'] },
    );
    const podAntiAffinity = required(
      { topologyKey: zone, labelSelector: web },
      { topologyKey: hostname, labelSelector: web },
      { topologyKey: zone, labelSelector: cache },
      { topologyKey: zone, labelSelector: { matchLabels: {} }, mismatchLabelKeys: ['app'] },
    );
    expect(podAffinityOf({ podAffinity, podAntiAffinity })).toEqual([
      { kind: 'together', topologyKey: hostname, selector: cache, isOwn: false, isElsewhere: false },
      { kind: 'together', topologyKey: zone, selector: web, isOwn: true, isElsewhere: true },
      { kind: 'together', topologyKey: zone, selector: undefined, isOwn: false, isElsewhere: false },
      { kind: 'together', topologyKey: zone, selector: web, isOwn: true, isElsewhere: true, namespaces: ['prod'] },
      { kind: 'apart', topologyKey: zone, selector: web, isOwn: true, isElsewhere: false },
      { kind: 'apart', topologyKey: hostname, selector: web, isOwn: true, isElsewhere: false },
    ]);
    const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [] };
    expect(
      podAffinityOf({ podAffinity: preferred, podAntiAffinity: required({ topologyKey: hostname }) }),
    ).toBeUndefined();
    expect(podAffinityOf({})).toBeUndefined();
  });

  test.each<[string, object, boolean]>([
    ['a port of the machine', { containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80 }] }] }, true],
    [
      'one that a sidecar takes',
      { initContainers: [{ name: 's', ports: [{ containerPort: 80, hostPort: 80 }] }] },
      true,
    ],
    ['a port, on the network of the machine', { hostNetwork: true, containers: [{ name: 'c', ports: [{}] }] }, true],
    ['no port there', { hostNetwork: true, containers: [{ name: 'c' }] }, false],
    ['a port of its own', { containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 0 }] }] }, false],
  ])('hazard H20: with %s a replica needs a machine of its own: %j -> %j', (_, spec, expected) => {
    const apart = { kind: 'apart', topologyKey: 'kubernetes.io/hostname', isOwn: true, isElsewhere: false };
    expect(setUp().project.pod(pod({ spec }))?.template.podAffinity).toEqual(expected ? [apart] : undefined);
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
    ['a node that is no name', pod({ spec: { nodeName: 12, containers: [] } }), 'spec.nodeName'],
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
