import { describe, expect, test } from 'vitest';
import type { DaemonSet, Pod } from '../../api/core.ts';
import type { WorkloadRecord } from '../../model/records.ts';
import { aDeployment, aStatefulSet, NOON } from '../../model/testing/records.ts';
import { projectDaemonSet, projectSized } from './project-sized-workload.ts';
import { createSizingInterners } from './sizing-interners.ts';

type Containers = NonNullable<Pod['spec']>['containers'];
const full = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } };
const daemonSet = (initContainers?: readonly object[]): DaemonSet => ({
  metadata: { name: 'log', namespace: 'shop', uid: 'u' },
  spec: {
    selector: {},
    template: {
      spec: {
        containers: [{ name: 'app', resources: full }],
        ...(initContainers && { initContainers: initContainers as Containers }),
      },
    },
  },
});

describe('pods that are never Guaranteed, whatever sizes their containers have', () => {
  test.each<[string, readonly object[] | undefined, boolean | undefined]>([
    ['no init container', undefined, undefined],
    ['one that runs once without requests', [{ name: 'setup' }], true],
    ['one with requests alone', [{ name: 'setup', resources: { requests: { cpu: '1', memory: '1Gi' } } }], true],
    ['one with limits, which are its requests too', [{ name: 'setup', resources: { limits: full.limits } }], undefined],
    ['one of two', [{ name: 'setup', resources: full }, { name: 'wait' }], true],
    ['a native sidecar has a record of its own', [{ name: 'proxy', restartPolicy: 'Always' }], undefined],
  ])('%s', (_, initContainers, expected) => {
    const { isNeverGuaranteed } = projectDaemonSet(daemonSet(initContainers), createSizingInterners(10));
    expect(isNeverGuaranteed).toBe(expected);
  });
});

test('whose controller the object has, by which an autoscaler may know it', () => {
  const owner = { apiVersion: 'flink.example.org/v1', kind: 'Flink', name: 'stream' };
  const owned = (controller: boolean) => ({ metadata: { ownerReferences: [{ ...owner, uid: 'f', controller }] } });
  const ownerOf = (object: object) => projectSized(object, aDeployment(), createSizingInterners(10)).owner;
  expect([owned(true), owned(false), {}].map(ownerOf)).toEqual([owner, undefined, undefined]);
  const { metadata, ...rest } = daemonSet();
  const ofNodes = { ...rest, metadata: { ...metadata, ...owned(true).metadata } };
  expect(projectDaemonSet(ofNodes, createSizingInterners(10)).owner).toEqual(owner);
});

test('minReadySeconds of a DaemonSet; 0 is as good as none', () => {
  const minReadyOf = (minReadySeconds: number) => {
    const object = daemonSet();
    const spec = { selector: {}, template: {}, ...object.spec, minReadySeconds };
    return projectDaemonSet({ ...object, spec }, createSizingInterners(10)).minReadyMillis;
  };
  expect([30, 0].map(minReadyOf)).toEqual([30_000, undefined]);
});

test('of other kinds it is what placement reads', () => {
  const minReadyOf = (record: WorkloadRecord) => projectSized({}, record, createSizingInterners(10)).minReadyMillis;
  expect([aDeployment({ minReadyMillis: 7_000 }), aDeployment()].map(minReadyOf)).toEqual([7_000, undefined]);
});

test('a rollout needs one more pod where it lets none be unavailable', () => {
  const needsSurge = (rollout: WorkloadRecord['rollout']) =>
    projectSized({}, aDeployment({ rollout }), createSizingInterners(10)).needsSurge;
  const rollouts: readonly WorkloadRecord['rollout'][] = [
    { type: 'RollingUpdate', maxSurge: 1, maxUnavailable: 0 },
    { type: 'RollingUpdate', maxSurge: 1, maxUnavailable: 1 },
    { type: 'Recreate' },
    { type: 'StatefulSet', start: 0, partition: 0, onDelete: false, orderedReady: true },
  ];
  expect(rollouts.map(needsSurge)).toEqual([true, undefined, undefined, undefined]);
});

test('a StatefulSet rests at its partition, which counts from its first ordinal', () => {
  const isRollingOut = (updated: number) => {
    const status = { ...aStatefulSet().status, currentRevision: 'a', updateRevision: 'b', updated };
    const rollout = { type: 'StatefulSet', start: 5, partition: 2, onDelete: false, orderedReady: true } as const;
    return projectSized({}, aStatefulSet({ replicas: 3, status, rollout }), createSizingInterners(10)).isRollingOut;
  };
  expect([0, 1].map(isRollingOut)).toEqual([true, false]);
});

test('a rollout that says it makes no progress is stuck', () => {
  const isStuck = (stuckSince: number | undefined) => {
    const { status } = aDeployment();
    return projectSized({}, aDeployment({ status: { ...status, stuckSince } }), createSizingInterners(10)).isStuck;
  };
  expect([undefined, NOON].map(isStuck)).toEqual([undefined, true]);
});

describe('pods that are refused', () => {
  const since = '2026-01-31T12:00:00Z';
  const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', lastTransitionTime: since };
  const message = 'pods "web-1" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true';
  const overdrawn = 'pods "web-1" is forbidden: exceeded quota: compute, requested: cpu=1, used: cpu=4, limited: cpu=4';
  const unready = 'pods "web-1" is forbidden: error looking up service account shop/default: serviceaccount not found';
  const unanswered = 'Internal error occurred: failed calling webhook "check.example.com": context deadline exceeded';

  test.each<[string, object, number | undefined]>([
    ['by a policy', { message }, Date.parse(since)],
    ['by a quota that is full: room is what they wait for', { message: overdrawn }, undefined],
    ['while their namespace is being made', { message: unready }, undefined],
    ['because a webhook does not answer', { message: unanswered }, undefined],
    ['by nobody any more', { message, status: 'False' }, undefined],
    ['for what is not told', {}, undefined],
    ['when they were to go, not to come', { message, reason: 'FailedDelete' }, undefined],
    ['since nobody knows when', { message, lastTransitionTime: undefined }, undefined],
  ])('%s', (_, changes, expected) => {
    const object = { metadata: {}, status: { conditions: [{ type: 'Available' }, { ...failure, ...changes }] } };
    expect(projectSized(object, aDeployment(), createSizingInterners(10)).refusedSince).toBe(expected);
  });
});
