import { describe, expect, test } from 'vitest';
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { judgeChange } from '../../decide/rightsizing/judge-change.ts';
import { watchChange, whileAsked } from '../../decide/rightsizing/watched-change.ts';
import { writeAppliedSizes } from '../../model/applied-sizes.ts';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import { MAX_TOLD_PODS, readWatch } from '../../model/watched-changes.ts';
import { anOngoingChange } from '../testing/ongoing-change.ts';
import { readWatches, watchesText } from './watch-annotation.ts';
import type { OngoingChange } from './watches.ts';

const DAY = 86_400_000;
const before = [aContainer({ size: { cpuRequest: 500, memoryRequest: 512 * MIB } }), aContainer({ name: 'log' })];
const less: readonly SizeChange[] = [{ container: 'app', to: { memoryRequest: 128 * MIB, memoryLimit: 256 * MIB } }];
const ongoing = (changes?: Partial<OngoingChange>): OngoingChange => anOngoingChange(less, before, changes);
const takenBack = [{ container: 'app', resource: 'memory' as const }];

/** What the next leader watches of a workload that the last one wrote this on. */
function resumed(text: string | null, now = NOON + 60_000, inForce = applyChanges(before, less), containers = before) {
  return readWatches(workloadWith(text, inForce, containers), [], now);
}
const workloadWith = (text: string | null, inForce = applyChanges(before, less), containers = before) =>
  aSizedWorkload({
    containers,
    annotations: {
      [rightsizingKeys.appliedSizes]: writeAppliedSizes(containers, inForce) ?? '',
      ...(text !== null && { [rightsizingKeys.watchedChanges]: text }),
    },
  });

