import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PodAllocationSpec, PodAllocationStatus } from '../api/pod-allocation.ts';
import { allocationText, packUsage, plainSpec, plainStatus, specParts, unpackUsage } from './compact-allocation.ts';

const throughCompact = (spec: PodAllocationSpec): PodAllocationSpec =>
  plainSpec(specParts('shop', spec), allocationText('shop', spec, {}));

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

  test('keeps a namespace that is not the one of its object', () => {
    const misplaced = { ...bare, namespace: 'other' };
    expect(throughCompact(misplaced)).toStrictEqual(misplaced);
  });

  test('has one pattern whatever its pod, its node, its amounts, its rules’ figures and its times', () => {
    const decision = {
      ...full.decision,
      weight: 0.125,
      cpuUsage: '7m',
      containers: [
        { name: 'web', cpuUsage: '9m' },
        { name: 'log', cpuUsage: '8m', throttledRatio: 1 },
      ],
      clamps: [{ reason: 'StepLimit', message: 'StepLimit: request 300m -> 345m' }],
    };
    const other = {
      ...full,
      namespace: 'cart',
      podName: 'b',
      podUID: 'u2',
      nodeName: 'n2',
      desiredCPURequest: '7m',
      originalCPURequest: '50m',
      renewTime: '2026-03-02T12:00:59Z',
      decision,
    };
    const later = {
      ...other,
      desiredCPURequest: '1234m',
      decision: { ...decision, clamps: [{ reason: 'StepLimit', message: 'StepLimit: request 345m -> 397m' }] },
    };
    const [first, second] = [allocationText('cart', other, {}), allocationText('cart', later, {})];
    expect(second.spec).toBe(first.spec);
    expect(second.numbers).not.toBe(first.numbers);
    const elsewhere = { ...later, namespace: 'shop', podName: 'c', nodeName: 'ip-10-0-0-1', podUID: 'u3' };
    expect(allocationText('shop', elsewhere, {})).toEqual(second);
  });
});

describe('a compact status of a PodAllocation', () => {
  const condition = (type: string, message: string, lastTransitionTime: string, observedGeneration: number) =>
    ({ type, status: 'True', reason: 'Because', message, lastTransitionTime, observedGeneration }) as const;
  const statusOf = (request: number, second: number, generation: number): PodAllocationStatus => ({
    phase: 'Applied',
    reason: 'AlreadyApplied',
    appliedCPURequest: `${request}m`,
    lastAppliedTime: `2026-03-02T12:00:${second}Z`,
    shadowPriceCPU: request / 1000,
    observedGeneration: generation,
    conditions: [
      condition('Managed', 'The pod takes part', '2026-03-02T11:00:00Z', generation),
      condition('Constrained', `StepLimit: request 1m -> ${request}m`, `2026-03-02T12:00:${second}Z`, generation),
    ],
    guidance: { advice: request, bounds: [{ layer: 'quota', reason: 'ResourceQuota', max: request }] },
  });
  const textOf = (status: PodAllocationStatus) => allocationText('shop', full, status);
  const throughText = (status: PodAllocationStatus) => plainStatus(status.phase, textOf(status));

  test('reads as it was, with everything and with nothing', () => {
    for (const status of [statusOf(300, 17, 2), {}, { phase: 'Failed' } as const, { reason: 'Unheard' }])
      expect(throughText(status)).toStrictEqual(status);
  });

  test('has one pattern whatever its pod was given, and when', () => {
    const [one, other] = [textOf(statusOf(300, 17, 2)), textOf(statusOf(1287, 59, 104))];
    expect(other.status).toBe(one.status);
    expect(other.numbers?.length).toBeLessThan(80);
  });

  test('beside a spec with a line break in it reads as it was, and so does the spec', () => {
    const spec = { ...full, podName: 'a\n1', desiredCPURequest: '3\n' };
    const text = allocationText('shop', spec, statusOf(300, 17, 2));
    expect(plainStatus('Applied', text)).toStrictEqual(statusOf(300, 17, 2));
    expect(plainSpec(specParts('shop', spec), text)).toStrictEqual(spec);
  });
});
