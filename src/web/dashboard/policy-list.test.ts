import { expect, test } from 'vitest';
import { compilePlacementRules } from '../../controllers/placement/rules.ts';
import { createResultStore } from '../../controllers/rightsizing/result-store.ts';
import { policyRecord } from '../../model/testing/policies.ts';
import { someSettings } from '../../model/testing/records.ts';
import { policyList } from './policy-list.ts';

const rules = compilePlacementRules(someSettings());
const sources = {
  rules: () => rules,
  operator: () => ({
    identity: 'a',
    isLeader: true,
    readOnly: false,
    engines: { placement: true, rightsizing: true, allocation: false },
  }),
};

test('of more policies than are told, the heaviest are, and the others are counted', () => {
  const policies = Array.from({ length: 503 }, (_, weight) =>
    policyRecord({ name: `p${weight}`, spec: { weight: weight + 1 } }),
  );
  const book = { results: createResultStore(), discovered: {}, owned: 2 };
  const told = policyList({ ...sources, rightsizing: { policies: () => policies, bookOf: () => book } }, 7);
  expect(told.policies).toHaveLength(500);
  expect(told.policies.slice(0, 2).map(({ name, weight, owned }) => [name, weight, owned])).toEqual([
    ['p502', 503, 2],
    ['p501', 502, 2],
  ]);
  expect(told.omitted).toBe(3);
});

test('without rightsizing there are none, whatever the cluster holds', () => {
  expect(policyList({ ...sources, rightsizing: undefined }, 7)).toMatchObject({ at: 7, policies: [], omitted: 0 });
});
