import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PodAllocationSpec } from '../api/pod-allocation.ts';
import { ownText, packUsage, plainSpec, termsOf, unpackUsage } from './compact-allocation.ts';

const throughCompact = (spec: PodAllocationSpec): PodAllocationSpec => {
  const { podName, podUID, decision } = spec;
  const usage = packUsage(decision?.cpuUsage);
  return plainSpec({ podName, podUID, terms: structuredClone(termsOf(spec)), usage, own: ownText(spec) });
};

const bare: PodAllocationSpec = { namespace: 'shop', podName: 'a', desiredCPURequest: '1', desiredCPULimit: '2' };
const full: PodAllocationSpec = {
  ...bare,
  podUID: 'u1',
  nodeName: 'n1',
  limitPolicy: 'Keep',
  urgent: true,
  originalCPURequest: '300m',
  originalCPULimit: '1',
  renewTime: '2026-03-02T12:00:00Z',
  decision: {
    mode: 'congested',
    shadowPriceCPU: 0.25,
    claim: '300m',
    want: '420m',
    weight: 2,
    cpuUsage: '120m',
    throttledRatio: 0.1,
    containers: [
      { name: 'app', cpuUsage: '60m', throttledRatio: 0.2 },
      { name: 'proxy', cpuUsage: '60m' },
    ],
    clamps: [{ reason: 'SteadySum', message: 'the sum is kept' }],
    coalition: 'team',
    credits: -5,
  },
};

describe('a compact spec of a PodAllocation', () => {
  test('reads as it was, with everything and with as little as there may be', () => {
    expect(throughCompact(full)).toStrictEqual(full);
    expect(throughCompact(bare)).toStrictEqual(bare);
    const empty = { ...bare, decision: { containers: [] } };
    expect(throughCompact(empty)).toStrictEqual(empty);
  });

  test('reads as it was whatever is there, in whatever form', () => {
    const amount = fc.string({ maxLength: 8 });
    const ratio = fc.double({ min: 0, max: 1, noNaN: true }).map((each) => each + 0);
    const container = fc.record(
      { name: amount, cpuUsage: amount, throttledRatio: ratio },
      { requiredKeys: ['name', 'cpuUsage'] },
    );
    const decision = fc.record(
      {
        mode: fc.constantFrom('congested' as const, 'overloaded' as const),
        shadowPriceCPU: ratio,
        claim: amount,
        want: amount,
        weight: fc.nat(),
        cpuUsage: amount,
        throttledRatio: ratio,
        containers: fc.array(container, { maxLength: 3 }),
        coalition: amount,
        credits: fc.integer(),
      },
      { requiredKeys: [] },
    );
    const optional = fc.record({ podUID: amount, nodeName: amount, renewTime: amount, decision }, { requiredKeys: [] });
    fc.assert(
      fc.property(optional, (rest) => {
        const spec = { ...bare, ...rest };
        expect(throughCompact(spec)).toEqual(spec);
      }),
    );
  });

  test('has usage as a number where that says it all', () => {
    const usages = ['120m', '0m', '00m', '0.12', '1', '9999999999m', '', undefined];
    expect(usages.map(packUsage)).toEqual([120, 0, ...usages.slice(2)]);
    expect(usages.map(packUsage).map(unpackUsage)).toEqual(usages);
  });

  test('of one pod after the other has one pattern', () => {
    const later = { ...full, desiredCPURequest: '7', renewTime: '2026-03-02T12:00:59Z' };
    expect(ownText(later).pattern).toBe(ownText(full).pattern);
    expect(ownText(later).numbers).not.toBe(ownText(full).numbers);
  });

  test('has nothing of the pod in what is shared', () => {
    const other = { ...full, podName: 'b', podUID: 'u2', desiredCPURequest: '7', renewTime: 'later' };
    const measured = {
      ...full.decision,
      claim: '1m',
      want: '2m',
      cpuUsage: '3m',
      containers: [{ name: 'app', cpuUsage: '9m' }],
    };
    expect(termsOf(other)).toEqual(termsOf(full));
    const names = ['app'];
    expect(termsOf({ ...other, decision: measured })).toEqual({ ...termsOf(full), containers: names });
  });
});
