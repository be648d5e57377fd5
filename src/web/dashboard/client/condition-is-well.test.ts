import { expect, test } from 'vitest';
import { policyConditions } from '../../../decide/rightsizing/policy-conditions.ts';
import { policyFacts } from '../../../decide/rightsizing/testing/policy-facts.ts';
import { conditionIsWell } from './condition-is-well.ts';

test('every condition of a policy that is well is well, and none in its other state', () => {
  const conditions = policyConditions(policyFacts(), [], 0);
  expect(conditions.filter((each) => !conditionIsWell(each))).toEqual([]);
  const others = conditions.map(({ type, status }) => ({ type, status: status === 'True' ? 'False' : 'True' }));
  expect(others.filter(conditionIsWell)).toEqual([]);
});
