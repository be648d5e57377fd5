import { describe, expect, test } from 'vitest';
import type { PodRecord, PodTemplate, WorkloadRecord } from '../../model/records.ts';
import { createSides } from '../../model/sides.ts';
import { createSnapshot } from '../../model/snapshot.ts';
import {
  aDeployment,
  aPod,
  aReplicaSet,
  aTemplate,
  CAPACITY_TYPE,
  inZone,
  NOON,
  someSettings,
} from '../../model/testing/records.ts';
import { noticeGivenUp, noticeStranded } from './notice-stranded.ts';
import type { SpotAvailability } from './spot-availability.ts';
import { anAvailability, MINUTE } from './testing/availability.ts';

const settings = someSettings();
const sides = createSides(settings.nodeClasses);

function notice(spot: SpotAvailability, workload: WorkloadRecord, pods: readonly PodRecord[], now: number): void {
  const view = createSnapshot({ workloads: [workload], replicaSets: [aReplicaSet(workload)], pods });
  noticeStranded(spot, { view, sides, settings, workload, now });
}

const waitingPod = (workload: WorkloadRecord, since: number, changes: Partial<PodRecord> = {}) =>
  aPod(aReplicaSet(workload), `p${since}`, {
    phase: 'Pending',
    ready: false,
    unschedulableSince: since,
    capacity: 'spot',
    admissionId: `u${since}`,
    template: aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'spot' } }),
    ...changes,
  });

const web = aDeployment();

describe('noticeStranded', () => {
  test('closes spot when the pod that waits longest has waited enough', () => {
    const spot = anAvailability();
    const pods = [waitingPod(web, NOON + MINUTE), waitingPod(web, NOON)];
    notice(spot, web, pods, NOON + 5 * MINUTE - 1);
    expect(spot.stateOf(web.uid, NOON)).toEqual({ kind: 'open' });
    notice(spot, web, pods, NOON + 5 * MINUTE);
    expect(spot.stateOf(web.uid, NOON + 5 * MINUTE)).toMatchObject({ kind: 'closed', until: NOON + 8 * MINUTE });
  });

  test('bug 12: pods of on-demand that wait say nothing about spot', () => {
    const spot = anAvailability();
    const template = aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'on-demand' } });
    notice(spot, web, [waitingPod(web, NOON, { capacity: 'on-demand', template })], NOON + 60 * MINUTE);
    expect(spot.stateOf(web.uid, NOON + 60 * MINUTE)).toEqual({ kind: 'open' });
  });

  test('running cover closes it for a process that knows nothing else', () => {
    const spot = anAvailability();
    const cover = aPod(aReplicaSet(web), 'c', { fallback: true, nodeName: 'o', createdAt: NOON });
    notice(spot, web, [cover], NOON + MINUTE);
    expect(spot.stateOf(web.uid, NOON + MINUTE)).toMatchObject({ kind: 'closed', since: NOON });
  });

  test.each([
    ['a zone', aTemplate({ nodeSelector: { zone: 'a' } }), []],
    [
      'affinity',
      aTemplate({
        requiredNodeTerms: [{ expressions: [{ key: 'disk', operator: 'Exists', values: [] }], fields: [] }],
      }),
      [],
    ],
    ['a device', aTemplate({ extraRequests: { 'nvidia.com/gpu': 1 } }), []],
    ['hazard H20: spread or anti-affinity', aTemplate({ hasPodPlacementRules: true }), []],
    ['hazard H20: claims of devices', aTemplate({ claimsDevices: true }), []],
    ['a volume', aTemplate(), ['data']],
  ])('bug 11: workloads that ask for %s close it for themselves only', (_, template, claims) => {
    const spot = anAvailability();
    for (const name of ['one', 'two']) {
      const odd = aDeployment({ name, uid: `uid-${name}`, template });
      notice(spot, odd, [waitingPod(odd, NOON, { claims })], NOON + 5 * MINUTE);
      expect(spot.stateOf(odd.uid, NOON + 5 * MINUTE)).toMatchObject({ kind: 'closed' });
    }
    notice(spot, web, [], NOON + 5 * MINUTE);
    expect(spot.stateOf(web.uid, NOON + 5 * MINUTE)).toEqual({ kind: 'open' });
  });

  test.each<[string, Partial<PodTemplate>]>([
    ['a node selector', { nodeSelector: { [CAPACITY_TYPE]: 'spot', runtime: 'sandboxed' } }],
    ['affinity', { requiredNodeTerms: [inZone('a')] }],
  ])('bug 11: so do those whose pods were given %s when they were made', (_, asked) => {
    const spot = anAvailability();
    const later = NOON + 5 * MINUTE;
    for (const name of ['one', 'two']) {
      const plain = aDeployment({ name, uid: `uid-${name}` });
      notice(spot, plain, [waitingPod(plain, NOON, { template: aTemplate(asked) })], later);
      expect(spot.stateOf(plain.uid, later)).toMatchObject({ kind: 'closed' });
    }
    notice(spot, web, [], later);
    expect(spot.stateOf(web.uid, later)).toEqual({ kind: 'open' });
  });

  test('a request of local storage, which every node has, is nothing special', () => {
    const spot = anAvailability();
    const template = aTemplate({ extraRequests: { 'ephemeral-storage': 1 } });
    for (const name of ['one', 'two']) {
      const plain = aDeployment({ name, uid: `uid-${name}`, template });
      notice(spot, plain, [waitingPod(plain, NOON)], NOON + 5 * MINUTE);
    }
    notice(spot, web, [], NOON + 5 * MINUTE);
    expect(spot.stateOf(web.uid, NOON + 5 * MINUTE)).toMatchObject({ kind: 'closed' });
  });

  test('two that ask for nothing special close it for their namespace, and for all where they are of two', () => {
    const later = NOON + 5 * MINUTE;
    const kindsAfter = (namespaces: readonly string[]) => {
      const spot = anAvailability();
      for (const [index, namespace] of namespaces.entries()) {
        const plain = aDeployment({ namespace, name: `w${index}`, uid: `uid-${index}` });
        notice(spot, plain, [waitingPod(plain, NOON)], later);
      }
      for (const namespace of ['shop', 'mail', 'third'])
        notice(spot, aDeployment({ namespace, uid: namespace }), [], later);
      return ['shop', 'mail', 'third'].map((uid) => spot.stateOf(uid, later).kind);
    };
    expect(kindsAfter(['shop'])).toEqual(['open', 'open', 'open']);
    expect(kindsAfter(['shop', 'shop'])).toEqual(['closed', 'open', 'open']);
    expect(kindsAfter(['shop', 'mail'])).toEqual(['closed', 'closed', 'closed']);
  });
});

