import { describe, expect, test } from 'vitest';
import { watchChange } from '../../decide/rightsizing/watched-change.ts';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, MIB } from '../../model/testing/sizing-records.ts';
import { createRightsizingMemory, dropOutlived, type OngoingChange, type WorkloadMemory } from './memory.ts';
import { nothingSeen } from './throttling.ts';

const before = [aContainer({ size: { cpuRequest: 500, memoryRequest: 512 * MIB } })];
const less: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 240, memoryRequest: 120 * MIB } }];
const after = applyChanges(before, less);
const byHand = applyChanges(after, [{ container: 'app', to: { memoryRequest: 900 * MIB } }]);
const cpuAlone: readonly SizeChange[] = [{ container: 'app', to: { cpuRequest: 240 } }];

const left = (
  changes: Partial<OngoingChange>,
  inForce: readonly ReturnType<typeof aContainer>[],
  memory: Partial<WorkloadMemory> = {},
) => {
  const change: OngoingChange = {
    ...watchChange(less, before, [], NOON),
    method: 'InPlace',
    phase: 'spread',
    canary: undefined,
    throttling: nothingSeen(),
    ...changes,
  };
  const all = Object.assign(createRightsizingMemory().of('w'), { ongoing: [change], ...memory });
  dropOutlived(all, inForce, NOON + 10_000);
  return all.ongoing.map((each) => each.changes);
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
    const retemplated = (wasSeen: boolean, at: number) => ({ retemplated: { changes: less, at, wasSeen } });
    expect(left({ method: 'Recreate' }, before, retemplated(false, NOON))).toEqual([less]);
    expect(left({ method: 'Recreate' }, before, retemplated(true, NOON))).toEqual([]);
    expect(left({ method: 'Recreate' }, before, retemplated(false, NOON - 20_000))).toEqual([]);
    expect(left({}, before, retemplated(false, NOON))).toEqual([]);
  });
});
