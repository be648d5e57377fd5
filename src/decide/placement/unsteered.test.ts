import { expect, test } from 'vitest';
import { reasonTable } from '../../lib/reason-table.ts';
import { describeReason, isReasonName } from '../../lib/reasons.ts';
import { unsteered, unsteeredBecause } from './unsteered.ts';

test('the reason is told in its own words, with what it is about', () => {
  expect(unsteered('AlreadyBound', { node: 'node-1' })).toEqual({
    kind: 'unsteered',
    reason: 'AlreadyBound',
    message: expect.stringContaining('node-1'),
    warn: false,
    wouldBe: undefined,
  });
});

test('whoever creates the pod is warned of what somebody should mend, and of nothing that is meant to be', () => {
  const names = Object.keys(reasonTable)
    .filter(isReasonName)
    .filter((name) => describeReason(name).kinds.includes('unsteered'));
  const warnedOf = names.filter((name) => unsteeredBecause({ name: name as 'ReadOnly', message: '' }).warn);
  expect(warnedOf.toSorted()).toEqual(['AdmissionFailed', 'CachesStale', 'InvalidConfiguration', 'OwnerUnknown']);
});
