import { describe, expect, test } from 'vitest';
import type { ContainerSize } from '../../model/sizing-records.ts';
import type { AllocationPod } from './allocation-pod.ts';
import { type Bound, holdAt } from './bounds.ts';
import { judgeNode, type NodeCondition } from './integrations/node-conditions.ts';
import { type NodePod, unhindered } from './node-input.ts';
import type { AllocationRules } from './rules.ts';
import { isResizing, type Seat, takeSeat } from './seat.ts';
import { type PodSketch, T0, testNode, testPod, testPodOf, testRules, using } from './testing/pods.ts';

interface Given {
  readonly sketch?: Partial<PodSketch>;
  readonly pod?: Partial<AllocationPod>;
  readonly input?: Partial<NodePod>;
  readonly rules?: Partial<AllocationRules>;
  readonly conditions?: readonly NodeCondition[] | undefined;
}

function seatOf({ sketch = {}, pod = {}, input = {}, rules = {}, ...more }: Given): Seat {
  const conditions = 'conditions' in more ? more.conditions : testNode().conditions;
  const table = { node: judgeNode(conditions, T0), rules: { ...testRules, ...rules }, now: T0 };
  return takeSeat(
    { pod: testPod('a', { request: 600, ...sketch }, pod), measured: using(300), ...input },
    undefined,
    table,
  );
}
const mark = (key: string, value: string): Partial<PodSketch> => ({ marks: { [`mbcas.io/${key}`]: value } });
const bounded = { tenantAnnotations: 'bounded' } as const;
const trusting = { ...bounded, weight: { ...testRules.weight, trustedNamespaces: ['shop'] } };
const reasonsOf = (seat: Seat): string[] => seat.clamps.map(({ reason }) => reason);

describe('the claim', () => {
  test.each<[string, Given, number]>([
    ['a third of the request', {}, 200],
    ['at least the baseline', { sketch: { request: 150 } }, 100],
    ['never more than was requested', { sketch: { request: 60 } }, 60],
    ['what rightsizing advises', { input: { advice: 350.2 } }, 351],
    ['what the pod says', { sketch: mark('min-cpu', '250m') }, 250],
    ['what the pod says, be it more than it requested', { sketch: mark('min-cpu', '9') }, 9000],
    ['where tenants are bounded, at most its first request', { sketch: mark('min-cpu', '9'), rules: bounded }, 600],
    [
      'where tenants are bounded, of the first request and not of what it has come to',
      { sketch: mark('min-cpu', '9'), rules: bounded, input: { original: { request: 500, limit: undefined } } },
      500,
    ],
    ['where tenants are bounded, less is as it was', { sketch: mark('min-cpu', '250m'), rules: bounded }, 250],
    [
      'where tenants are bounded, rightsizing is not',
      { sketch: mark('min-cpu', '9'), rules: bounded, input: { advice: 800 } },
      800,
    ],
    ['where tenants are bounded, trusted ones are not', { sketch: mark('min-cpu', '9'), rules: trusting }, 9000],
    ['advice above what the pod says', { sketch: mark('min-cpu', '250m'), input: { advice: 400 } }, 400],
    [
      'allocation bug 20: of the original request, not of what it has come to, so that nothing spirals down (karpenter#829)',
      { input: { original: { request: 900, limit: undefined } } },
      300,
    ],
    [
      'mbcas bug 13: known at once after a restart, nothing needs to be learned',
      { input: { original: { request: 900, limit: undefined }, measured: using(0) } },
      300,
    ],
  ])('%s', (_name, given, claim) => {
    expect(seatOf(given).box.claim).toBe(claim);
  });
});

