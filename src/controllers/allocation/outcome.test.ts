import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PodAllocationStatus } from '../../api/pod-allocation.ts';
import type { DesiredCpu } from '../../decide/allocation/read-allocation.ts';
import { testPod } from '../../decide/allocation/testing/pods.ts';
import type { ContainerSize } from '../../model/sizing-records.ts';
import { type AllocationOutcome, isMet, isSameStatus, type StatusFacts, statusOf } from './outcome.ts';

const NOW = Date.UTC(2026, 0, 1);
const spec = { namespace: 'shop', podName: 'web', desiredCPURequest: '300m', desiredCPULimit: '600m' };
const statusFor = (
  outcome: AllocationOutcome,
  before: PodAllocationStatus = {},
  more: Partial<StatusFacts> = {},
): PodAllocationStatus =>
  statusOf({
    spec,
    generation: 3,
    outcome,
    desired: undefined,
    known: undefined,
    guidance: undefined,
    lastWriteAt: undefined,
    before,
    now: NOW,
    ...more,
  });

describe('a status', () => {
  test.each<[string, AllocationOutcome, string, string]>([
    ['no pod', { kind: 'no-pod', message: '' }, 'Failed', 'PodNotFound'],
    ['no amount', { kind: 'invalid', message: '' }, 'Failed', 'InvalidDesiredCPU'],
    ['excluded', held('Excluded'), 'Pending', 'Excluded'],
    ['waiting', held('CapacityInFlight'), 'Pending', 'CapacityInFlight'],
    ['guarded', { kind: 'blocked', reason: 'LeaderWarmup', message: '' }, 'Pending', 'LeaderWarmup'],
    [
      'full quota',
      { kind: 'refused', reason: 'QuotaExceeded', message: '', isForNow: true },
      'Pending',
      'QuotaExceeded',
    ],
    ['refused', { kind: 'refused', reason: 'ResizeRefused', message: '', isForNow: false }, 'Failed', 'ActuatorError'],
    ['sent', { kind: 'asked', clamps: [] }, 'Pending', 'Applying'],
    // Nothing is known of the node's side: never called Applied.
    ['settled, unseen', { kind: 'settled', clamps: [] }, 'Pending', 'Applying'],
  ])('%s', (_, outcome, phase, reason) => {
    expect(statusFor(outcome)).toMatchObject({ phase, reason, observedGeneration: 3 });
  });

  test('an exclusion is a condition of its own; a transition keeps its time until it changes', () => {
    const first = statusFor(held('Excluded'));
    expect(first.conditions?.[0]).toMatchObject({ type: 'Managed', status: 'False', reason: 'Excluded' });
    const old = { ...first, conditions: first.conditions?.map((each) => ({ ...each, lastTransitionTime: 'before' })) };
    const again = statusFor(held('Excluded'), old as PodAllocationStatus);
    expect(again.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([
      'before',
      'before',
      'before',
    ]);
    const now = statusFor(held('Spacing'), old as PodAllocationStatus);
    expect(now.conditions?.[0]).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' });
  });

  test('a pod that is not there takes no part', () => {
    const [managed] = statusFor({ kind: 'no-pod', message: 'There is no pod shop/web' }).conditions ?? [];
    expect(managed).toMatchObject({ type: 'Managed', status: 'False', reason: 'PodNotFound' });
    expect(managed?.message).toBe('There is no pod shop/web');
  });

  test('what rules moved is told in one condition, cut to what a condition may hold', () => {
    const clamps = Array.from({ length: 100 }, () => ({
      reason: 'LimitRange' as const,
      what: 'max' as const,
      before: 900,
      after: 500,
    }));
    const { conditions } = statusFor({ kind: 'asked', clamps });
    expect(conditions?.[2]).toMatchObject({ type: 'Constrained', status: 'True', reason: 'LimitRange' });
    expect(conditions?.[2]?.message.length).toBeLessThanOrEqual(1024);
  });

  test('sentences and the time of the attempt alone are no news; order of keys is none either', () => {
    const status = statusFor(held('Spacing'));
    const reworded = {
      ...status,
      lastAttemptTime: 'later',
      conditions: status.conditions?.map((each) => ({ ...each, message: 'other' })),
    };
    expect(isSameStatus(status, reworded as PodAllocationStatus)).toBe(true);
    expect(isSameStatus(status, { ...status, reason: 'Other' })).toBe(false);
    const guidance = { spread: 1.1, bounds: [{ layer: 'hard', reason: 'LimitRange', min: 1, max: 2 }] };
    const reversed = { bounds: [{ max: 2, min: 1, reason: 'LimitRange', layer: 'hard' }], spread: 1.1 };
    expect(isSameStatus({ ...status, guidance }, { ...status, guidance: reversed })).toBe(true);
    expect(isSameStatus({ ...status, guidance }, status)).toBe(false);
  });
});

describe('Applied only where what is in force is what is desired', () => {
  test.each<[string, { request: number; limit?: number }, ContainerSize | undefined, string, string]>([
    ['the same', { request: 400, limit: 500 }, { cpuRequest: 400, cpuLimit: 500 }, 'Applied', 'AlreadyApplied'],
    [
      'allocation bug 4: rounded up to 10m by systemd: 417m is 420m (k/k#129357)',
      { request: 400, limit: 417 },
      { cpuRequest: 400, cpuLimit: 420 },
      'Applied',
      'AlreadyApplied',
    ],
    [
      'shares lose a little',
      { request: 401, limit: 500 },
      { cpuRequest: 400, cpuLimit: 500 },
      'Applied',
      'AlreadyApplied',
    ],
    [
      'allocation bug 2: still the old limit, whatever the spec says (k/k#118371)',
      { request: 400, limit: 500 },
      { cpuRequest: 400, cpuLimit: 1500 },
      'Pending',
      'Applying',
    ],
    [
      'allocation bug 18: the quota was reset behind our back (runc#1605, crun#1011, moby#51446)',
      { request: 400, limit: 500 },
      { cpuRequest: 400 },
      'Pending',
      'Applying',
    ],
    ['still the old request', { request: 400, limit: 500 }, { cpuRequest: 300, cpuLimit: 500 }, 'Pending', 'Applying'],
    [
      'allocation bug 8: a kubelet that does not say: nothing is assumed (k/k#112264)',
      { request: 400, limit: 500 },
      undefined,
      'Pending',
      'Applying',
    ],
  ])('%s', (_, size, actual, phase, reason) => {
    const pod = testPod('web', size);
    const known = { pod: { ...pod, statuses: pod.statuses.map((status) => ({ ...status, actual })) } };
    const desired: DesiredCpu = {
      podUid: undefined,
      request: size.request,
      limit: size.limit ?? 0,
      limitPolicy: 'Apply',
      urgent: false,
      usage: new Map(),
    };
    const status = statusFor({ kind: 'settled', clamps: [] }, {}, { known, desired });
    expect(status).toMatchObject({ phase, reason });
  });

  const desired = fc.record({
    podUid: fc.constant(undefined),
    request: fc.integer({ min: 10, max: 4000 }),
    limit: fc.integer({ min: 10, max: 8000 }),
    limitPolicy: fc.constantFrom('Apply', 'Lift', 'Keep'),
    urgent: fc.boolean(),
    usage: fc.constant(new Map()),
  }) as fc.Arbitrary<DesiredCpu>;
  test('by more than the kernel rounds, and by the policy of the limit', () => {
    fc.assert(
      fc.property(
        desired,
        fc.integer({ min: -50, max: 50 }),
        fc.option(fc.integer({ min: -50, max: 50 }), { nil: undefined }),
        (wish, request, limit) => {
          const actual = {
            request: wish.request + request,
            limit: limit === undefined ? undefined : wish.limit + limit,
          };
          const isRequest = Math.abs(request) <= 10;
          const isLimit =
            wish.limitPolicy === 'Keep' ||
            (wish.limitPolicy === 'Lift'
              ? limit === undefined || limit >= -10
              : limit !== undefined && Math.abs(limit) <= 10);
          expect(isMet(wish, actual)).toBe(isRequest && isLimit);
        },
      ),
    );
  });
});

function held(reason: 'Excluded' | 'CapacityInFlight' | 'Spacing'): AllocationOutcome {
  return { kind: 'held', reason, message: 'why', retryAfterMillis: undefined };
}
