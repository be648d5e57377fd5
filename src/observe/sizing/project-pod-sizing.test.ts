import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { createProjections } from '../project.ts';
import { sizingParts } from './compact-pod-sizing.ts';
import { projectPodSizing } from './project-pod-sizing.ts';
import { createSizingInterners } from './sizing-interners.ts';

const MIB = 2 ** 20;
const NOON = '2026-03-02T12:00:00Z';

/** As a kubelet of 1.37 reports it, in the middle of a resize. */
const pod = {
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

const changed = (spec: object, status: object = {}, metadata: object = {}): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, ...metadata },
  spec: { ...pod.spec, ...spec } as NonNullable<Pod['spec']>,
  status: { ...pod.status, ...status },
});
const read = (object: Pod) => projectPodSizing(object, createSizingInterners(100));

describe('what is kept of a pod', () => {
  const sizing = read(pod);

  test('containers and native sidecars, with what a resize of them costs; run-once init containers are not there', () => {
    expect(sizing.containers).toEqual([
      {
        name: 'app',
        isSidecar: false,
        size: { cpuRequest: 300, memoryRequest: 64 * MIB, memoryLimit: 128 * MIB },
        cpuRestart: 'NotRequired',
        memoryRestart: 'RestartContainer',
        hasReadinessProbe: true,
      },
      {
        name: 'bare',
        isSidecar: false,
        size: {},
        cpuRestart: 'NotRequired',
        memoryRestart: 'NotRequired',
        hasReadinessProbe: false,
      },
      {
        name: 'proxy',
        isSidecar: true,
        size: { cpuRequest: 50, cpuLimit: 50 },
        cpuRestart: 'NotRequired',
        memoryRestart: 'NotRequired',
        hasReadinessProbe: false,
      },
    ]);
  });

  test('statuses of those containers, with what is granted and what is in force', () => {
    expect(sizing.statuses).toEqual([
      {
        name: 'app',
        running: true,
        ready: true,
        startedAt: Date.parse(NOON),
        restartCount: 2,
        lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: Date.parse(NOON) },
        actual: { cpuRequest: 200, memoryRequest: 64 * MIB, memoryLimit: 128 * MIB },
        allocated: { cpuRequest: 200, memoryRequest: 64 * MIB },
      },
      {
        name: 'proxy',
        running: true,
        ready: true,
        startedAt: undefined,
        restartCount: 0,
        lastTermination: undefined,
        actual: undefined,
        allocated: undefined,
      },
    ]);
  });

  test('the rest', () => {
    expect(sizing).toMatchObject({
      qos: 'Burstable',
      hasPodLevelResources: false,
      isStatic: false,
      os: 'linux',
      priority: 1000,
      priorityClassName: 'high',
      generation: 3,
      observedGeneration: 2,
      marks: { 'optipod.io/applied': 'x', 'mbcas.io/managed': 'true' },
      sizeManagers: ['optipod'],
      resize: { pending: { reason: 'Deferred', message: 'no room', since: Date.parse(NOON) }, inProgress: undefined },
    });
  });

  test.each<[string, Pod, object]>([
    ['resources of the pod', changed({ resources: { limits: { cpu: '1' } } }), { hasPodLevelResources: true }],
    ['empty resources of the pod', changed({ resources: {} }), { hasPodLevelResources: false }],
    ['Windows by its spec', changed({ os: { name: 'windows' } }), { os: 'windows' }],
    ['Windows by its selector', changed({ nodeSelector: { 'kubernetes.io/os': 'windows' } }), { os: 'windows' }],
    ['a mirror pod', changed({}, {}, { annotations: { 'kubernetes.io/config.mirror': 'x' } }), { isStatic: true }],
    ['owned by its node', changed({}, {}, { ownerReferences: [{ kind: 'Node' }] }), { isStatic: true }],
    ['no QoS class yet', changed({}, { qosClass: undefined }), { qos: 'Burstable' }],
    [
      'an older kubelet',
      changed({}, { observedGeneration: undefined }, { generation: undefined }),
      { generation: 0, observedGeneration: undefined },
    ],
  ])('%s', (_, object, expected) => {
    expect(read(object)).toMatchObject(expected);
  });
});

