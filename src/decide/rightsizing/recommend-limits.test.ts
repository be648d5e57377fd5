/** Limits that move with requests: where a request gets less than it needs, its limit is that of what it gets. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noUse } from '../../model/size-bounds.ts';
import type { ContainerSize } from '../../model/sizing-records.ts';
import { aContainer, aLimitRange, aQuota, MIB } from '../../model/testing/sizing-records.ts';
import { percentilesOf } from '../../model/usage-window.ts';
import { nothingBeside } from './beside-containers.ts';
import type { Surroundings } from './fit-surroundings.ts';
import { nodeRoom } from './largest-node.ts';
import { defaultPolicy, type LimitRule } from './policy.ts';
import { recommendWorkload } from './recommend-workload.ts';
import { profileOf } from './testing/profiles.ts';

const STEPS = 400;
const NOW = (STEPS - 1) * 300_000;
const profile = profileOf(STEPS, { cpu: () => 2000, memory: () => 100 * MIB });
const nothing: Surroundings = { limitRanges: [], quotas: [], hpas: [], largestNode: undefined, replicas: 1 };
const target = { strategy: 'Percentile', percentile: 90, safetyFactor: 1 } as const;
const eager = { minChange: 0, minAmount: 0, cooldownUpMillis: 0, cooldownDownMillis: 0, maxStepDown: 1 };

/** CPU of a container that needs 2000m. */
function cpuOf(
  size: ContainerSize,
  limit: LimitRule,
  around: Partial<Surroundings>,
  change: Partial<typeof eager & { readonly maxStepUp: number }> = {},
  { mayChangeLimits = true, isNeverGuaranteed = false } = {},
) {
  const rules = { target, limit, change: { ...eager, ...change } };
  const [advice] = recommendWorkload({
    workload: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'shop',
      name: 'web',
      ...(isNeverGuaranteed && { isNeverGuaranteed }),
    },
    containers: [aContainer({ size: { memoryRequest: 120 * MIB, ...size } })],
    knowledgeOf: () => ({
      profile,
      window: { from: 0, to: NOW, cpu: percentilesOf([2000]), memory: percentilesOf([100 * MIB]) },
      floors: undefined,
      lastChange: { cpu: undefined, memory: undefined },
    }),
    policy: {
      ...defaultPolicy,
      cpu: { ...defaultPolicy.cpu, ...rules },
      memory: { ...defaultPolicy.memory, ...rules, limit },
      mayChangeLimits,
      minHistoryMillis: 0,
    },
    around: { ...nothing, ...around },
    isCpuAllocated: false,
    now: NOW,
  });
  return advice?.cpu;
}

const quota = { quotas: [aQuota({ hard: { cpuRequest: 5000 }, used: { cpuRequest: 4500 } })] };
const limitsQuota = { quotas: [aQuota({ hard: { cpuLimit: 5000 }, used: { cpuLimit: 4500 } })] };
const nodeOf = (cpuMillis: number) => ({ largestNode: nodeRoom([[{ cpuMillis, memoryBytes: 1024 * MIB }]]) });
const node = nodeOf(1000);
const podRange = { limitRanges: [aLimitRange({ type: 'Pod', max: { cpu: 1500 } })] };
const small = { cpuRequest: 500, cpuLimit: 1000 };

test('a request that goes up in steps has a limit for the step and one for the end', () => {
  expect(cpuOf(small, { policy: 'Ratio' }, {}, { maxStepUp: 0.4 })).toMatchObject({
    request: 700,
    limit: 1400,
    target: 2000,
    targetLimit: 4000,
  });
});