describe('the weight', () => {
  test.each<[string, Given, number]>([
    ['one', {}, 1],
    ['what the pod says', { sketch: mark('weight', '4') }, 4],
    ['at most 64', { sketch: mark('weight', '1000') }, 64],
    ['where tenants are bounded, at most 1', { sketch: mark('weight', '64'), rules: bounded }, 1],
    ['where tenants are bounded, by whatever key', { sketch: mark('priority-class', 'critical'), rules: bounded }, 1],
    ['where tenants are bounded, less than 1 as they say', { sketch: mark('weight', '0.25'), rules: bounded }, 0.25],
    ['where tenants are bounded, trusted ones are not', { sketch: mark('weight', '4'), rules: trusting }, 4],
    ['at least 1/64', { sketch: mark('weight', '0.0001') }, 1 / 64],
    ['integration 1: doubled by a priority of 1000', { sketch: { priority: 1000 } }, 2.0005],
    ['integration 1: a tenant cannot exceed its class', { sketch: mark('priority-multiplier', '7') }, 1],
    [
      'integration 1: a trusted namespace can',
      {
        sketch: mark('priority-multiplier', '7'),
        rules: { weight: { ...testRules.weight, trustedNamespaces: ['shop'] } },
      },
      7,
    ],
    ['by cores requested, where that is wanted', { rules: { weight: { ...testRules.weight, base: 'request' } } }, 0.6],
    [
      'integration 7, integration 8: spread and affinity',
      { input: { hints: { ...unhindered, spread: 1.2, affinity: 1.05 } } },
      1.26,
    ],
  ])('%s', (_name, given, weight) => {
    expect(seatOf(given).weight).toBeCloseTo(weight, 3);
  });

  test('every factor beyond the pod itself is recorded', () => {
    const seat = seatOf({ input: { hints: { ...unhindered, spread: 1.2, affinity: 1.05 } } });
    expect(reasonsOf(seat).slice(0, 2)).toEqual(['TopologySpread', 'NodeAffinity']);
  });
});

test('what is not believed of a tenant is recorded', () => {
  const marks = { 'mbcas.io/min-cpu': '9', 'mbcas.io/weight': '64' };
  expect(seatOf({ sketch: { marks }, rules: bounded }).clamps.filter(({ reason }) => reason === 'TenantBound')).toEqual(
    [
      { reason: 'TenantBound', what: 'weight', before: 64, after: 1 },
      { reason: 'TenantBound', what: 'min', before: 9000, after: 600 },
    ],
  );
  expect(reasonsOf(seatOf({ sketch: { marks } }))).not.toContain('TenantBound');
});

