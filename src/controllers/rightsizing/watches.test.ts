import { describe, expect, test } from 'vitest';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, MIB } from '../../model/testing/sizing-records.ts';
import { anOngoingChange } from '../testing/ongoing-change.ts';
import { isOwnRollout, type OngoingChange, Watches } from './watches.ts';

const before = [aContainer({ size: { cpuRequest: 500, memoryRequest: 512 * MIB } })];
const less: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 240, memoryRequest: 120 * MIB } }];
const after = applyChanges(before, less);
const byHand = applyChanges(after, [{ container: 'app', to: { memoryRequest: 900 * MIB } }]);
const cpuAlone: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 240 } }];

const changeOf = (changes?: Partial<OngoingChange>): OngoingChange => anOngoingChange(less, before, changes);
const watching = (...ongoing: readonly OngoingChange[]): Watches => {
  const watches = new Watches();
  watches.resume(() => ({ ongoing, takenBack: [] }));
  return watches;
};
const left = (
  changes: Partial<OngoingChange>,
  inForce: readonly ReturnType<typeof aContainer>[],
  isTemplateDue = false,
) => {
  const watches = watching(changeOf(changes));
  watches.dropOutlived(inForce, isTemplateDue);
  return watches.ongoing.map((each) => each.changes);
};

describe('what others have put other sizes in force for', () => {
  test.each<
    [string, Partial<OngoingChange>, readonly ReturnType<typeof aContainer>[], readonly (readonly SizeChange[])[]]
  >([
    ['is dropped from what is spread, and the rest goes on', {}, byHand, [cpuAlone]],
    ['nothing where it is all in force', {}, after, [less]],
    ['is all of what only the first pod has', { phase: 'canary' }, byHand, []],
    ['nothing while the first pod alone has it', { phase: 'canary' }, before, [less]],
    [
      'is dropped where new pods have it first: it is written',
      { method: 'Evict', phase: 'canary' },
      byHand,
      [cpuAlone],
    ],
    ['nothing there', { method: 'Evict', phase: 'canary' }, after, [less]],
    ['is dropped from a template', { method: 'Recreate' }, byHand, [cpuAlone]],
  ])('%s', (_, changes, inForce, expected) => {
    expect(left(changes, inForce)).toEqual(expected);
  });

  test('a template that was written a moment ago is not shown yet', () => {
    expect(left({ method: 'Recreate' }, before, true)).toEqual([less]);
    expect(left({ method: 'Recreate' }, before, false)).toEqual([]);
    expect(left({}, before, true)).toEqual([]);
  });
});

describe('a rollout while a change is watched', () => {
  test('is that of a change by a new template until it was seen to be over', () => {
    const watches = watching(changeOf(), changeOf({ method: 'Recreate' }));
    expect(watches.ongoing.map(isOwnRollout)).toEqual([false, true]);
    const begun = watches.ongoing;
    watches.noteRolloutOver(({ method }) => method === 'InPlace');
    expect(watches.ongoing).toBe(begun);
    watches.noteRolloutOver(() => true);
    const { ongoing } = watches;
    expect(ongoing.map(isOwnRollout)).toEqual([false, false]);
    watches.noteRolloutOver(() => true);
    expect(watches.ongoing).toBe(ongoing);
  });

  test('of somebody else is noted in the changes it has no part in, and only where there is something new', () => {
    const record = aSizedPod(aReplicaSet(aDeployment()), 'web-9', {
      statuses: [aContainerStatus(aContainer(), { restartCount: 2 })],
    });
    const pods = [{ pod: record, sizing: record.sizing }];
    const watches = watching(changeOf(), changeOf({ method: 'Recreate' }));
    watches.noteRolledOut(pods, (change) => !isOwnRollout(change));
    const { ongoing } = watches;
    expect(ongoing.map(({ restarted }) => [...restarted.values()])).toEqual([[2], []]);
    watches.noteRolledOut(pods, (change) => !isOwnRollout(change));
    expect(watches.ongoing).toBe(ongoing);
  });
});

describe('what is watched', () => {
  const memoryAlone: readonly SizeChange[] = [{ container: 'app', to: { memoryRequest: 120 * MIB } }];
  const memory = { container: 'app', resource: 'memory' } as const;
  const cpu = { container: 'app', resource: 'cpu' } as const;

  test('is read once from what the last leader wrote: what this one has ended stays so', () => {
    const change = changeOf();
    const watches = watching(change);
    watches.end(change);
    watches.resume(() => ({ ongoing: [change], takenBack: [memory] }));
    expect([watches.ongoing, watches.takenBack]).toEqual([[], []]);
  });

  test('is of each resource of a container the latest change alone, the oldest first', () => {
    const watches = watching(changeOf());
    const newer = changeOf({ changes: memoryAlone });
    watches.begin(newer);
    expect(watches.ongoing).toEqual([changeOf({ changes: cpuAlone }), newer]);
    watches.spread(newer);
    expect(watches.ongoing[1]).toEqual({ ...newer, phase: 'spread' });
  });

  test('goes on without what did harm, which is remembered until no pod has it', () => {
    const change = changeOf();
    const watches = watching(change);
    watches.takeBack(change, [memory]);
    expect([watches.ongoing, watches.takenBack]).toEqual([[changeOf({ changes: cpuAlone })], [memory]]);
    watches.forgetHarm([cpu]);
    expect(watches.takenBack).toEqual([memory]);
    watches.forgetHarm();
    expect(watches.takenBack).toEqual([]);
  });

  test.each([
    ['is forgotten', false, 1],
    ['is read anew where it may have been written all the same', true, 0],
  ])('since a checkpoint %s', (_, isUncertain, expected) => {
    const change = changeOf();
    const watches = watching(change);
    const goBack = watches.checkpoint();
    watches.takeBack(change, [memory]);
    goBack(isUncertain);
    expect([watches.ongoing, watches.takenBack]).toEqual([[change], []]);
    watches.resume(() => ({ ongoing: [], takenBack: [] }));
    expect(watches.ongoing).toHaveLength(expected);
  });

  test('is only what is written, once a first pod in place is not looked after any more', () => {
    const canary = { phase: 'canary' } as const;
    const written = changeOf({ ...canary, method: 'Evict', changes: cpuAlone });
    const watches = watching(written, changeOf({ ...canary, changes: memoryAlone }));
    watches.dropUnspread();
    expect(watches.ongoing).toEqual([written]);
  });

  test('ends when its time is over, which for less begins once every pod has it', () => {
    const revertMillis = 60_000;
    const watches = watching(changeOf());
    watches.review(() => false, NOON + revertMillis, revertMillis);
    watches.review(() => true, NOON + 2 * revertMillis - 1, revertMillis);
    expect(watches.ongoing).toHaveLength(1);
    watches.review(() => true, NOON + 2 * revertMillis, revertMillis);
    expect(watches.ongoing).toEqual([]);
  });
});
