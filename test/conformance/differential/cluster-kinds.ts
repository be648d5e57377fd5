/** Kinds without a namespace. Their objects do nothing: no other sequence notices them. */
import type { DrawnKind } from './drawn-kind.ts';

export const clusterKinds: readonly DrawnKind[] = [
  {
    plural: 'nodes',
    apiVersion: 'v1',
    kind: 'Node',
    namespaced: false,
    weight: 4,
    subresources: ['status'],
    fields: ['spec.unschedulable'],
    body: (draw) => ({
      metadata: draw.chance(0.5) ? { labels: { pool: draw.pick(['spot', 'on-demand']) } } : {},
      spec: {
        unschedulable: true,
        ...(draw.chance(0.4) ? { taints: [{ key: 'spot', value: 'true', effect: 'NoSchedule' }] } : {}),
        ...(draw.chance(0.3) ? { providerID: 'cloud:///a' } : {}),
      },
    }),
    status: (draw) => ({
      capacity: { cpu: draw.pick(['4', '4000m']), memory: '8Gi', pods: '110' },
      ...(draw.chance(0.5) ? { allocatable: { cpu: '3.9', memory: '7.5Gi', pods: '110' } } : {}),
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' }],
    }),
  },
  {
    plural: 'namespaces',
    apiVersion: 'v1',
    kind: 'Namespace',
    namespaced: false,
    weight: 2,
    subresources: ['status'],
    fields: ['status.phase'],
    body: (draw) => ({
      metadata: {
        ...(draw.chance(0.5) ? { labels: { team: 'x' } } : {}),
        ...(draw.chance(0.3) ? { annotations: { 'spotalis.io/enabled': 'true' } } : {}),
      },
    }),
    status: (draw) => ({ phase: draw.pick(['Active', 'Terminating']) }),
  },
  {
    plural: 'priorityclasses',
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    namespaced: false,
    weight: 2,
    body: (draw) => ({
      metadata: {},
      value: draw.pick([10, -5, 1_000_000_000]),
      ...(draw.chance(0.5) ? { preemptionPolicy: draw.pick(['Never', 'PreemptLowerPriority']) } : {}),
      ...(draw.chance(0.5) ? { description: 'for tests' } : {}),
    }),
  },
  {
    plural: 'storageclasses',
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    namespaced: false,
    weight: 1,
    body: (draw) => ({
      metadata: {},
      provisioner: 'example.com/disk',
      ...(draw.chance(0.5) ? { volumeBindingMode: 'WaitForFirstConsumer', parameters: { kind: 'ssd' } } : {}),
    }),
  },
  {
    plural: 'clusterroles',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    namespaced: false,
    weight: 1,
    body: (draw) => ({
      metadata: {},
      rules: [
        { apiGroups: ['apps'], resources: ['deployments'], verbs: draw.pick([['get'], ['get', 'list', 'watch']]) },
      ],
    }),
  },
  {
    plural: 'mutatingwebhookconfigurations',
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    namespaced: false,
    weight: 2,
    body: (draw) => ({
      metadata: {},
      webhooks: [
        {
          name: 'mutate.example.com',
          clientConfig: draw.pick([
            { url: 'https://127.0.0.1:1/mutate' },
            { service: { namespace: 'x', name: 'y', path: '/mutate' } },
          ]),
          rules: [
            {
              apiGroups: ['nothing.example.com'],
              apiVersions: ['v1'],
              operations: ['CREATE'],
              resources: ['nothings'],
            },
          ],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          ...(draw.chance(0.4) ? { failurePolicy: 'Ignore', timeoutSeconds: 5 } : {}),
          ...(draw.chance(0.3)
            ? { namespaceSelector: { matchExpressions: [{ key: 'x', operator: 'DoesNotExist' }] } }
            : {}),
          ...(draw.chance(0.3)
            ? { matchConditions: [{ name: 'own', expression: "request.userInfo.username != 'x'" }] }
            : {}),
        },
      ],
    }),
  },
  {
    plural: 'validatingadmissionpolicies',
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    namespaced: false,
    weight: 2,
    subresources: ['status'],
    body: (draw) => ({
      metadata: {},
      spec: {
        ...(draw.chance(0.5) ? { failurePolicy: draw.pick(['Fail', 'Ignore']) } : {}),
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['nothing.example.com'],
              apiVersions: ['*'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['nothings'],
            },
          ],
        },
        ...(draw.chance(0.4)
          ? { variables: [{ name: 'node', expression: "object.?spec.?nodeName.orValue('')" }] }
          : {}),
        validations: [
          {
            expression: "object.metadata.name != 'x'",
            ...(draw.chance(0.5) ? { message: 'no x', reason: 'Forbidden' } : {}),
          },
        ],
      },
    }),
  },
  {
    plural: 'validatingadmissionpolicybindings',
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    namespaced: false,
    weight: 1,
    body: (draw) => ({
      metadata: {},
      spec: { policyName: 'some-policy', validationActions: draw.pick([['Deny'], ['Warn', 'Audit']]) },
    }),
  },
];