describe('bounds', () => {
  test.each<[string, Given, { min?: number; max?: number }, string]>([
    ['integration 9: starting: no decrease', { pod: { startedAt: T0 - 10_000 } }, { min: 600 }, 'StartupGrace'],
    [
      'integration 3: pressure: no growth',
      {
        input: { measured: using(900) },
        conditions: [...(testNode().conditions ?? []), { type: 'MemoryPressure', status: 'True', since: 0 }],
      },
      { max: 600 },
      'NodePressure',
    ],
    [
      'integration 3: not Ready: as it is',
      { conditions: [{ type: 'Ready', status: 'Unknown', since: 0 }] },
      { min: 600, max: 600 },
      'NodeNotReady',
    ],
    ['nothing known of the node: as it is', { conditions: undefined }, { min: 600, max: 600 }, 'DataUnknown'],
    [
      'mbcas bug 12: not measured: as it is, and no bid of old figures',
      { input: { measured: undefined } },
      { min: 600, max: 600 },
      'DataUnknown',
    ],
    ['the operator cannot say: as it is', { input: { hints: 'unknown' } }, { min: 600, max: 600 }, 'DataUnknown'],
    [
      'allocation bug 9: a resize on its way: as it is, no flip-flop (k/k#125205)',
      { pod: { resize: { pending: undefined, inProgress: { error: undefined, since: T0 } } } },
      { min: 600, max: 600 },
      'ResizeInFlight',
    ],
    ['a limit of the user', { sketch: { limit: 700 }, input: { measured: using(690, 1) } }, { max: 700 }, 'UserLimit'],
    ['what the pod says', { sketch: mark('max-cpu', '400m') }, { max: 400 }, 'MaxCpu'],
    ['no more than half at once', { input: { measured: using(0) } }, { min: 300 }, 'StepLimit'],
    [
      'integration 5: an autoscaled pod moves by a tenth',
      { input: { measured: using(0), hints: { ...unhindered, step: 0.1 } } },
      { min: 540 },
      'StepLimit',
    ],
    [
      'integration 6: what the operator says of its budget',
      { input: { hints: { ...unhindered, bounds: [{ layer: 'pdb', reason: 'PodDisruptionBudget', min: 600 }] } } },
      { min: 600 },
      'PodDisruptionBudget',
    ],
  ])('%s', (_name, given, wanted, reason) => {
    const seat = seatOf(given);
    expect(seat.box).toMatchObject(wanted);
    expect(reasonsOf(seat)).toContain(reason);
  });

  test('integration 4: what a ratio keeps beside a limit is not given away, but where the limit follows', () => {
    const bounds = [{ layer: 'hard', reason: 'LimitRatio', min: 500 }] as const;
    const given: Given = {
      sketch: { limit: 1000 },
      input: { measured: using(0), hints: { ...unhindered, bounds } },
    };
    expect(seatOf(given).box).toMatchObject({ claim: 500, min: 500 });
    expect(seatOf({ ...given, rules: { ceilings: 'none' } }).box.min).toBe(500);
    expect(seatOf({ ...given, rules: { ceilings: 'all' } }).box).toMatchObject({ claim: 200, min: 300 });
    const lifted = { ...given.input, original: { request: 300, limit: 600 } };
    expect(seatOf({ ...given, input: lifted, rules: { userLimits: 'lift' } }).box.min).toBe(300);
  });

  test('integration 5, integration 9: with limits, a request that stays is not promised to others', () => {
    const rules = { apply: 'limits' } as const;
    const frozen = { ...unhindered, isRequestFrozen: true };
    const scaled: Given = { sketch: { limit: 900 }, input: { measured: using(0), hints: frozen }, rules };
    expect(seatOf(scaled).box).toMatchObject({ claim: 601, min: 601 });
    const starting: Given = { pod: { startedAt: T0 }, input: { measured: using(900) }, rules };
    expect(seatOf(starting).box).toMatchObject({ claim: 600, min: 600, max: 600 });
  });

  test('mbcas bug 4: in grace claim and want are both held up, so the pod keeps what it has', () => {
    const { box } = seatOf({ pod: { startedAt: T0 - 10_000 }, input: { measured: using(10) } });
    expect([box.min, box.max]).toEqual([600, 600]);
  });

  test.each<[string, readonly ContainerSize[], number]>([
    [
      'a limited container beside one without a request: up to its limit',
      [{ cpuRequest: 600, cpuLimit: 700 }, {}],
      700,
    ],
    ['beside one with a request: that can grow', [{ cpuRequest: 300, cpuLimit: 350 }, { cpuRequest: 300 }], 1400],
    ['without any limit', [{ cpuRequest: 600 }, {}], 1400],
  ])('%s', (_name, sizes, max) => {
    const [container] = testPod('a', { request: 600 }).containers;
    if (container === undefined) throw new Error('a test pod has a container');
    const containers = sizes.map((size, index) => ({ ...container, name: index === 0 ? 'main' : 'helper', size }));
    const statuses = containers.flatMap(({ name, size: actual }) =>
      testPod('a', { request: 600 }).statuses.map((status) => ({ ...status, name, actual })),
    );
    const seat = seatOf({ pod: { containers, statuses }, input: { measured: using(900) } });
    expect(seat.box.max).toBe(max);
  });

  test('a limit of the user may give way', () => {
    const given: Given = { sketch: { limit: 700 }, input: { measured: using(690, 1) } };
    expect(seatOf({ ...given, rules: { userLimits: 'lift' } }).box.max).toBeGreaterThan(1300);
  });

  test('small pods can grow, whatever the step', () => {
    const seat = seatOf({
      sketch: { request: 12 },
      input: { measured: using(300), hints: { ...unhindered, step: 0.1 } },
    });
    expect(seat.box.max).toBe(22);
  });
});