describe('a request that gives way', () => {
  test.each<[string, LimitRule, Partial<Surroundings>, number, number]>([
    ['in the same ratio, to a quota', { policy: 'Ratio' }, quota, 1000, 2000],
    ['with headroom, to a quota', { policy: 'Headroom', headroom: 250 }, quota, 1000, 1250],
    ['in the same ratio, to a quota of limits', { policy: 'Ratio' }, limitsQuota, 750, 1500],
    ['with headroom, to a quota of limits', { policy: 'Headroom', headroom: 600 }, limitsQuota, 900, 1500],
    ['to a quota of limits that all replicas share', { policy: 'Ratio' }, { ...limitsQuota, replicas: 2 }, 625, 1250],
    ['in the same ratio, to a LimitRange on pods', { policy: 'Ratio' }, podRange, 750, 1500],
    ['with headroom, to a LimitRange on pods', { policy: 'Headroom', headroom: 600 }, podRange, 900, 1500],
    [
      'to a LimitRange on pods, beside the limits of others in it',
      { policy: 'Ratio' },
      { ...podRange, beside: () => ({ ...nothingBeside, sizes: { ...noUse, cpuLimit: 300 } }) },
      600,
      1200,
    ],
    ['times a factor, to the largest node', { policy: 'Multiplier', factor: 1.5 }, node, 1000, 1500],
    ['with nothing in its way', { policy: 'Ratio' }, {}, 2000, 4000],
  ])('%s', (_, rule, around, request, limit) => {
    expect(cpuOf(small, rule, around)).toMatchObject({ request, limit });
  });

  test('of a Guaranteed pod takes its limit along, and does not rise with it again beyond what there is', () => {
    const both = { cpuRequest: 500, cpuLimit: 500, memoryRequest: 120 * MIB, memoryLimit: 120 * MIB };
    expect(cpuOf(both, { policy: 'Ratio' }, node)).toMatchObject({ isDue: true, request: 1000, limit: 1000 });
    expect(cpuOf(both, { policy: 'Ratio' }, quota)).toMatchObject({ isDue: true, request: 1000, limit: 1000 });
  });

  test('in steps keeps its limit within the LimitRange, too', () => {
    const around = { limitRanges: [aLimitRange({ max: { cpu: 1200 }, maxLimitRequestRatio: { cpu: 2 } })] };
    expect(cpuOf(small, { policy: 'Ratio' }, around, { maxStepUp: 0.4 })).toMatchObject({ request: 700, limit: 1200 });
    const wide = { cpuRequest: 500, cpuLimit: 4000 };
    const byRatio = { limitRanges: [aLimitRange({ maxLimitRequestRatio: { cpu: 2 } })] };
    expect(cpuOf(wide, { policy: 'Ratio' }, byRatio, { maxStepUp: 0.4 })).toMatchObject({ request: 700, limit: 1400 });
  });
});

test('a quota of limits says nothing to who keeps his, and holds who may not have more', () => {
  expect(cpuOf({ cpuRequest: 500, cpuLimit: 3000 }, { policy: 'Keep' }, limitsQuota)).toMatchObject({
    isDue: true,
    request: 2000,
  });
  const full = { quotas: [aQuota({ hard: { cpuLimit: 4500 }, used: { cpuLimit: 4500 } })] };
  expect(cpuOf(small, { policy: 'Ratio' }, full)).toMatchObject({ isDue: false, held: 'QuotaExceeded' });
});

test('pods that are never Guaranteed are not taken for it: a request falls, and a limit that is kept stays', () => {
  const both = { cpuRequest: 3000, cpuLimit: 3000, memoryRequest: 120 * MIB, memoryLimit: 120 * MIB };
  expect(cpuOf(both, { policy: 'Keep' }, {}, {}, { mayChangeLimits: false })).toMatchObject({
    held: 'GuaranteedKept',
    isDue: false,
  });
  const isNeverGuaranteed = true;
  expect(cpuOf(both, { policy: 'Keep' }, {}, {}, { mayChangeLimits: false, isNeverGuaranteed })).toMatchObject({
    isDue: true,
    request: 2000,
    limit: undefined,
  });
  // Nor are they kept from looking like it.
  const small = { cpuRequest: 500, cpuLimit: 2000, memoryRequest: 100 * MIB, memoryLimit: 100 * MIB };
  const raised = (never: boolean) => cpuOf(small, { policy: 'Keep' }, {}, {}, { isNeverGuaranteed: never })?.request;
  expect([raised(false), raised(true)]).toEqual([1999, 2000]);
});

test('a request of nothing has no ratio to its limit, which stays', () => {
  expect(cpuOf({ cpuRequest: 0, cpuLimit: 3000 }, { policy: 'Ratio' }, {})).toMatchObject({
    request: 2000,
    limit: undefined,
  });
});

test('for any sizes and surroundings, a limit that moves is as the rule has it for the request, and within the LimitRange', () => {
  const amount = fc.integer({ min: 1, max: 4000 });
  fc.assert(
    fc.property(amount, fc.nat(4000), amount, amount, fc.double({ min: 0.1, max: 3, noNaN: true }), (...drawn) => {
      const [request, room, free, max, maxStepUp] = drawn;
      const around = {
        limitRanges: [aLimitRange({ max: { cpu: max } })],
        ...nodeOf(free),
      };
      const advice = cpuOf(
        { cpuRequest: request, cpuLimit: request + room },
        { policy: 'Multiplier', factor: 2 },
        around,
        { maxStepUp },
      );
      if (advice?.isDue !== true || advice.limit === undefined || advice.request === undefined) return;
      expect(advice.limit).toBe(Math.max(advice.request, Math.min(advice.request * 2, max)));
    }),
    { numRuns: 200 },
  );
});