describe('what is kept', () => {
  test('a decrease, as it is, with what was in force before', () => {
    const watched = resumed(watchesText({ ongoing: [ongoing()], takenBack }));
    const [change] = watched.ongoing;
    expect(change).toMatchObject({ changes: less, method: 'InPlace', phase: 'spread', startedAt: NOON });
    expect(change?.before).toEqual(before);
    expect(watched.takenBack).toEqual(takenBack);
  });

  test('what was in force before a new template, which shows it no longer: sizes there were and sizes there were none of', () => {
    const after = applyChanges(before, less);
    const text = watchesText({ ongoing: [ongoing({ method: 'Recreate' })], takenBack: [] });
    expect(resumed(text, NOON + 1, after, [...after]).ongoing[0]?.before).toEqual(before);
  });

  test('restarts that the changed containers had when it began, and who was not ready; of too many none are told', () => {
    const of = (restarts: ReadonlyMap<string, number>, unready = new Set<string>()) =>
      readWatch(watchesText({ ongoing: [ongoing({ restarts, unready })], takenBack: [] }) ?? undefined).changes[0]
        ?.pods;
    const some = new Map([
      ['a/app', 3],
      ['b/app', 0],
      ['a/log', 2],
    ]);
    expect(of(some, new Set(['b']))).toEqual({ restarts: new Map([['a/app', 3]]), unready: new Set(['b']) });
    expect(of(new Map())).toEqual({ restarts: new Map(), unready: new Set() });
    const many = (count: number) => new Map(Array.from({ length: count }, (_, index) => [`${index}/app`, 1]));
    expect(of(many(MAX_TOLD_PODS))?.restarts.size).toBe(MAX_TOLD_PODS);
    expect(of(many(MAX_TOLD_PODS), new Set(['b']))).toBeUndefined();
  });

  test('and the next leader blames nothing that was there, and all that came since', () => {
    const replicaSet = aReplicaSet(aDeployment());
    const podOf = (uid: string, restartCount: number): SizedPod => {
      // By the clock of its node it ended an hour before it did.
      const lastTermination = { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON - 3_600_000 };
      const statuses = [aContainerStatus(aContainer(), { restartCount, lastTermination })];
      const record = aSizedPod(replicaSet, uid, { statuses }, { uid });
      return { pod: record, sizing: record.sizing };
    };
    const text = watchesText({ ongoing: [ongoing({ restarts: new Map([['old/app', 2]]) })], takenBack: [] });
    const pods = [podOf('old', 2), podOf('new', 1)];
    const [change] = readWatches(workloadWith(text), pods, NOON + 60_000).ongoing;
    const harm = change && judgeChange(change, pods, NOON + 60_000);
    expect(harm?.cause).toBe('container app of pod new was killed for want of memory');
  });

  test('and a pod that had not begun to run then, and is still starting, is not blamed for it', () => {
    const record = aSizedPod(
      aReplicaSet(aDeployment()),
      'starts',
      { statuses: [aContainerStatus(aContainer(), { ready: false })] },
      { createdAt: NOON - 60_000, ready: false, readyChangedAt: NOON - 60_000 },
    );
    const pods = [{ pod: record, sizing: record.sizing }];
    const begun = watchChange(less, before, [{ pod: { ...record, phase: 'Pending' }, sizing: record.sizing }], NOON);
    const text = watchesText({ ongoing: [ongoing(begun)], takenBack: [] });
    const [change] = readWatches(workloadWith(text), pods, NOON + 60_000).ongoing;
    expect(change && judgeChange(change, pods, NOON + 120_000)).toBeUndefined();
  });

  test('which containers a change in place restarts; new pods restart nothing', () => {
    const restarting = before.map((each) => ({ ...each, memoryRestart: 'RestartContainer' as const }));
    const of = (method: OngoingChange['method']) => {
      const text = watchesText({ ongoing: [ongoing({ method })], takenBack: [] });
      return [...(resumed(text, NOON + 1, applyChanges(restarting, less), restarting).ongoing[0]?.restarting ?? [])];
    };
    expect([of('InPlace'), of('Evict')]).toEqual([['app'], []]);
  });

  test('restarts that Stowage caused for something else', () => {
    const spec = before.map((each) => ({ ...each, memoryRestart: 'RestartContainer' as const }));
    const record = aSizedPod(
      aReplicaSet(aDeployment()),
      'web-1',
      { containers: spec, statuses: [aContainerStatus(aContainer(), { restartCount: 1 })] },
      { uid: 'a' },
    );
    const there: SizedPod = { pod: record, sizing: record.sizing };
    const asked = [{ container: 'app', to: { memoryRequest: 999 * MIB } }];
    const of = (changes: readonly SizeChange[]) => {
      const watched = whileAsked(ongoing(watchChange(changes, spec, [there], NOON, true)), there, asked);
      return readWatch(watchesText({ ongoing: [watched], takenBack: [] }) ?? '').changes[0]?.pods?.restarts.get(
        'a/app',
      );
    };
    expect(of([{ container: 'app', to: { cpuRequest: 1 } }])).toBe(2);
    // One more is allowed for by whoever reads it.
    expect(of([{ container: 'app', to: { cpuRequest: 1, memoryRequest: 1 } }])).toBe(1);
  });

  test('nothing of what only rises, and no annotation where there is nothing', () => {
    const raise = ongoing(watchChange([{ container: 'app', to: { cpuRequest: 900 } }], before, [], NOON));
    expect(watchesText({ ongoing: [raise], takenBack: [] })).toBeNull();
    expect(watchesText({ ongoing: [{ ...raise, method: 'Recreate', isOut: true }], takenBack: [] })).toBeNull();
    expect(resumed(null).ongoing).toEqual([]);
  });

  test('what rises by a new template, until it was seen that its rollout is over', () => {
    const more: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 900 } }];
    const raise = ongoing({ ...watchChange(more, before, [], NOON), method: 'Recreate' });
    const text = watchesText({ ongoing: [raise], takenBack: [] });
    const after = [...applyChanges(before, more)];
    expect(resumed(text, NOON + 1, after, after).ongoing).toMatchObject([
      { changes: more, before, method: 'Recreate', startedAt: NOON },
    ]);
  });

  test.each([0, -600_000, 5_000])('the first pod, watched anew: the clock of who told was %i ms off', (skew) => {
    const canary = { uid: 'a', name: 'web-1', at: NOON + skew };
    const text = watchesText({ ongoing: [ongoing({ phase: 'canary', canary })], takenBack: [] });
    const now = NOON + 1;
    expect(resumed(text, now, before).ongoing).toMatchObject([{ phase: 'canary', canary: { ...canary, at: now } }]);
  });
});

describe('what is not resumed', () => {
  const text = watchesText({ ongoing: [ongoing()], takenBack: [] });

  test('what somebody else has replaced meanwhile', () => {
    const others = applyChanges(before, [{ container: 'app', to: { memoryRequest: 256 * MIB } }]);
    expect(resumed(text, NOON + 1, others).ongoing).toEqual([]);
  });

  test('what is a day old', () => {
    expect(resumed(text, NOON + DAY).ongoing).toHaveLength(1);
    expect(resumed(text, NOON + DAY + 1).ongoing).toEqual([]);
  });
});

test('a last leader whose clock was ahead began now', () => {
  const canary = { uid: 'a', name: 'web-1', at: NOON + 5_000 };
  const text = watchesText({ ongoing: [ongoing({ phase: 'canary', canary, startedAt: NOON + 5_000 })], takenBack: [] });
  expect(resumed(text, NOON, before).ongoing).toMatchObject([{ startedAt: NOON, canary: { at: NOON } }]);
});