describe('what is kept whatever is bargained', () => {
  const hold = (bound: Bound): Given => ({ input: { measured: using(0), hints: { ...unhindered, bounds: [bound] } } });
  const budget: Bound = { layer: 'pdb', reason: 'PodDisruptionBudget', min: 600 };
  const ratio: Bound = { layer: 'hard', reason: 'LimitRatio', min: 500 };

  test.each<[string, Given, number]>([
    ['what the kernel takes at least', {}, 10],
    ['as much for each container', { pod: testPodOf(Array.from({ length: 12 }, () => [30] as const)) }, 120],
    ['all of what is not measured', { input: { measured: undefined } }, 600],
    ['all of it on a node that is not known', { conditions: undefined }, 600],
    ['all that a resize on its way leaves', { pod: { generation: 2 } }, 600],
    ['integration 5: a request that an autoscaler divides by', hold(holdAt(600, 'HorizontalPodAutoscaler')), 600],
    ['integration 6: what a budget keeps', hold(budget), 600],
    ['integration 6: of that, what it has', hold({ ...budget, min: 900 }), 600],
    ['integration 6: more than it allows itself', { ...hold(budget), sketch: mark('max-cpu', '400m') }, 600],
    ['integration 4: what a ratio keeps', { ...hold(ratio), sketch: { limit: 1000 } }, 500],
    ['integration 9: not what it has while it starts, which gives way', { pod: { startedAt: T0 } }, 10],
  ])('%s', (_name, given, kept) => {
    expect(seatOf(given).kept).toBe(kept);
  });

  test('integration 5: with limits, the request that stays', () => {
    const hints = { ...unhindered, isRequestFrozen: true };
    const given: Given = { sketch: { limit: 900 }, input: { measured: using(0), hints }, rules: { apply: 'limits' } };
    expect(seatOf(given).kept).toBe(601);
  });
});

describe('the want', () => {
  test('integration 10: an application metric raises it, and that is recorded', () => {
    const metric = { value: 150, target: 100, at: T0, isAuthoritative: false };
    const seat = seatOf({ input: { metric } });
    expect(seat.want).toBe(750);
    expect(reasonsOf(seat)).toContain('CustomMetric');
  });

  test('integration 9: unready and throttled: half as much again', () => {
    const seat = seatOf({ pod: { ready: false }, input: { measured: using(300, 0.08) } });
    expect(seat.want).toBe(750);
    expect(reasonsOf(seat)).toContain('UnreadyBoost');
  });

  test('with limits the share is the limit', () => {
    expect(seatOf({ sketch: { limit: 800 }, rules: { apply: 'limits' } }).share).toBe(800);
    expect(seatOf({ rules: { apply: 'limits' } }).share).toBe(600);
  });

  test('allocation bug 2: the quota in force counts, not the one in the spec (k/k#118371)', () => {
    const pod = testPod('a', { request: 600, limit: 1500 });
    const statuses = pod.statuses.map((status) => ({ ...status, actual: { cpuRequest: 600, cpuLimit: 500 } }));
    const seat = seatOf({ sketch: { limit: 1500 }, pod: { statuses }, input: { measured: using(500, 0) } });
    expect(seat.demand?.cause).toBe('saturated');
  });
});

describe('on its way', () => {
  const pod = testPod('a', { request: 600 });
  test.each<[string, Partial<AllocationPod>, boolean]>([
    ['settled', {}, false],
    ['pending', { resize: { pending: { reason: 'Deferred', message: '', since: 0 }, inProgress: undefined } }, true],
    ['in progress', { resize: { pending: undefined, inProgress: { error: undefined, since: 0 } } }, true],
    ['not seen by the kubelet yet', { generation: 2, observedGeneration: 1 }, true],
    ['a kubelet that does not say what it saw', { generation: 2, observedGeneration: undefined }, false],
  ])('%s', (_name, change, isOnItsWay) => {
    expect(isResizing({ ...pod, ...change })).toBe(isOnItsWay);
  });
});
