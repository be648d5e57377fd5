import { describe, expect, test } from 'vitest';
import type { PodAllocation, PodAllocationSpec } from '../../api/pod-allocation.ts';
import { readAllocation } from './read-allocation.ts';

const base: PodAllocationSpec = { namespace: 'shop', podName: 'a', desiredCPURequest: '450m', desiredCPULimit: '500m' };
const read = (spec: Partial<Record<keyof PodAllocationSpec, unknown>>) =>
  readAllocation({ metadata: { name: 'x' }, spec: { ...base, ...spec } } as PodAllocation);

describe('desired values', () => {
  test('as MBCAS wrote them', () => {
    expect(read({})).toEqual({
      ok: true,
      desired: { podUid: undefined, request: 450, limit: 500, limitPolicy: 'Apply', urgent: false, usage: new Map() },
    });
  });

  test('as our agents write them', () => {
    const decision = {
      containers: [
        { name: 'main', cpuUsage: '120m' },
        { name: 'odd', cpuUsage: 'lots' },
      ],
    };
    expect(read({ podUID: 'u', limitPolicy: 'Keep', urgent: true, decision, desiredCPULimit: '100m' })).toEqual({
      ok: true,
      desired: {
        podUid: 'u',
        request: 450,
        limit: 100,
        limitPolicy: 'Keep',
        urgent: true,
        usage: new Map([['main', 120]]),
      },
    });
  });

  test('request and limit alike, as Guaranteed pods have them', () => {
    expect(read({ desiredCPULimit: '450m' })).toMatchObject({ ok: true, desired: { request: 450, limit: 450 } });
  });

  test.each<[string, Partial<Record<keyof PodAllocationSpec, unknown>>, RegExp]>([
    [
      'no request',
      { desiredCPURequest: undefined },
      /spec.desiredCPURequest is missing; accepted: an amount of CPU above zero such as 450m/,
    ],
    ['no amount', { desiredCPULimit: 'much' }, /spec.desiredCPULimit is "much"/],
    ['nothing', { desiredCPURequest: '0' }, /desiredCPURequest is "0"/],
    ['less than nothing', { desiredCPURequest: '-5m' }, /desiredCPURequest is "-5m"/],
    ['more than any node has', { desiredCPULimit: '90k' }, /desiredCPULimit is "90k"/],
    [
      'limit below request',
      { desiredCPULimit: '400m' },
      /spec.desiredCPURequest 450m is above spec.desiredCPULimit 400m/,
    ],
  ])('refused with what to write instead: %s', (_name, spec, message) => {
    const found = read(spec);
    expect(found.ok ? '' : found.message).toMatch(message);
  });

  test('an allocation without spec is refused, not thrown at', () => {
    expect(readAllocation({ metadata: { name: 'x' } } as PodAllocation).ok).toBe(false);
  });
});
