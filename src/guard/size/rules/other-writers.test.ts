import { describe, expect, test } from 'vitest';
import { NOON } from '../../../model/testing/records.ts';
import { aContainer, aVpa, MIB } from '../../../model/testing/sizing-records.ts';
import { inspectSizeAll } from '../inspect-size.ts';
import {
  evictToResize,
  inFlight,
  memory,
  reasonsFor,
  resize,
  retemplate,
  sizeScene,
  web,
  withPod,
} from '../testing/size-scene.ts';

describe('other writers', () => {
  test.each<[string, Parameters<typeof aVpa>[0], readonly string[]]>([
    ['acts', {}, ['VpaSizesWorkload']],
    ['is off', { updateMode: 'Off' }, []],
    ['is for another workload', { target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' } }, []],
    ['is for another kind', { target: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' } }, []],
    [
      'is for a kind of the name in another group',
      { target: { apiVersion: 'x.io/v1', kind: 'Deployment', name: 'web' } },
      [],
    ],
    ['is elsewhere', { namespace: 'other' }, []],
  ])('a VPA that %s', (_, changes, expected) => {
    expect(reasonsFor(resize(), { records: { vpas: [aVpa(changes)] } })).toEqual(expected);
    expect(reasonsFor(retemplate(), { records: { vpas: [aVpa(changes)] } })).toEqual(expected);
    // What we asked for before it came, and was not granted, is still taken back.
    expect(reasonsFor(resize({ isWithdrawal: true }), { records: { vpas: [aVpa(changes)] } })).toEqual([]);
  });

  test('what may not be read is not known to be absent: nothing is changed beside it', () => {
    const records = { unreadable: ['verticalpodautoscalers.autoscaling.k8s.io'] };
    expect(reasonsFor(resize(), { records })).toEqual(['RightMissing']);
    expect(reasonsFor(retemplate(), { records })).toEqual(['RightMissing']);
    const [block] = inspectSizeAll(resize(), sizeScene({ records }));
    expect(`${block?.message} ${block?.advice}`).toMatch(/verticalpodautoscalers.*get, list and watch on vertical/);
  });

  test.each([
    ['kubectl-edit', ['OtherResizer']],
    ['optipod', []],
    ['mbcas-controller', []],
  ])('resized last by %s', (manager, expected) => {
    expect(reasonsFor(resize(), withPod({ sizeManagers: [manager] }))).toEqual(expected);
    expect(reasonsFor(evictToResize, withPod({ sizeManagers: [manager] }))).toEqual(expected);
    // What was not granted is nobody's size.
    expect(reasonsFor(resize({ isWithdrawal: true }), withPod({ sizeManagers: [manager] }))).toEqual([]);
  });

  test('the CPU that allocation shares out is not rightsizing’s, its memory is', () => {
    const isAllocated = () => true;
    expect(reasonsFor(resize(), { isAllocated })).toEqual(['CpuIsAllocated']);
    expect(reasonsFor(memory(300 * MIB), { isAllocated })).toEqual([]);
    expect(reasonsFor(resize({ engine: 'allocation' }), { isAllocated })).toEqual([]);
    const limit = [{ container: 'app', to: { cpuLimit: 500 } }];
    expect(reasonsFor(resize({ changes: limit }), { isAllocated })).toEqual(['CpuIsAllocated']);
    const containers = [aContainer(), aContainer({ name: 'log' })];
    const mixed = [...limit, { container: 'log', to: { memoryLimit: 300 * MIB } }];
    expect(reasonsFor(resize({ changes: mixed }), { ...withPod({ containers }), isAllocated })).toEqual([
      'CpuIsAllocated',
    ]);
  });

  test('a pod that is being evicted is not resized', () => {
    const evictions = [{ workloadUid: web.uid, podUid: 'web-1', since: NOON }];
    expect(reasonsFor(resize(), { evictions })).toEqual(['EvictionInFlight']);
    expect(reasonsFor(resize({ pod: { namespace: 'shop', name: 'web-2', uid: 'web-2' } }), { evictions })).toEqual([]);
    expect(reasonsFor(retemplate(), { evictions })).toEqual(['EvictionInFlight']);
  });

  test('one resize of a pod at a time, whoever asked and whether or not the view shows it', () => {
    expect(reasonsFor(resize(), { resizes: [inFlight('web-1', { cpuRequest: 250 })] })).toEqual(['ResizeInFlight']);
    const deferred = { reason: 'Deferred', message: '', since: NOON } as const;
    const pending = withPod({ resize: { pending: deferred, inProgress: undefined } });
    expect(reasonsFor(resize(), pending)).toEqual(['ResizeInFlight']);
    expect(reasonsFor(resize({ isWithdrawal: true }), pending)).toEqual([]);
    const running = withPod({ resize: { pending: undefined, inProgress: { error: undefined, since: NOON } } });
    expect(reasonsFor(resize(), running)).toEqual(['ResizeInFlight']);
    const infeasible = withPod({ resize: { pending: { ...deferred, reason: 'Infeasible' }, inProgress: undefined } });
    expect(reasonsFor(resize(), infeasible)).toEqual([]);
  });

  test('what a pod had is put back also where something is deferred that nobody follows', () => {
    const restore = resize({ isRestore: true });
    const pending = { reason: 'Deferred', message: '', since: NOON } as const;
    const inProgress = { error: undefined, since: NOON };
    const deferred = withPod({ resize: { pending, inProgress: undefined } });
    expect(reasonsFor(restore, deferred)).toEqual([]);
    const resizes = [inFlight('web-1', { cpuRequest: 250 })];
    expect(reasonsFor(restore, { ...deferred, resizes })).toEqual(['ResizeInFlight']);
    expect(reasonsFor(restore, withPod({ resize: { pending, inProgress } }))).toEqual(['ResizeInFlight']);
  });
});

describe('a workload that somebody pauses while its pods are gone through', () => {
  const paused = { records: { workloads: [{ ...web, annotations: { 'optipod.io/paused': 'true' } }] } };

  test('is let be from then on, by rightsizing: its look may take minutes', () => {
    for (const decision of [resize(), resize({ isRestore: true }), retemplate()])
      expect(reasonsFor(decision, paused)).toEqual(['OptedOut']);
  });

  test('shares CPU all the same, and what was not granted is taken back', () => {
    expect(reasonsFor(resize({ engine: 'allocation' }), paused)).toEqual([]);
    expect(reasonsFor(resize({ isWithdrawal: true }), paused)).toEqual([]);
  });
});
