import { describe, expect, test } from 'vitest';
import type { AllocationPod } from './allocation-pod.ts';
import { judgeNode } from './integrations/node-conditions.ts';
import { type NodePod, type PodHints, unhindered } from './node-input.ts';
import type { AllocationRules } from './rules.ts';
import { takeSeat } from './seat.ts';
import { sizeTarget } from './size-target.ts';
import { type PodSketch, T0, testNode, testPod, testRules, using } from './testing/pods.ts';

interface Given {
  readonly sketch: PodSketch;
  readonly share: number;
  readonly isGreedy?: boolean;
  readonly rules?: Partial<AllocationRules>;
  readonly input?: Partial<NodePod>;
  readonly pod?: Partial<AllocationPod>;
  readonly scale?: number;
}

function size({ sketch, share, isGreedy = false, rules = {}, input = {}, pod = {}, scale = 1 }: Given) {
  const all = { ...testRules, ...rules };
  const table = { node: judgeNode(testNode().conditions, T0), rules: all, now: T0 };
  const seat = takeSeat({ pod: testPod('a', sketch, pod), measured: using(100), ...input }, undefined, table);
  return sizeTarget(seat, share, isGreedy, { allocatable: 1800, scale }, all);
}

const frozen = { bounds: [], spread: 1, affinity: 1, isRequestFrozen: true, limitMin: 720, bandFactor: 2 };
const short: PodHints = {
  ...unhindered,
  bounds: [{ layer: 'pdb', reason: 'PodDisruptionBudget', min: 900 }],
};
const latency = { 'mbcas.io/workload-type': 'latency' };

test.each<[string, Given]>([
  ['a first ceiling', { sketch: { request: 400 }, share: 400, isGreedy: true }],
  ['a lower one', { sketch: { request: 400, limit: 900 }, share: 400, isGreedy: true }],
  ['a limit where there is none', { sketch: { request: 400 }, share: 400, rules: { apply: 'limits' } }],
  [
    'a request that follows the limit',
    { sketch: { request: 800, limit: 850 }, share: 850, rules: { apply: 'limits' } },
  ],
])('while what bounds a pod is not known, nothing of it changes: not %s', (_, given) => {
  const { request, limit } = given.sketch;
  const target = { request, limit, limitPolicy: 'Keep' };
  expect(size({ ...given, input: { hints: 'unknown' } })).toEqual({ target, clamps: [] });
  expect(size(given).target).not.toEqual(target);
});

describe('requests and ceilings', () => {
  test.each<[string, Given, object]>([
    [
      'no limit, not greedy: requests only',
      { sketch: { request: 400 }, share: 500 },
      { request: 500, limit: undefined, limitPolicy: 'Keep' },
    ],
    [
      'greedy: a ceiling of 1.1 shares in tens',
      { sketch: { request: 400 }, share: 305, isGreedy: true },
      { request: 305, limit: 340, limitPolicy: 'Apply' },
    ],
    [
      'greedy, where requests are two thirds of what there is: a ceiling of what it would have of all',
      { sketch: { request: 400 }, share: 200, isGreedy: true, scale: 1.5 },
      { request: 200, limit: 330, limitPolicy: 'Apply' },
    ],
    [
      'all: twice the share',
      { sketch: { request: 400 }, share: 305, rules: { ceilings: 'all' } },
      { request: 305, limit: 610 },
    ],
    [
      'all, greedy',
      { sketch: { request: 400 }, share: 300, isGreedy: true, rules: { ceilings: 'all' } },
      { limit: 330 },
    ],
    [
      'existing: only who has a limit',
      { sketch: { request: 400, limit: 900 }, share: 300, rules: { ceilings: 'existing' } },
      { limit: 600, limitPolicy: 'Apply' },
    ],
    [
      'existing: without one, none',
      { sketch: { request: 400 }, share: 300, isGreedy: true, rules: { ceilings: 'existing' } },
      { limit: undefined, limitPolicy: 'Keep' },
    ],
    [
      'existing: not where latency counts',
      { sketch: { request: 400, limit: 900, marks: latency }, share: 300, rules: { ceilings: 'existing' } },
      { limit: 900, limitPolicy: 'Keep' },
    ],
    [
      'none: not even the greedy',
      { sketch: { request: 400 }, share: 300, isGreedy: true, rules: { ceilings: 'none' } },
      { limit: undefined, limitPolicy: 'Keep' },
    ],
    [
      'a limit of the user stays',
      { sketch: { request: 400, limit: 900 }, share: 500 },
      { request: 500, limit: 900, limitPolicy: 'Keep' },
    ],
    [
      'a ceiling never exceeds the limit of the user',
      { sketch: { request: 400, limit: 500 }, share: 480, isGreedy: true },
      { request: 480, limit: 500 },
    ],
    [
      'a ceiling of ours goes up to the node when greed ends: it cannot be removed',
      { sketch: { request: 300, limit: 330 }, share: 300, input: { original: { request: 600, limit: undefined } } },
      { request: 300, limit: 1800, limitPolicy: 'Lift' },
    ],
    [
      'or back to what the user had',
      { sketch: { request: 300, limit: 330 }, share: 300, input: { original: { request: 600, limit: 900 } } },
      { request: 300, limit: 900, limitPolicy: 'Apply' },
    ],
    [
      'a tiny share still leaves request below limit',
      { sketch: { request: 400 }, share: 10, isGreedy: true },
      { request: 10, limit: 20 },
    ],
    [
      'an autoscaler needs room above its threshold',
      { sketch: { request: 400 }, share: 400, isGreedy: true, input: { hints: frozen } },
      { request: 400, limit: 720 },
    ],
    [
      'integration 9: who is coming up gets no first ceiling',
      { sketch: { request: 400 }, share: 400, rules: { ceilings: 'all' }, pod: { startedAt: T0 } },
      { request: 400, limit: undefined, limitPolicy: 'Keep' },
    ],
    [
      'integration 9: nor a lower one than it has',
      { sketch: { request: 400, limit: 900 }, share: 400, rules: { ceilings: 'all' }, pod: { startedAt: T0 } },
      { request: 400, limit: 900 },
    ],
    [
      'integration 9: but where it is declared batch',
      {
        sketch: { request: 400, marks: { 'mbcas.io/workload-type': 'batch' } },
        share: 300,
        isGreedy: true,
        pod: { startedAt: T0 },
      },
      { request: 300, limit: 330, limitPolicy: 'Apply' },
    ],
  ])('%s', (_name, given, wanted) => {
    expect(size(given).target).toMatchObject(wanted);
  });

  test('allocation bug 3: limits never come in other than tens: 417m, 51m and 1716m (k/k#117782, #129357, #61192)', () => {
    for (const share of [379, 46, 1560]) {
      const { limit } = size({ sketch: { request: 400 }, share, isGreedy: true, rules: { userLimits: 'lift' } }).target;
      expect((limit ?? 1) % 10).toBe(0);
    }
  });
});

