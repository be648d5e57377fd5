/** Which workloads of a namespace pods are awaited of: only those are asked that are not as they should be. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AwaitedPods, awaitedIn, awaitedOf, givenBack, isUnsettled } from './awaited-pods.ts';
import { bornSizes } from './born-template.ts';
import type { PodRecord } from './records.ts';
import { noReplicas } from './replica-sizes.ts';
import { addUse, noUse } from './size-bounds.ts';
import type { SizedWorkload } from './sizing-records.ts';
import { createSizingSnapshot } from './sizing-snapshot.ts';
import { NOON } from './testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload } from './testing/sizing-records.ts';

const containers = [aContainer({ size: { cpuRequest: 100 } })];
const stateOfPod = fc.record({
  phase: fc.constantFrom<PodRecord['phase']>('Running', 'Running', 'Pending', 'Failed'),
  deletingAt: fc.constantFrom(undefined, undefined, NOON + 1, NOON - 1),
  isAsked: fc.boolean(),
});
const drawnWorkload = fc.record({
  kind: fc.constantFrom('StatefulSet', 'DaemonSet', 'Job'),
  namespace: fc.constantFrom('shop', 'shop', 'other'),
  replicas: fc.integer({ min: 0, max: 3 }),
  deleting: fc.boolean(),
  pods: fc.array(stateOfPod, { maxLength: 4 }),
});

describe('pods that are awaited in a namespace', () => {
  test('for any workloads, are those of all of them, and so is what they give back', () => {
    fc.assert(
      fc.property(fc.array(drawnWorkload, { maxLength: 5 }), (drawn) => {
        const workloads: SizedWorkload[] = [];
        const pods: PodRecord[] = [];
        const going = new Map<string, string>();
        for (const [index, { pods: states, ...about }] of drawn.entries()) {
          const workload = aSizedWorkload({ ...about, name: `w${index}`, uid: `w${index}`, containers });
          workloads.push(workload);
          for (const [ordinal, { isAsked, ...state }] of states.entries()) {
            const uid = `w${index}-${ordinal}`;
            pods.push(aSizedPod(workload, uid, { containers }, { uid, ...state }));
            if (isAsked) going.set(uid, workload.uid);
          }
        }
        const view = createSizingSnapshot({ workloads, pods });
        const when = { isGoing: (uid: string) => going.has(uid), now: NOON };
        const expected = new Map<string, AwaitedPods>();
        let returning = noUse;
        for (const workload of view.workloads()) {
          if (workload.namespace !== 'shop') continue;
          const own = view.podsOf(workload);
          const sizes = () => bornSizes(workload, noReplicas);
          const born = { states: () => noReplicas, enoughFor: sizes, asTemplate: () => containers };
          const missing = awaitedOf(workload, own, born, when);
          if (missing !== undefined) expected.set(workload.uid, missing);
          returning = addUse(returning, givenBack(workload, own, when));
        }
        const { awaited, ...rest } = awaitedIn(view, 'shop', going, NOON);
        const text = (each: AwaitedPods): string => JSON.stringify(each);
        expect(awaited.map(text).toSorted()).toEqual([...expected.values()].map(text).toSorted());
        expect(Math.round(rest.returning.cpuRequest * 1e6)).toBe(Math.round(returning.cpuRequest * 1e6));
      }),
    );
  });

  test('of a workload in another namespace none is, though a pod of it was asked to go', () => {
    const workload = aSizedWorkload({ kind: 'StatefulSet', namespace: 'other', replicas: 1, containers });
    const view = createSizingSnapshot({ workloads: [workload], pods: [aSizedPod(workload, 'web-0')] });
    const going = new Map([['uid-other-web-0', workload.uid]]);
    expect(awaitedIn(view, 'other', going, NOON).awaited).toMatchObject([{ count: 1 }]);
    expect(awaitedIn(view, 'shop', going, NOON)).toEqual({ awaited: [], returning: noUse });
  });
});

describe('a workload is unsettled', () => {
  const set = aSizedWorkload({ kind: 'StatefulSet', replicas: 1 });
  const pod = aSizedPod(set, 'web-0');

  test.each<[string, Partial<SizedWorkload>, readonly PodRecord[], boolean]>([
    ['with as many pods as it wants: not', {}, [pod], false],
    ['while a pod is missing', {}, [], true],
    ['while there is one too many', { replicas: 0 }, [pod], true],
    ['while a pod is on its way out', { replicas: 0 }, [{ ...pod, deletingAt: NOON }], true],
    ['by a pod that ended: not', { replicas: 0 }, [{ ...pod, deletingAt: NOON, phase: 'Failed' }], false],
    ['while a pod cannot be read for sizing, as then it is not there', {}, [{ ...pod, sizing: undefined }], true],
    ['for want of pods that have run to their end: not', { kind: 'Job' }, [], false],
    ['while a pod of it, too, is on its way out', { kind: 'Job' }, [{ ...pod, deletingAt: NOON }], true],
  ])('%s', (_, changes, pods, expected) => {
    expect(isUnsettled({ ...set, ...changes }, pods)).toBe(expected);
  });
});
