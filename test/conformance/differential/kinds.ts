/** All kinds that are drawn; here those of a namespace besides workloads. */
import { clusterKinds } from './cluster-kinds.ts';
import { type DrawnKind, drawLabels } from './drawn-kind.ts';
import { workloadKinds } from './workload-kinds.ts';

const namespacedKinds: readonly DrawnKind[] = [
  {
    plural: 'configmaps',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespaced: true,
    weight: 7,
    body: (draw) => ({
      metadata: { ...drawLabels(draw), ...(draw.chance(0.3) ? { finalizers: ['example.com/keep'] } : {}) },
      data: { key: 'value', ...(draw.chance(0.5) ? { other: draw.pick(['x', '']) } : {}) },
      ...(draw.chance(0.2) ? { binaryData: { bytes: 'AAEC' } } : {}),
      ...(draw.chance(0.15) ? { immutable: true } : {}),
    }),
  },
  {
    plural: 'secrets',
    apiVersion: 'v1',
    kind: 'Secret',
    namespaced: true,
    weight: 2,
    fields: ['type'],
    body: (draw) => ({
      metadata: drawLabels(draw),
      data: { key: 'dmFsdWU=' },
      ...(draw.chance(0.4) ? { stringData: { plain: 'text' } } : {}),
      ...(draw.chance(0.3) ? { type: draw.pick(['Opaque', 'kubernetes.io/tls', 'example.com/own']) } : {}),
    }),
  },
  {
    plural: 'leases',
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    namespaced: true,
    weight: 4,
    body: (draw) => ({
      metadata: drawLabels(draw),
      spec: {
        holderIdentity: draw.pick(['one', 'two']),
        leaseDurationSeconds: draw.between(1, 30),
        renewTime: '2026-01-01T00:00:00.000001Z',
        ...(draw.chance(0.5) ? { acquireTime: '2026-01-01T00:00:00.123456Z', leaseTransitions: 3 } : {}),
      },
    }),
  },
  {
    plural: 'events',
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    namespaced: true,
    weight: 3,
    fields: ['reason', 'type', 'regarding.name', 'regarding.kind'],
    body: (draw) => ({
      metadata: drawLabels(draw),
      eventTime: '2026-01-01T00:00:00.000001Z',
      reportingController: 'example.com/controller',
      reportingInstance: 'one',
      action: 'Evict',
      reason: 'Rebalanced',
      type: draw.pick(['Normal', 'Warning']),
      note: 'a note',
      regarding: { apiVersion: 'v1', kind: 'Pod', name: 'a', namespace: '{{ns}}' },
      ...(draw.chance(0.3) ? { series: { count: 2, lastObservedTime: '2026-01-01T00:00:01.000001Z' } } : {}),
    }),
  },
  {
    plural: 'events',
    apiVersion: 'v1',
    kind: 'Event',
    namespaced: true,
    weight: 2,
    fields: ['reason', 'type', 'involvedObject.name', 'source'],
    body: (draw) => ({
      metadata: drawLabels(draw),
      reason: 'Started',
      message: 'started it',
      type: draw.pick(['Normal', 'Warning']),
      involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'a', namespace: '{{ns}}' },
      source: { component: 'kubelet' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: draw.between(1, 3),
    }),
  },
  {
    plural: 'services',
    apiVersion: 'v1',
    kind: 'Service',
    namespaced: true,
    weight: 3,
    subresources: ['status'],
    body: (draw) => ({
      metadata: drawLabels(draw),
      spec: {
        selector: { app: 'a' },
        ports: [{ port: 80, ...(draw.chance(0.4) ? { name: 'http', targetPort: draw.pick([8080, 'http']) } : {}) }],
        ...(draw.chance(0.4) ? { type: draw.pick(['NodePort', 'LoadBalancer', 'ClusterIP']) } : {}),
        ...(draw.chance(0.2) ? { clusterIP: 'None' } : {}),
      },
    }),
  },
  {
    plural: 'serviceaccounts',
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    namespaced: true,
    weight: 1,
    body: (draw) => ({
      metadata: drawLabels(draw),
      ...(draw.chance(0.5) ? { automountServiceAccountToken: false, imagePullSecrets: [{ name: 'pull' }] } : {}),
    }),
  },
  {
    plural: 'limitranges',
    apiVersion: 'v1',
    kind: 'LimitRange',
    namespaced: true,
    weight: 2,
    body: (draw) => ({
      metadata: drawLabels(draw),
      spec: {
        limits: [
          { type: 'Container', default: { cpu: '500m' }, defaultRequest: { cpu: '100m' }, max: { memory: '1Gi' } },
          ...(draw.chance(0.3) ? [{ type: 'Pod', max: { cpu: '2' } }] : []),
        ],
      },
    }),
  },
  {
    plural: 'optimizationpolicies',
    apiVersion: 'optipod.io/v1alpha1',
    kind: 'OptimizationPolicy',
    namespaced: true,
    weight: 5,
    subresources: ['status'],
    body: (draw) => ({
      metadata: drawLabels(draw),
      spec: {
        mode: draw.pick(['Auto', 'Recommend', 'Disabled']),
        selector: { workloadSelector: { matchLabels: { app: 'a' } } },
        metricsConfig: {
          provider: 'metrics-server',
          ...(draw.chance(0.5) ? { safetyFactor: 1.2, percentile: 'P90' } : {}),
        },
        resourceBounds: { cpu: { min: '10m', max: '4' }, memory: { min: '64Mi', max: '8Gi' } },
        updateStrategy: { allowInPlaceResize: true, allowRecreate: draw.chance(0.5) },
      },
    }),
    status: () => ({
      conditions: [
        { type: 'Ready', status: 'True', reason: 'Valid', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    }),
  },
  {
    plural: 'podallocations',
    apiVersion: 'allocation.mbcas.io/v1alpha1',
    kind: 'PodAllocation',
    namespaced: true,
    weight: 3,
    subresources: ['status'],
    body: (draw) => ({
      metadata: drawLabels(draw),
      spec: {
        podUID: '11111111-1111-4111-8111-111111111111',
        namespace: '{{ns}}',
        podName: 'a',
        desiredCPURequest: draw.pick(['100m', '0.5']),
        desiredCPULimit: draw.pick(['1', '500m']),
      },
    }),
    status: () => ({ phase: 'Applied', appliedCPULimit: '1' }),
  },
  {
    plural: 'roles',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    namespaced: true,
    weight: 1,
    body: (draw) => ({
      metadata: drawLabels(draw),
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', draw.pick(['list', '*'])] }],
    }),
  },
  {
    plural: 'rolebindings',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    namespaced: true,
    weight: 1,
    body: (draw) => ({
      metadata: drawLabels(draw),
      subjects: [{ kind: draw.pick(['User', 'ServiceAccount', 'Group']), name: 'somebody', namespace: '{{ns}}' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: draw.pick(['Role', 'ClusterRole']), name: 'a' },
    }),
  },
];

export const drawnKinds: readonly DrawnKind[] = [...workloadKinds, ...namespacedKinds, ...clusterKinds];
