/** Pods and what keeps, scales and protects them, as Stowage and its users write them. */
import type { Draw } from '../../../src/simulator/chaos/draw.ts';
import type { Json } from '../endpoint.ts';
import { type DrawnKind, drawLabels } from './drawn-kind.ts';
import { podBody, podTemplate } from './pod-body.ts';

function workloadBody(draw: Draw, more: Json = {}): Json {
  return {
    metadata: drawLabels(draw),
    spec: {
      ...(draw.chance(0.7) ? { replicas: draw.between(0, 3) } : {}),
      selector: { matchLabels: { app: 'a' } },
      template: podTemplate(draw),
      ...more,
    },
  };
}

const replicasStatus = (draw: Draw): Json => ({
  replicas: draw.between(0, 3),
  readyReplicas: draw.between(0, 3),
  availableReplicas: draw.between(0, 2),
  observedGeneration: draw.between(0, 2),
});

const SCALED = ['status', 'scale'];

export const workloadKinds: readonly DrawnKind[] = [
  {
    plural: 'pods',
    apiVersion: 'v1',
    kind: 'Pod',
    namespaced: true,
    weight: 14,
    subresources: ['status', 'resize', 'eviction', 'binding', 'ephemeralcontainers'],
    fields: ['metadata.name', 'spec.nodeName', 'status.phase', 'spec.schedulerName', 'spec.restartPolicy'],
    body: podBody,
    status: (draw) => ({
      phase: draw.pick(['Pending', 'Running', 'Succeeded', 'Failed']),
      conditions: [
        { type: 'Ready', status: draw.pick(['True', 'False']), lastTransitionTime: '2026-01-01T00:00:00Z' },
        ...(draw.chance(0.3) ? [{ type: 'Extra', status: 'Unknown', reason: 'Why' }] : []),
      ],
      ...(draw.chance(0.5) ? { podIP: '10.1.2.3', podIPs: [{ ip: '10.1.2.3' }], hostIP: '10.0.0.9' } : {}),
    }),
  },
  {
    plural: 'deployments',
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespaced: true,
    weight: 9,
    subresources: SCALED,
    body: (draw) =>
      workloadBody(draw, {
        ...(draw.chance(0.5)
          ? {
              strategy: draw.pick<Json>([
                { type: 'Recreate' },
                { rollingUpdate: { maxSurge: 1, maxUnavailable: '10%' } },
              ]),
            }
          : {}),
        ...(draw.chance(0.3) ? { minReadySeconds: 5, revisionHistoryLimit: 2, paused: true } : {}),
        ...(draw.chance(0.3) ? { progressDeadlineSeconds: 60 } : {}),
      }),
    status: replicasStatus,
  },
  {
    plural: 'replicasets',
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    namespaced: true,
    weight: 3,
    subresources: SCALED,
    fields: ['status.replicas'],
    body: (draw) => workloadBody(draw),
    status: replicasStatus,
  },
  {
    plural: 'statefulsets',
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    namespaced: true,
    weight: 4,
    subresources: SCALED,
    body: (draw) =>
      workloadBody(draw, {
        ...(draw.chance(0.6) ? { serviceName: 'a' } : {}),
        ...(draw.chance(0.4) ? { podManagementPolicy: draw.pick(['Parallel', 'OrderedReady']) } : {}),
        ...(draw.chance(0.4)
          ? {
              updateStrategy: draw.pick<Json>([
                { type: 'OnDelete' },
                { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
              ]),
            }
          : {}),
        ...(draw.chance(0.3)
          ? {
              volumeClaimTemplates: [
                {
                  metadata: { name: 'data' },
                  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
                },
              ],
            }
          : {}),
      }),
    status: replicasStatus,
  },
  {
    plural: 'daemonsets',
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    namespaced: true,
    weight: 2,
    subresources: ['status'],
    body: (draw) => ({
      metadata: drawLabels(draw),
      spec: {
        selector: { matchLabels: { app: 'a' } },
        template: podTemplate(draw),
        ...(draw.chance(0.3) ? { updateStrategy: { type: 'OnDelete' } } : {}),
      },
    }),
  },
  {
    plural: 'poddisruptionbudgets',
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    namespaced: true,
    weight: 5,
    subresources: ['status'],
    body: (draw) => ({
      metadata: drawLabels(draw),
      spec: {
        selector: { matchLabels: { app: draw.pick(['a', 'b']) } },
        ...draw.pick<Json>([{ minAvailable: 1 }, { maxUnavailable: '50%' }, { maxUnavailable: 0 }]),
        ...(draw.chance(0.3) ? { unhealthyPodEvictionPolicy: draw.pick(['AlwaysAllow', 'IfHealthyBudget']) } : {}),
      },
    }),
    status: (draw) => ({
      disruptionsAllowed: draw.between(0, 2),
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 2,
      observedGeneration: draw.between(0, 2),
    }),
  },
  {
    plural: 'jobs',
    apiVersion: 'batch/v1',
    kind: 'Job',
    namespaced: true,
    weight: 3,
    subresources: ['status'],
    body: (draw) => ({
      metadata: drawLabels(draw),
      spec: {
        template: podTemplate(draw, draw.pick(['Never', 'OnFailure'])),
        ...(draw.chance(0.5) ? { completions: 2, parallelism: 2, backoffLimit: 3 } : {}),
        ...(draw.chance(0.2) ? { suspend: true } : {}),
        ...(draw.chance(0.2) ? { ttlSecondsAfterFinished: 60, activeDeadlineSeconds: 30 } : {}),
      },
    }),
  },
  {
    plural: 'cronjobs',
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    namespaced: true,
    weight: 2,
    body: (draw) => ({
      metadata: drawLabels(draw),
      spec: {
        schedule: draw.pick(['*/5 * * * *', '@hourly']),
        jobTemplate: { spec: { template: podTemplate(draw, 'Never') } },
        ...(draw.chance(0.3) ? { concurrencyPolicy: 'Forbid', timeZone: 'Europe/Berlin' } : {}),
      },
    }),
  },
  {
    plural: 'horizontalpodautoscalers',
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    namespaced: true,
    weight: 4,
    subresources: ['status'],
    body: (draw) => ({
      metadata: drawLabels(draw),
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
        maxReplicas: 5,
        ...(draw.chance(0.5) ? { minReplicas: 2 } : {}),
        ...(draw.chance(0.6)
          ? {
              metrics: [
                {
                  type: 'Resource',
                  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
                },
              ],
            }
          : {}),
        ...(draw.chance(0.3) ? { behavior: { scaleDown: { stabilizationWindowSeconds: 30 } } } : {}),
      },
    }),
  },
];
