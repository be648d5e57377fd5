import { describe, expect, test } from 'vitest';
import type { PdbRecord, PodRecord } from '../../model/records.ts';
import type { SnapshotRecords } from '../../model/snapshot.ts';
import { aDeployment, aPdb, aPod, aReplicaSet, aStatefulSet, aTemplate, NOON } from '../../model/testing/records.ts';
import { inspectAll } from '../guard.ts';
import { evict, pod, pods, replicaSet, scene, web, withPods } from '../testing/scene.ts';
import { objectToPdbs, pdbsOf } from './pdb.ts';

const blocksWith = (pdbs: readonly PdbRecord[], victim: Partial<PodRecord> = {}) =>
  inspectAll(evict(), scene({ records: { ...withPods({ s3: victim }), pdbs } }));
const reasonsWith = (pdbs: readonly PdbRecord[], victim: Partial<PodRecord> = {}) =>
  blocksWith(pdbs, victim).map(({ reason }) => reason);
const none = aPdb({ disruptionsAllowed: 0, currentHealthy: 9 });

describe('PodDisruptionBudgets', () => {
  test('case 67: none: nothing to ask', () => {
    expect(reasonsWith([])).toEqual([]);
  });

  test('case 67: one that allows', () => {
    expect(reasonsWith([aPdb()])).toEqual([]);
  });

  test('case 67: hazard H22: one that does not is named', () => {
    expect(blocksWith([none])).toMatchObject([{ reason: 'BlockedByPdb', message: expect.stringContaining('web-pdb') }]);
  });

  test('case 67: one for other pods, or in another namespace, does not matter', () => {
    expect(reasonsWith([{ ...none, selector: { matchLabels: { app: 'other' } } }])).toEqual([]);
    expect(reasonsWith([{ ...none, namespace: 'other' }])).toEqual([]);
  });

  test.each([
    ['both allow', aPdb(), aPdb({ name: 'second' })],
    ['the first allows none', none, aPdb({ name: 'second' })],
    ['the second allows none', aPdb(), { ...none, name: 'second' }],
  ])(
    'case 70: hazard H22: bug 14: several, %s: blocked with both names, as the API cannot evict such a pod',
    (_, first, second) => {
      expect(blocksWith([first, second])).toMatchObject([
        { reason: 'MultiplePdbs', message: expect.stringContaining('web-pdb, second') },
      ]);
    },
  );

  test('several do not matter for a pod that is still pending: the API looks for none', () => {
    expect(reasonsWith([none, aPdb({ name: 'second' })], { phase: 'Pending', ready: false })).toEqual([]);
  });

  test('whose status lags behind is not believed, in neither of its figures', () => {
    const stale = aPdb({ observed: false, currentHealthy: 9, desiredHealthy: 1 });
    expect(reasonsWith([stale])).toEqual(['BlockedByPdb']);
    expect(reasonsWith([stale], { ready: false })).toEqual(['BlockedByPdb']);
  });

  test('a pod that has ended is not counted at all', () => {
    const ended = { ...pod('p', 's'), phase: 'Failed', ready: false } as const;
    expect(objectToPdbs([none, aPdb({ name: 'second' })], ended, [])).toBeUndefined();
    expect(objectToPdbs([none], { ...ended, phase: 'Succeeded' }, [])).toBeUndefined();
    expect(objectToPdbs([none], pod('p', 's'), [])).toMatchObject({ reason: 'BlockedByPdb' });
  });

  describe('hazard H22: a budget over several workloads, of which the other is being disrupted', () => {
    const api = aDeployment({ name: 'api', uid: 'api' });
    const replicas = aReplicaSet(api);
    const records = (changes: Partial<PodRecord>, allowed: number): SnapshotRecords => ({
      workloads: [web, api],
      replicaSets: [replicaSet, replicas],
      pods: [...pods, aPod(replicas, 'api-1', { uid: 'api-1', nodeName: 's', ...changes })],
      pdbs: [aPdb({ selector: { matchLabels: { app: 'web' } }, disruptionsAllowed: allowed })],
    });
    const inFlight = [{ workloadUid: 'api', podUid: 'api-1', since: NOON }];
    test.each<[string, Partial<PodRecord>, number, string[]]>([
      ['what it takes is taken, though the status does not say so', {}, 1, ['BlockedByPdb']],
      ['what is left after it may be had', {}, 2, []],
      ['once it is seen unready the status tells', { ready: false, readyChangedAt: NOON }, 1, []],
      ['or once it is seen to end', { deletingAt: NOON }, 1, []],
      ['one that the budget does not select takes nothing', { template: aTemplate({ labels: { app: 'x' } }) }, 1, []],
    ])('%s', (_, changes, allowed, expected) => {
      const blocks = inspectAll(evict(), scene({ records: records(changes, allowed), inFlight }));
      expect(blocks.map(({ reason }) => reason)).toEqual(expected);
    });

    test('of an unready pod the healthy ones are counted without it', () => {
      const pdbs = (currentHealthy: number) => [aPdb({ disruptionsAllowed: 0, currentHealthy, desiredHealthy: 3 })];
      const unready = { ...pod('p', 's'), ready: false };
      const other = pod('q', 's');
      expect(objectToPdbs(pdbs(3), unready, [other])).toMatchObject({ reason: 'BlockedByPdb' });
      expect(objectToPdbs(pdbs(4), unready, [other])).toBeUndefined();
      expect(objectToPdbs(pdbs(3), unready, [{ ...other, namespace: 'other' }, unready])).toBeUndefined();
    });
  });

  describe('hazard H22: unready pods, as the eviction API counts them', () => {
    test.each<[string, PdbRecord, Partial<PodRecord>, string[]]>([
      ['a pending pod is not counted at all', { ...none, observed: false }, { phase: 'Pending', ready: false }, []],
      [
        'unready, budget met without it',
        aPdb({ disruptionsAllowed: 0, currentHealthy: 9, desiredHealthy: 9 }),
        { ready: false },
        [],
      ],
      [
        'unready, budget not met',
        aPdb({ disruptionsAllowed: 0, currentHealthy: 8, desiredHealthy: 9 }),
        { ready: false },
        ['BlockedByPdb'],
      ],
      [
        'unready, of a budget that wants none: met without it says nothing then',
        aPdb({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0 }),
        { ready: false },
        ['BlockedByPdb'],
      ],
      [
        'unready, policy AlwaysAllow',
        aPdb({ disruptionsAllowed: 0, currentHealthy: 0, alwaysAllowUnhealthy: true }),
        { ready: false },
        [],
      ],
      [
        'unready, policy AlwaysAllow, which no status has to confirm',
        aPdb({ observed: false, disruptionsAllowed: 0, alwaysAllowUnhealthy: true }),
        { ready: false },
        [],
      ],
      ['ready, policy AlwaysAllow', aPdb({ disruptionsAllowed: 0, alwaysAllowUnhealthy: true }), {}, ['BlockedByPdb']],
    ])('%s', (_, pdb, victim, expected) => {
      expect(reasonsWith([pdb], victim)).toEqual(expected);
    });
  });
});

