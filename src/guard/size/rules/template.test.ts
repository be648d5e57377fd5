import { describe, expect, test } from 'vitest';
import type { SizeChange } from '../../../model/pod-size.ts';
import { aNamespace, NOON } from '../../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, aSizedWorkload, MIB } from '../../../model/testing/sizing-records.ts';
import { decision } from '../../testing/size-eviction.ts';
import {
  aDisruptionState,
  hourFrom,
  pods,
  reasonsFor,
  replicaSet,
  resize,
  retemplate,
  web,
} from '../testing/size-scene.ts';

describe('templates', () => {
  test('need new pods, which the owner must allow', () => {
    expect(reasonsFor(retemplate(), { policy: { allowRecreate: false } })).toEqual(['RecreateNotAllowed']);
  });
  test.each<[string, Parameters<typeof aSizedWorkload>[0], string]>([
    ['under way', { isRollingOut: true }, 'TemplateRollout'],
    ['of a CronJob', { kind: 'CronJob' }, 'KindAdvisedOnly'],
    ['of a Rollout', { kind: 'Rollout' }, 'KindAdvisedOnly'],
    ['being deleted', { deleting: true }, 'Deleting'],
    ['paused', { keepsPods: 'Paused' }, 'Paused'],
    ['of pods that stay until somebody deletes them', { keepsPods: 'OnDelete' }, 'TemplateOnDelete'],
  ])('%s', (_, changes, reason) => {
    expect(reasonsFor(retemplate(), { records: { workloads: [aSizedWorkload(changes)] } })).toEqual([reason]);
  });
  test('in a namespace that is being deleted, as nothing there, are changed no more', () => {
    const records = { namespaces: [aNamespace({ terminating: true })] };
    expect(reasonsFor(retemplate(), { records })).toEqual(['Deleting']);
    expect(reasonsFor(resize(), { records })).toEqual(['Deleting']);
  });
  const more = { container: 'app', to: { memoryRequest: 256 * MIB } };
  test.each<[string, string, SizeChange, string[]]>([
    ['of a pod that was just killed for want of memory is left to the guard of evictions', 'OOMKilled', more, []],
    ['of any other pod waits', 'Error', more, ['TemplateRollout']],
    ['of other memory waits', 'OOMKilled', { ...more, container: 'proxy' }, ['TemplateRollout']],
    ['of CPU alone waits', 'OOMKilled', { container: 'app', to: { cpuRequest: 300 } }, ['TemplateRollout']],
    ['of less memory waits', 'OOMKilled', { container: 'app', to: { memoryRequest: MIB } }, ['TemplateRollout']],
  ])('while a rollout is under way, an eviction for a size %s', (_, reason, change, expected) => {
    const statuses = [aContainerStatus(aContainer(), { lastTermination: { reason, exitCode: 137, finishedAt: NOON } })];
    const containers = [aContainer(), aContainer({ name: 'proxy' })];
    const killed = aSizedPod(replicaSet, 'web-1', { containers, statuses }, { uid: 'web-1' });
    const records = { workloads: [aSizedWorkload({ isRollingOut: true })], pods: [killed, ...pods.slice(1)] };
    const evict = decision({ pod: { namespace: 'shop', name: 'web-1', uid: 'web-1' }, changes: [change] });
    expect(reasonsFor(evict, { records })).toEqual(expected);
    // A second template is another rollout, whatever became of the pods of the first.
    expect(reasonsFor(retemplate(), { records })).toEqual(['TemplateRollout']);
  });
  describe('that are put back because they did harm', () => {
    const rolling = { workloads: [aSizedWorkload({ isRollingOut: true })] };
    const rollout = { workloadUid: web.uid, podUid: web.uid, since: NOON, isRollout: true } as const;
    const full = aDisruptionState({ inFlight: 2, last: NOON, window: hourFrom('0 13 * * *') });
    const busy = { records: rolling, evictions: [rollout], disruption: full };
    const closed = { policy: { window: hourFrom('0 13 * * *') } };
    const back = retemplate({ isRestore: true, turnsBack: true });
    test('turn the rollout back that Stowage began for them, at any time, in the place that has', () => {
      expect(reasonsFor(back, { ...busy, ...closed })).toEqual([]);
      expect(reasonsFor(retemplate(), { ...busy, ...closed })).toEqual([
        'OutsideUpdateWindow',
        'OutsideWindow',
        'CooldownActive',
        'TemplateRollout',
        'EvictionInFlight',
        'ConcurrencyLimit',
      ]);
    });
    test('wait for the rollout of somebody else, for a pod that is moved, and for a place where they have none', () => {
      expect(reasonsFor(retemplate({ isRestore: true }), { records: rolling })).toEqual(['TemplateRollout']);
      const over = reasonsFor(retemplate({ isRestore: true }), { disruption: full, ...closed });
      expect(over).toEqual(['OutsideWindow', 'CooldownActive', 'ConcurrencyLimit']);
      const moved = { workloadUid: web.uid, podUid: 'web-1', since: NOON };
      expect(reasonsFor(back, { ...busy, evictions: [rollout, moved] })).toEqual(['EvictionInFlight']);
      // One that was stuck for long has given its place back.
      const stuck = { ...busy, evictions: [{ ...rollout, workloadUid: 'other' }] };
      expect(reasonsFor(back, stuck)).toEqual(['ConcurrencyLimit']);
    });
  });
  test('of a paused rollout that stands half way: that it is paused is told first', () => {
    const records = { workloads: [aSizedWorkload({ keepsPods: 'Paused', isRollingOut: true })] };
    expect(reasonsFor(retemplate(), { records })).toEqual(['Paused', 'TemplateRollout']);
  });
});
