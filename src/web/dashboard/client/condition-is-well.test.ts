import { expect, test } from 'vitest';
import { policyConditions } from '../../../decide/rightsizing/policy-conditions.ts';
import { conditionIsWell } from './condition-is-well.ts';

const facts = {
  namespace: 'shop',
  name: 'sizes',
  generation: 1,
  problems: [],
  mode: 'Auto',
  dryRun: false,
  owned: 1,
  withUsage: 1,
  metricsProblem: undefined,
  forbidden: undefined,
  failing: [],
};

test('every condition of a policy that is well is well, and none in its other state', () => {
  const conditions = policyConditions(facts, [], 0);
  expect(conditions.filter((each) => !conditionIsWell(each))).toEqual([]);
  const others = conditions.map(({ type, status }) => ({ type, status: status === 'True' ? 'False' : 'True' }));
  expect(others.filter(conditionIsWell)).toEqual([]);
});
