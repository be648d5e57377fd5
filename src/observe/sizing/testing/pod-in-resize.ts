import type { Pod } from '../../../api/core.ts';

export const NOON = '2026-03-02T12:00:00Z';

/** As a kubelet of 1.37 reports it, in the middle of a resize. */
export const pod = {
  metadata: {
    name: 'web-1',
    namespace: 'shop',
    generation: 3,
    annotations: { 'optipod.io/applied': 'x', other: 'y' },
    labels: { app: 'web', 'mbcas.io/managed': 'true', 'optipod.io/no-mark': 'a label' },
    managedFields: [
      {
        manager: 'kube-controller-manager',
        operation: 'Update',
        fieldsV1: {
          'f:spec': { 'f:containers': { 'k:{"name":"app"}': { 'f:resources': { 'f:requests': { 'f:cpu': {} } } } } },
        },
      },
      {
        manager: 'optipod',
        operation: 'Update',
        subresource: 'resize',
        fieldsV1: {
          'f:spec': { 'f:containers': { 'k:{"name":"app"}': { 'f:resources': { 'f:requests': { 'f:cpu': {} } } } } },
        },
      },
    ],
  },
  spec: {
    priority: 1000,
    priorityClassName: 'high',
    containers: [
      {
        name: 'app',
        resources: { requests: { cpu: '0.3', memory: '64Mi' }, limits: { memory: '128Mi' } },
        resizePolicy: [
          { resourceName: 'cpu', restartPolicy: 'NotRequired' },
          { resourceName: 'memory', restartPolicy: 'RestartContainer' },
        ],
        readinessProbe: { httpGet: { path: '/', port: 80 } },
      },
      { name: 'bare' },
    ],
    initContainers: [
      { name: 'setup', resources: { requests: { cpu: '4' } } },
      { name: 'proxy', restartPolicy: 'Always', resources: { limits: { cpu: '50m' } } },
    ],
  },
  status: {
    qosClass: 'Burstable',
    observedGeneration: 2,
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'PodResizePending', status: 'True', reason: 'Deferred', message: 'no room', lastTransitionTime: NOON },
    ],
    containerStatuses: [
      {
        name: 'app',
        ready: true,
        restartCount: 2,
        state: { running: { startedAt: NOON } },
        lastState: { terminated: { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON } },
        allocatedResources: { cpu: '200m', memory: '64Mi' },
        resources: { requests: { cpu: '200m', memory: '64Mi' }, limits: { memory: '128Mi' } },
      },
    ],
    initContainerStatuses: [
      { name: 'setup', ready: true, restartCount: 0, state: { terminated: { exitCode: 0 } } },
      { name: 'proxy', ready: true, restartCount: 0, state: { running: {} } },
    ],
  },
} as unknown as Pod;

/** The same with these fields of its parts. */
export const changed = (spec: object, status: object = {}, metadata: object = {}): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, ...metadata },
  spec: { ...pod.spec, ...spec } as NonNullable<Pod['spec']>,
  status: { ...pod.status, ...status },
});
