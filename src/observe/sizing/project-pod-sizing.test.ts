import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { createProjections } from '../project.ts';
import { marksOf, projectPodSizing } from './project-pod-sizing.ts';
import { createSizingInterners } from './sizing-interners.ts';
import { changed, NOON, pod } from './testing/pod-in-resize.ts';

const MIB = 2 ** 20;
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

test('the end of a container that is never started again is its last one, as of a Job that is killed for want of memory', () => {
  const end = (restartPolicy: 'Never' | 'Always', reason = 'OOMKilled') => {
    const terminated = { reason, exitCode: 137, finishedAt: NOON };
    const containerStatuses = [{ name: 'app', restartCount: 0, state: { terminated } }];
    return read(changed({ restartPolicy }, { phase: 'Failed', containerStatuses, initContainerStatuses: [] }))
      .statuses[0]?.lastTermination;
  };
  expect(end('Never')).toEqual({ reason: 'OOMKilled', exitCode: 137, finishedAt: Date.parse(NOON) });
  // It is told as the last state once it runs again, with one restart more.
  expect(end('Always')).toBeUndefined();
  // Nor is anything kept of the many that have done their work.
  expect(end('Never', 'Completed')).toBeUndefined();
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

test('of what placement is told only when a workload may be disrupted is kept: that holds for sizes, too', () => {
  const window = { 'spotalis.io/disruption-schedule': '0 2 * * *', 'spotalis.io/disruption-duration': '1h' };
  expect(marksOf({ ...window, 'spotalis.io/slot': '3' })).toEqual(window);
});
