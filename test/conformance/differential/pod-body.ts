/** Pods as users and Stowage write them. */
import type { Draw } from '../../../src/simulator/chaos/draw.ts';
import type { Json } from '../endpoint.ts';
import { NO_SCHEDULER } from '../objects.ts';

function resources(draw: Draw): Json {
  return draw.pick<Json>([
    {},
    { resources: { requests: { cpu: '100m', memory: '64Mi' } } },
    { resources: { requests: { cpu: '0.25', memory: '1.5Gi' }, limits: { cpu: '1', memory: '2Gi' } } },
    { resources: { limits: { cpu: '500m', memory: '128Mi' } } },
    { resources: { requests: { cpu: '200m', memory: '100Mi' }, limits: { cpu: '200m', memory: '100Mi' } } },
  ]);
}

function container(draw: Draw, name: string): Json {
  return {
    name,
    image: draw.pick([
      'example.test/app:1',
      'app',
      'registry.test:5000/app@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    ]),
    ...resources(draw),
    ...(draw.chance(0.3) ? { ports: [{ containerPort: 8080, name: 'http' }] } : {}),
    ...(draw.chance(0.3)
      ? {
          env: [
            { name: 'A', value: '1' },
            { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          ],
        }
      : {}),
    ...(draw.chance(0.2) ? { readinessProbe: { httpGet: { port: 8080 } }, command: ['run'], args: ['-v'] } : {}),
    ...(draw.chance(0.2) ? { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] } : {}),
  };
}

const AFFINITY: Json = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'In', values: ['spot'] }] }],
    },
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 10, preference: { matchExpressions: [{ key: 'zone', operator: 'Exists' }] } },
    ],
  },
};

function podSpec(draw: Draw): Json {
  return {
    containers: [container(draw, 'main'), ...(draw.chance(0.3) ? [container(draw, 'side')] : [])],
    ...(draw.chance(0.15)
      ? { initContainers: [{ ...container(draw, 'init'), ...(draw.chance(0.5) ? { restartPolicy: 'Always' } : {}) }] }
      : {}),
    ...(draw.chance(0.3) ? { tolerations: [{ key: 'spot', operator: 'Exists', effect: 'NoSchedule' }] } : {}),
    ...(draw.chance(0.2) ? { affinity: AFFINITY } : {}),
    ...(draw.chance(0.2) ? { nodeSelector: { pool: 'spot' } } : {}),
    ...(draw.chance(0.2)
      ? {
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'zone',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: { app: 'a' } },
            },
          ],
        }
      : {}),
    ...(draw.chance(0.2)
      ? {
          volumes: [
            { name: 'tmp', emptyDir: {} },
            { name: 'conf', configMap: { name: 'a' } },
          ],
        }
      : {}),
    ...(draw.chance(0.2) ? { terminationGracePeriodSeconds: draw.pick([0, 5]) } : {}),
    ...(draw.chance(0.1) ? { serviceAccountName: 'runner' } : {}),
    ...(draw.chance(0.1) ? { priorityClassName: 'system-cluster-critical' } : {}),
    ...(draw.chance(0.15) ? { securityContext: { runAsNonRoot: true } } : {}),
  };
}

/** Where chance says so the pod is on a node from the start. */
export function podBody(draw: Draw): Json {
  return {
    metadata: {
      ...(draw.chance(0.8) ? { labels: { app: draw.pick(['a', 'b']) } } : {}),
      ...(draw.chance(0.3) ? { annotations: { 'spotalis.io/note': 'x' } } : {}),
      ...(draw.chance(0.15) ? { finalizers: ['example.com/keep'] } : {}),
    },
    spec: {
      schedulerName: NO_SCHEDULER,
      ...podSpec(draw),
      ...(draw.chance(0.5) ? { nodeName: 'node-x' } : {}),
      ...(draw.chance(0.2) ? { restartPolicy: draw.pick(['Never', 'OnFailure']) } : {}),
    },
  };
}

export function podTemplate(draw: Draw, restartPolicy?: string): Json {
  return {
    metadata: { labels: { app: 'a' } },
    spec: { ...podSpec(draw), ...(restartPolicy === undefined ? {} : { restartPolicy }) },
  };
}