describe('noticeGivenUp', () => {
  const give = (spot: SpotAvailability, workload: WorkloadRecord, pod: PodRecord, evictedAt: number) =>
    noticeGivenUp(spot, { sides, settings, workload, pod, evictedAt, now: NOON });

  test('closes spot for a pod that was evicted after half of its patience, whatever the time is here', () => {
    const spot = anAvailability();
    give(spot, web, waitingPod(web, NOON), NOON + 2.5 * MINUTE - 1);
    expect(spot.stateOf(web.uid, NOON)).toEqual({ kind: 'open' });
    give(spot, web, waitingPod(web, NOON), NOON + 2.5 * MINUTE);
    expect(spot.stateOf(web.uid, NOON)).toMatchObject({ kind: 'closed', until: NOON + 3 * MINUTE });
  });

  test('each one of an outage says the same: the pause is the first one still', () => {
    const spot = anAvailability();
    for (const since of [NOON - 1, NOON]) give(spot, web, waitingPod(web, since), NOON + 5 * MINUTE);
    expect(spot.stateOf(web.uid, NOON)).toMatchObject({ kind: 'closed', until: NOON + 3 * MINUTE });
  });

  test.each<[string, Partial<PodRecord>]>([
    ['was sent to on-demand', { capacity: 'on-demand' }],
    ['was not steered', { admissionId: undefined }],
    ['has a node', { nodeName: 's', phase: 'Running', unschedulableSince: undefined }],
    ['is on its way, with no verdict yet', { unschedulableSince: undefined }],
    ['is deleted already', { deletingAt: NOON }],
    ['others have pinned', { pinned: true }],
  ])('one that %s says nothing of spot', (_, changes) => {
    const spot = anAvailability();
    give(spot, web, waitingPod(web, NOON, changes), NOON + 60 * MINUTE);
    expect(spot.stateOf(web.uid, NOON)).toEqual({ kind: 'open' });
  });

  test('however many say so, others may try: none of them is a witness', () => {
    const spot = anAvailability();
    for (const namespace of ['shop', 'mail']) {
      for (const name of ['one', 'two']) {
        const plain = aDeployment({ namespace, name, uid: `uid-${namespace}-${name}` });
        give(spot, plain, waitingPod(plain, NOON), NOON + 5 * MINUTE);
      }
    }
    notice(spot, web, [], NOON);
    expect(spot.stateOf(web.uid, NOON)).toEqual({ kind: 'open' });
  });
});