describe('the state of a resize', () => {
  const condition = (type: string, reason?: string, message?: string, status = 'True') => ({
    type,
    status,
    reason,
    message,
  });
  test.each<[string, object, object]>([
    [
      'infeasible',
      { conditions: [condition('PodResizePending', 'Infeasible', 'never')] },
      { pending: { reason: 'Infeasible', message: 'never' } },
    ],
    ['in progress', { conditions: [condition('PodResizeInProgress')] }, { inProgress: { error: undefined } }],
    ['failing', { conditions: [condition('PodResizeInProgress', 'Error', 'no')] }, { inProgress: { error: 'no' } }],
    [
      'pending and in progress at once',
      { conditions: [condition('PodResizePending', 'Deferred', 'wait'), condition('PodResizeInProgress')] },
      { pending: { reason: 'Deferred' }, inProgress: { error: undefined } },
    ],
    [
      'over',
      { conditions: [condition('PodResizeInProgress', undefined, undefined, 'False')] },
      { pending: undefined, inProgress: undefined },
    ],
    [
      'as told before 1.33',
      { conditions: [], resize: 'Infeasible' },
      { pending: { reason: 'Infeasible' }, inProgress: undefined },
    ],
    ['under way before 1.33', { conditions: [], resize: 'InProgress' }, { inProgress: { error: undefined } }],
  ])('%s', (_, status, expected) => {
    expect(read(changed({}, status)).resize).toMatchObject(expected);
  });
});

describe('sharing', () => {
  /** Of this size in all places, and seen by the kubelet. */
  const settled = (cpu: string, generation: number): Pod => {
    const requests = { cpu, memory: '64Mi' };
    const resources = { requests, limits: { memory: '128Mi' } };
    return changed(
      { containers: [{ name: 'app', resources }], initContainers: [] },
      {
        conditions: [],
        observedGeneration: generation,
        containerStatuses: [
          { name: 'app', ready: true, restartCount: 0, allocatedResources: requests, resources, state: {} },
        ],
        initContainerStatuses: [],
      },
      { generation },
    );
  };
  const partsOf = (sizing: ReturnType<typeof read>) => {
    const parts = sizingParts(sizing);
    if (parts === undefined) throw new Error('it is a compact one');
    return parts;
  };

  test('pods of one template have all in common but times, generations and sizes of their own', () => {
    const interners = createSizingInterners(100);
    const of = (cpu: string, generation: number) => partsOf(projectPodSizing(settled(cpu, generation), interners));
    const [a, b, resized] = [of('300m', 1), of('300m', 1), of('345m', 7)];
    expect(b.common).toBe(a.common);
    expect(b.sizes).toBe(a.sizes);
    expect(resized.common).toBe(a.common);
    expect(resized.sizes.map(({ cpuRequest }) => cpuRequest)).toEqual([345]);
  });

  test('what is as the spec has it reads so', () => {
    const { statuses, containers, generation, observedGeneration } = read(settled('345m', 7));
    expect([generation, observedGeneration]).toEqual([7, 7]);
    expect(containers[0]?.size).toEqual({ cpuRequest: 345, memoryRequest: 64 * MIB, memoryLimit: 128 * MIB });
    expect(statuses[0]?.actual).toEqual(containers[0]?.size);
    expect(statuses[0]?.allocated).toEqual({ cpuRequest: 345, memoryRequest: 64 * MIB });
  });

  test('a pod in the middle of a resize pushes out nothing that others share', () => {
    const interners = createSizingInterners(1);
    const before = partsOf(projectPodSizing(settled('300m', 1), interners));
    const underWay = partsOf(projectPodSizing(changed({}, {}, { generation: 9 }), interners));
    expect(underWay.common.unobserved).toBe(7);
    expect(partsOf(projectPodSizing(settled('345m', 2), interners)).common).toBe(before.common);
  });
});

test('each container has its own time of start', () => {
  const started = (...times: (string | undefined)[]) =>
    read(
      changed(
        {},
        {
          containerStatuses: ['app', 'bare'].map((name, index) => ({
            name,
            restartCount: 0,
            state: times[index] === undefined ? {} : { running: { startedAt: times[index] } },
          })),
          initContainerStatuses: [],
        },
      ),
    ).statuses.map(({ startedAt }) => startedAt);
  const later = '2026-03-02T12:00:07Z';
  expect(started(NOON, later)).toEqual([Date.parse(NOON), Date.parse(later)]);
  expect(started(NOON, NOON)).toEqual([Date.parse(NOON), Date.parse(NOON)]);
  expect(started(NOON)).toEqual([Date.parse(NOON), undefined]);
});

describe('odd shapes', () => {
  test('a pod whose sizing part cannot be read is still there, is not sized, and is told once', () => {
    const messages: string[] = [];
    const { pod: project } = createProjections((message) => messages.push(message), { sizing: true });
    const odd = changed({}, { containerStatuses: [{ name: 'app', restartCount: 'many' }] });
    for (let count = 0; count < 3; count++) expect(project(odd)).toMatchObject({ name: 'web-1', sizing: undefined });
    expect(messages).toEqual([expect.stringMatching(/^Pod shop\/web-1 is left out of sizing.*restartCount.*many/)]);
  });

  test('without an engine that sizes nothing of it is kept', () => {
    const { pod: project } = createProjections(() => {});
    expect(project(pod)?.sizing).toBeUndefined();
  });
});