describe('pdbsOf', () => {
  test('an empty selector selects every pod, a missing one none', () => {
    expect(pdbsOf([aPdb({ selector: {} })], pod('p', 's'))).toHaveLength(1);
    expect(pdbsOf([aPdb({ selector: undefined })], pod('p', 's'))).toHaveLength(0);
  });

  test('case 55: matchExpressions count', () => {
    const selector = { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] };
    expect(pdbsOf([aPdb({ selector })], pod('p', 's'))).toHaveLength(0);
  });

  test.each<[string, string, string[], boolean]>([
    ['In, with its value', 'In', ['web', 'api'], true],
    ['In, without it', 'In', ['api'], false],
    ['NotIn', 'NotIn', ['api'], true],
    ['Exists', 'Exists', [], true],
    ['DoesNotExist', 'DoesNotExist', [], false],
  ])('case 55: matchExpressions %s', (_, operator, values, expected) => {
    const expression = { key: 'app', operator, ...(values.length > 0 && { values }) };
    const both = { matchLabels: { app: 'web' }, matchExpressions: [expression] };
    for (const selector of [{ matchExpressions: [expression] }, both])
      expect(pdbsOf([aPdb({ selector })], pod('p', 's'))).toHaveLength(expected ? 1 : 0);
    const none = { ...both, matchLabels: { app: 'other' } };
    expect(pdbsOf([aPdb({ selector: none })], pod('p', 's'))).toEqual([]);
  });

  test('an unreadable selector counts as selecting: better one block too many', () => {
    const selector = { matchExpressions: [{ key: 'app', operator: 'Near' }] };
    expect(pdbsOf([aPdb({ selector })], pod('p', 's'))).toHaveLength(1);
  });

  test('a StatefulSet’s pods have labels of their own', () => {
    const member = aPod({ ...aStatefulSet(), kind: 'StatefulSet' }, 'db-1');
    const byName = aPdb({ selector: { matchLabels: { 'statefulset.kubernetes.io/pod-name': 'db-1' } } });
    const byIndex = aPdb({ selector: { matchLabels: { 'apps.kubernetes.io/pod-index': '0' } } });
    expect(pdbsOf([byName, byIndex], member)).toEqual([byName]);
    const first = aPod({ ...aStatefulSet(), kind: 'StatefulSet' }, 'db-0');
    expect(pdbsOf([byName, byIndex], first)).toEqual([byIndex]);
    // Of another owner a name that looks like one of a set says nothing.
    expect(pdbsOf([byName, byIndex], pod('db-0', 's'))).toEqual([]);
  });
});
