/** The guard of evictions, asked by rightsizing: what it has in common with moves, and what not. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../model/records.ts';
import { aDeployment, NOON } from '../model/testing/records.ts';
import { inspect, inspectAll } from './guard.ts';
import { evict, managed, pod, pods, type SceneChanges, scene, web, windowOf, withPods } from './testing/scene.ts';
import { decision, reasonsFor } from './testing/size-eviction.ts';

const unmanaged = { state: 'unmanaged', reason: { name: 'NotEnabled', message: '', advice: '' } } as const;
const flight = { workloadUid: 'other', podUid: 'p', since: NOON };

describe('an eviction to resize', () => {
  test.each<[string, SceneChanges, readonly string[]]>([
    ['nothing speaks against it', {}, []],
    ['placement is switched off', { settings: { enabled: false } }, []],
    ['placement does not manage the workload', { policy: unmanaged }, []],
    ['read-only', { settings: { readOnly: true } }, ['ReadOnly']],
    ['not the leader', { leadership: { leader: false, sinceMillis: 0 } }, ['NotLeader']],
    ['a moment after becoming leader', { leadership: { leader: true, sinceMillis: NOON } }, ['LeaderWarmup']],
    [
      'a rollout',
      { records: { workloads: [{ ...web, observedGeneration: 0, generation: 2 }] } },
      ['GenerationNotObserved'],
    ],
    ['paused', { records: { workloads: [{ ...web, paused: true }] } }, ['Paused']],
    ['another pod is ending', { records: withPods({ s1: { deletingAt: NOON } }) }, ['PodTerminating', 'PodNotReady']],
    [
      'another pod is not ready',
      { records: withPods({ s1: { ready: false, readyChangedAt: NOON } }) },
      ['PodNotReady'],
    ],
    [
      'another pod has just become ready, and the workload asks for a minute of it',
      {
        records: {
          ...withPods({ s1: { readyChangedAt: NOON - 59_000 } }),
          workloads: [{ ...web, minReadyMillis: 60_000 }],
        },
      },
      ['PodNotReady'],
    ],
    ['the pod is protected', { records: withPods({ s3: { protectedBy: 'x' } }) }, ['Protected']],
    ['the pod is being resized', { isResizing: (uid) => uid === 's3' }, ['ResizeInFlight']],
    ['another pod is being resized', { isResizing: (uid) => uid === 's1' }, ['ResizeInFlight']],
    [
      'the window of the workload is closed',
      { policy: { ...managed, window: windowOf('0 2 * * *', '1h') } },
      ['OutsideWindow'],
    ],
    [
      'an eviction of the workload is under way',
      { inFlight: [{ ...flight, workloadUid: web.uid }] },
      ['PodTerminating'],
    ],
    [
      'a rollout of ours is under way',
      { inFlight: [{ workloadUid: web.uid, podUid: web.uid, since: NOON, isRollout: true }] },
      ['RolloutInProgress'],
    ],
    ['the budget is used up', { inFlight: [flight], settings: { maxConcurrentEvictions: 1 } }, ['ConcurrencyLimit']],
  ])('%s', (_, changes, expected) => {
    expect(reasonsFor(changes)).toEqual(expected);
  });

  test('the window of the operator holds where placement has no say', () => {
    const times = { window: windowOf('0 2 * * *', '1h') };
    expect(reasonsFor({ policy: unmanaged, times })).toEqual(['OutsideWindow']);
    // Whoever manages his window himself is asked himself.
    expect(reasonsFor({ times })).toEqual([]);
  });

  test('a window that cannot be read is not taken for one that is always open', () => {
    const unreadable = { name: 'InvalidConfiguration', message: 'it is not valid', advice: '' } as const;
    const times = { window: undefined, unreadable };
    expect(reasonsFor({ policy: unmanaged, times })).toEqual(['InvalidConfiguration']);
  });

  describe('the on-demand floor holds', () => {
    const o1 = decision({ pod: { namespace: 'shop', name: 'o1', uid: 'o1' } });
    const more = [...pods, pod('o2', 'o')];
    const larger = aDeployment({ replicas: 5 });
    const floor = (onDemandFloor: number, changes: SceneChanges = {}) => reasonsFor(changes, { ...o1, onDemandFloor });

    test.each<[string, readonly string[], readonly string[]]>([
      ['none is asked for', floor(0), []],
      ['the pod is the one that is asked for', floor(1), ['OnDemandFloor']],
      ['another one stays', floor(1, { records: { workloads: [larger], pods: more } }), []],
      ['all are asked for', floor(2, { records: { workloads: [larger], pods: more } }), ['OnDemandFloor']],
    ])('%s', (_, reasons, expected) => {
      expect(reasons).toEqual(expected);
    });

    test('a pod on spot, or on a node of no known side, is none of it', () => {
      expect(reasonsFor({}, decision({ onDemandFloor: 1 }))).toEqual([]);
      const elsewhere = { records: withPods({ o1: { nodeName: 'x' } }) };
      expect(floor(1, elsewhere)).toEqual([]);
    });

    test('one that is not ready serves nobody', () => {
      expect(floor(1, { records: withPods({ o1: { ready: false, readyChangedAt: NOON } }) })).toEqual([]);
    });

    test('what it is asked to be is not known where annotations are invalid', () => {
      const reason = { name: 'InvalidConfiguration', message: 'spot-percentage: many', advice: '' } as const;
      expect(reasonsFor({ policy: { state: 'invalid', problems: [], reason } })).toEqual(['InvalidConfiguration']);
    });

    test('for any floor and any pods, who serves on on-demand may go exactly where as many as are asked for stay', () => {
      const anyPod = fc.record({
        ready: fc.constantFrom(true, true, false),
        nodeName: fc.constantFrom('o', 'o', 'o', 's', 'x', undefined),
        deletingAt: fc.constantFrom(undefined, undefined, NOON),
      });
      const isServing = ({ ready, nodeName, deletingAt }: Partial<PodRecord>): boolean =>
        ready === true && nodeName === 'o' && deletingAt === undefined;
      fc.assert(
        fc.property(fc.nat(3), fc.array(anyPod, { minLength: 1, maxLength: 6 }), (onDemandFloor, given) => {
          const [first, ...others] = given.map((each, index) => ({
            ...pod(`d${index}`, 'o'),
            ...each,
            readyChangedAt: 0,
            ...(index === 0 && { deletingAt: undefined }),
          }));
          if (first === undefined) return;
          const workloads = [aDeployment({ replicas: given.length })];
          const victim = decision({ pod: { namespace: 'shop', name: 'd0', uid: 'd0' }, onDemandFloor });
          const isHeld = reasonsFor({ records: { workloads, pods: [first, ...others] } }, victim).includes(
            'OnDemandFloor',
          );
          expect(isHeld).toBe(isServing(first) && others.filter(isServing).length < onDemandFloor);
        }),
      );
    });
  });

  test('what is approved is the decision; a pod that is gone is not', () => {
    const verdict = inspect(decision(), scene());
    expect(verdict.kind === 'approved' && verdict.approved.decision.kind).toBe('evict-to-resize');
    expect(reasonsFor({}, decision({ pod: { namespace: 'shop', name: 's3', uid: 'other' } }))).toEqual([
      'PreconditionFailed',
    ]);
  });
});

describe('a move', () => {
  test('waits only for the resize of its own pod', () => {
    const reasons = (uid: string) =>
      inspectAll(evict(), scene({ isResizing: (each) => each === uid })).map(({ reason }) => reason);
    expect(reasons('s1')).toEqual([]);
    expect(reasons('s3')).toEqual(['ResizeInFlight']);
  });

  test('waits for a rollout that rightsizing began', () => {
    const inFlight = [{ workloadUid: web.uid, podUid: web.uid, since: NOON, isRollout: true }];
    expect(inspectAll(evict(), scene({ inFlight })).map(({ reason }) => reason)).toEqual(['RolloutInProgress']);
  });
});