describe('limits, as MBCAS', () => {
  const rules = { apply: 'limits' } as const;

  test.each<[string, Given, object]>([
    [
      'the share is the limit, the request nine tenths',
      { sketch: { request: 400, limit: 500 }, share: 500, rules },
      { request: 450, limit: 500, limitPolicy: 'Apply' },
    ],
    [
      'a request that an autoscaler divides by stays',
      { sketch: { request: 400, limit: 500 }, share: 900, rules, input: { hints: frozen } },
      { request: 400, limit: 900 },
    ],
    [
      'integration 6: a limit that a budget keeps raises no request',
      { sketch: { request: 300, limit: 900 }, share: 900, rules, input: { hints: short } },
      { request: 300, limit: 900 },
    ],
    [
      'integration 6: nor does it keep one up',
      { sketch: { request: 850, limit: 900 }, share: 900, rules, input: { hints: short } },
      { request: 810, limit: 900 },
    ],
    [
      'integration 6: one above it does',
      { sketch: { request: 300, limit: 900 }, share: 1000, rules, input: { hints: short } },
      { request: 900, limit: 1000 },
    ],
    [
      'allocation bug 5: never a limit below 10m (k/k#128769)',
      { sketch: { request: 20, limit: 30 }, share: 3, rules },
      { request: 9, limit: 10 },
    ],
    [
      'mbcas bug 8: at 10m request and limit stay apart, so that the QoS class stays',
      { sketch: { request: 20, limit: 30 }, share: 10, rules },
      { request: 9, limit: 10 },
    ],
  ])('%s', (_name, given, wanted) => {
    expect(size(given).target).toMatchObject(wanted);
  });
});

describe('QoS', () => {
  test('mbcas bug 8: Guaranteed keeps request = limit instead of a request of nine tenths, which the API refuses', () => {
    const given: Given = {
      sketch: { request: 400, limit: 400, marks: { 'mbcas.io/skip-guaranteed': 'false' } },
      share: 500,
      pod: { qos: 'Guaranteed' },
    };
    for (const apply of ['limits', 'requests+ceilings'] as const) {
      expect(size({ ...given, rules: { apply } }).target).toEqual({ request: 500, limit: 500, limitPolicy: 'Apply' });
    }
  });

  test('a Burstable pod whose request would reach its limit stays a millicore below, and says so', () => {
    const { target, clamps } = size({ sketch: { request: 400, limit: 500 }, share: 500 });
    expect(target).toMatchObject({ request: 499, limit: 500 });
    expect(clamps).toEqual([{ reason: 'QosClass', what: 'request', before: 500, after: 499 }]);
  });
});
