import { expect, test } from 'vitest';
import { ceilingFactor } from './ceiling.ts';
import { readMarks } from './marks.ts';
import type { AllocationRules } from './rules.ts';
import { testRules } from './testing/pods.ts';

const plain = { marks: readMarks({}), original: { request: 400, limit: undefined } };
const limited = { ...plain, original: { request: 400, limit: 800 } };
const latency = { ...limited, marks: readMarks({ 'mbcas.io/workload-type': 'latency' }) };

test.each<[AllocationRules['ceilings'], typeof plain | typeof limited, boolean, number | undefined]>([
  ['greedy', plain, true, testRules.greedyCeiling],
  ['greedy', limited, false, undefined],
  ['all', plain, true, testRules.greedyCeiling],
  ['all', plain, false, testRules.looseCeiling],
  ['existing', plain, true, undefined],
  ['existing', limited, false, testRules.looseCeiling],
  ['existing', latency, false, undefined],
  ['none', limited, true, undefined],
])('ceilings: %s, of %j, greedy: %s', (ceilings, pod, isGreedy, factor) => {
  expect(ceilingFactor(pod, isGreedy, { ...testRules, ceilings })).toBe(factor);
});
