import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OptimizationPolicyStatus, PolicyWorkloadStatus } from '../../api/optimization-policy-status.ts';
import { formatTime } from '../../lib/rfc3339.ts';
import { NOON } from '../../model/testing/records.ts';
import { formatCpu } from './amount-text.ts';
import { gatherMillis, isNear, isWorthWriting } from './worth-writing.ts';

const MINUTE = 60_000;
const web: PolicyWorkloadStatus = {
  name: 'web',
  namespace: 'shop',
  kind: 'Deployment',
  lastRecommendation: formatTime(NOON),
  lastApplied: formatTime(NOON - MINUTE),
  recommendations: [
    { container: 'app', cpu: '240m', memory: '120Mi', explanation: 'cpu: target: 240m; memory: 120Mi' },
  ],
  status: 'Applied',
  reason: 'WithinMinChange',
  message: 'What is requested is close enough: 4.2 % from the current request, less than 10 %',
};
const api: PolicyWorkloadStatus = { ...web, name: 'api' };
const written: OptimizationPolicyStatus = {
  observedGeneration: 1,
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      observedGeneration: 1,
      lastTransitionTime: formatTime(NOON),
      reason: 'PolicyValid',
      message: 'In force for 2 workloads',
    },
  ],
  workloadsDiscovered: 2,
  workloadsProcessed: 2,
  workloadsByType: { deployments: 2, statefulSets: 0, daemonSets: 0 },
  lastReconciliation: formatTime(NOON),
  workloads: [web, api],
};
/** A minute later, with `web` changed like this. */
const isWorth = (changes: Partial<PolicyWorkloadStatus>, status: Partial<OptimizationPolicyStatus> = {}): boolean => {
  const at = NOON + MINUTE;
  const after = { ...written, lastReconciliation: formatTime(at), workloads: [{ ...web, ...changes }, api], ...status };
  return isWorthWriting(written, after, at);
};
const advice = (cpu: string, memory: string | undefined, explanation = '') => ({
  recommendations: [{ container: 'app', cpu, ...(memory !== undefined && { memory }), explanation }],
});

describe('not worth a write', () => {
  test.each<[string, Partial<PolicyWorkloadStatus>, Partial<OptimizationPolicyStatus>?]>([
    ['nothing new', {}],
    [
      'values a little higher, with the time and the reasons of them',
      { ...advice('252m', '126Mi'), lastRecommendation: formatTime(NOON + MINUTE) },
    ],
    ['values a little lower', advice('0.229', '115Mi')],
    ['other numbers in the same sentence', { message: web.message?.replace('4.2', '3.9') ?? '' }],
    ['another order', {}, { workloads: [api, web] }],
  ])('%s', (_, changes, status) => {
    expect(isWorth(changes, status)).toBe(false);
  });
});

describe('worth a write', () => {
  test.each<[string, Partial<PolicyWorkloadStatus>, Partial<OptimizationPolicyStatus>?]>([
    ['CPU that is 6 % higher', advice('256m', '120Mi')],
    ['memory that is 6 % lower', advice('240m', '113Mi')],
    ['a value that is not known any more', advice('240m', undefined)],
    ['another container', { recommendations: [{ container: 'log', cpu: '240m', memory: '120Mi' }] }],
    ['a change that was made', { lastApplied: formatTime(NOON) }],
    ['another state', { status: 'Pending' }],
    ['another reason', { reason: 'GainTooSmall' }],
    ['another sentence', { message: 'The last sample of CPU of container app is too old' }],
    ['a name that is another, though it ends in a number', { name: 'web-2' }],
    ['a workload more', {}, { workloads: [web, api, { ...web, name: 'db' }] }],
    ['a workload less', {}, { workloads: [web] }],
    ['a count', {}, { workloadsProcessed: 1 }],
    ['another spec that was seen', {}, { observedGeneration: 2 }],
    [
      'a condition',
      {},
      { conditions: (written.conditions ?? []).map((each) => ({ ...each, status: 'False' as const })) },
    ],
  ])('%s', (_, changes, status) => {
    expect(isWorth(changes, status)).toBe(true);
  });

  test('numbers that are part of a name are no numbers', () => {
    const told = (pod: string) => ({ ...web, message: `pod ${pod} is watched for 3m` });
    const status = (pod: string) => ({ ...written, workloads: [told(pod), api] });
    expect(isWorthWriting(status('db-1'), status('db-2'), NOON)).toBe(true);
    expect(isWorthWriting(status('db-1'), status('db-1'), NOON)).toBe(false);
  });

  test('whatever was held back, and the time of the last pass, an hour after the last write', () => {
    const after = { ...written, ...{ workloads: [{ ...web, ...advice('250m', '121Mi') }, api] } };
    const at = (millis: number) =>
      isWorthWriting(written, { ...after, lastReconciliation: formatTime(NOON + millis) }, NOON + millis);
    expect(at(60 * MINUTE - 1)).toBe(false);
    expect(at(60 * MINUTE)).toBe(true);
  });

  test('what a leader wrote whose clock was days ahead is renewed at once', () => {
    const before = { ...written, lastReconciliation: formatTime(NOON + 48 * 60 * MINUTE) };
    expect(isWorthWriting(before, { ...written, lastReconciliation: formatTime(NOON) }, NOON)).toBe(true);
  });

  test('everything where nothing was written, or by another hand', () => {
    expect(isWorthWriting({}, written, NOON)).toBe(true);
    const odd = { ...written, workloads: 'none' as never, conditions: {} as never };
    expect(isWorthWriting(odd, written, NOON)).toBe(true);
  });
});

test('of a list that is cut off, what comes and goes at its end is not worth a write', () => {
  const cut = { ...written, workloadsOmitted: 1 };
  const other = { ...cut, workloads: [web, { ...web, name: 'db' }] };
  expect(isWorthWriting(cut, other, NOON)).toBe(false);
  expect(isWorthWriting(cut, { ...other, workloadsOmitted: 2 }, NOON)).toBe(true);
});

test('for any walk of a value, what is published is never further off than a twentieth', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -30, max: 30 }), { maxLength: 60 }), (steps) => {
      let published = written;
      let value = 1000;
      for (const [index, step] of steps.entries()) {
        value = Math.max(1, value + step);
        const at = NOON + index * 1000;
        const after = { ...written, workloads: [{ ...web, ...advice(formatCpu(value), '120Mi') }, api] };
        if (isWorthWriting(published, after, at)) published = after;
        expect(isNear(published.workloads?.[0]?.recommendations?.[0]?.cpu, formatCpu(value))).toBe(true);
      }
    }),
    { numRuns: 100 },
  );
});

test.each([
  [undefined, undefined, true],
  ['100m', undefined, false],
  ['100m', '0.1', true],
  ['0', '1m', false],
  ['1000Mi', '1049Mi', true],
  ['1000Mi', '1060Mi', false],
  // A share of the larger of the two, to the last.
  ['95m', '100m', true],
  ['94m', '99m', false],
  ['0', '0', true],
  ['', '100m', false],
])('%s and %s are near: %s', (a, b, expected) => {
  expect(isNear(a, b)).toBe(expected);
  expect(isNear(b, a)).toBe(expected);
});

test.each([
  [0, 500],
  [1, 525],
  [200, 5500],
  [10_000, 5500],
])('a status about %s workloads gathers news for %s ms', (workloads, millis) => {
  expect(gatherMillis(workloads)).toBe(millis);
});
