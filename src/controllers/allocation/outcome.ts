/** What one look at a PodAllocation came to, and the status that says so. Pure. */

import { hash } from 'node:crypto';
import type {
  AllocationClamp,
  PodAllocationCondition,
  PodAllocationSpec,
  PodAllocationStatus,
} from '../../api/pod-allocation.ts';
import type { Admission, HeldReason } from '../../decide/allocation/admit.ts';
import { actualSizeOf, type CpuSize, sizeOf } from '../../decide/allocation/allocation-pod.ts';
import { type Clamp, describeClamp } from '../../decide/allocation/clamp.ts';
import { exclusionReasons } from '../../decide/allocation/eligibility.ts';
import type { DesiredCpu } from '../../decide/allocation/read-allocation.ts';
import { ascending } from '../../lib/ascending.ts';
import type { EpochMillis, Millicores } from '../../lib/units.ts';
import type { AllocatedPod } from './facts.ts';

/** What is told is always the latest: an outcome says nothing of the ones before. */
export type AllocationOutcome =
  /** There is no such pod. */
  | { readonly kind: 'no-pod'; readonly message: string }
  /** What is desired cannot be read. */
  | { readonly kind: 'invalid'; readonly message: string }
  | ({ readonly kind: 'held' } & Omit<Extract<Admission, { kind: 'held' }>, 'kind'>)
  | Extract<Admission, { kind: 'settled' }>
  /** A guard objects. */
  | { readonly kind: 'blocked'; readonly reason: string; readonly message: string }
  /** The API server said no. */
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string; readonly isForNow: boolean }
  /** Asked for; the node has not said it is done. */
  | { readonly kind: 'asked'; readonly clamps: Extract<Admission, { kind: 'resize' }>['clamps'] };

/** What one status is made of. */
export interface StatusFacts {
  readonly spec: PodAllocationSpec;
  readonly generation: number;
  readonly outcome: AllocationOutcome;
  readonly desired: DesiredCpu | undefined;
  readonly known: Pick<AllocatedPod, 'pod'> | undefined;
  readonly guidance: PodAllocationStatus['guidance'];
  readonly lastWriteAt: EpochMillis | undefined;
  readonly before: PodAllocationStatus;
  readonly now: EpochMillis;
}

/**
 * The systemd driver rounds quotas up to 10m, and shares lose some thousandths on their way through the kernel
 * (kubernetes#129357): equality would never be reached.
 */
const TOLERANCE: Millicores = 10;

/** The whole status. `Applied` is said only of what spec and node both have. */
export function statusOf(facts: StatusFacts): PodAllocationStatus {
  const { spec, generation, known, guidance, lastWriteAt, before, now } = facts;
  const actual = known === undefined ? undefined : actualSizeOf(known.pod);
  const verdict = verdictOf(facts, actual);
  const applied = {
    ...(actual !== undefined && { appliedCPURequest: `${actual.request}m` }),
    ...(actual?.limit !== undefined && { appliedCPULimit: `${actual.limit}m` }),
  };
  const isNewlyApplied =
    verdict.phase === 'Applied' &&
    (before.phase !== 'Applied' ||
      before.appliedCPURequest !== applied.appliedCPURequest ||
      before.appliedCPULimit !== applied.appliedCPULimit);
  const lastAppliedTime = isNewlyApplied ? time(now) : before.lastAppliedTime;
  const lastAttemptTime = lastWriteAt === undefined ? before.lastAttemptTime : time(lastWriteAt);
  const price = spec.decision?.shadowPriceCPU;
  return {
    ...applied,
    phase: verdict.phase,
    reason: verdict.reason,
    ...(lastAppliedTime !== undefined && { lastAppliedTime }),
    ...(lastAttemptTime !== undefined && { lastAttemptTime }),
    ...(price !== undefined && { shadowPriceCPU: price }),
    observedGeneration: generation,
    conditions: conditionsOf(facts, verdict),
    ...(guidance !== undefined && Object.keys(guidance).length > 0 && { guidance }),
  };
}

interface Verdict {
  readonly phase: NonNullable<PodAllocationStatus['phase']>;
  /** As MBCAS has it. */
  readonly reason: string;
  readonly message: string;
}

/**
 * `Failed` only where somebody has to act; whatever passes with time is `Pending` (bug of MBCAS: `Applied` was said of
 * pods that were skipped).
 */
function verdictOf({ outcome, desired, known }: StatusFacts, actual: CpuSize | undefined): Verdict {
  switch (outcome.kind) {
    case 'no-pod':
      return { phase: 'Failed', reason: 'PodNotFound', message: outcome.message };
    case 'invalid':
      return { phase: 'Failed', reason: 'InvalidDesiredCPU', message: outcome.message };
    case 'refused':
      return outcome.isForNow
        ? { phase: 'Pending', reason: outcome.reason, message: outcome.message }
        : { phase: 'Failed', reason: 'ActuatorError', message: outcome.message };
    case 'held':
    case 'blocked':
      return { phase: 'Pending', reason: outcome.reason, message: outcome.message };
    case 'asked':
      return { phase: 'Pending', reason: 'Applying', message: 'Asked for; the node has not said that it is done' };
    case 'settled': {
      if (desired === undefined || actual === undefined || known === undefined || !isSettled(known, actual)) {
        return { phase: 'Pending', reason: 'Applying', message: 'The node has not said that it is done' };
      }
      if (isMet(desired, actual)) {
        return { phase: 'Applied', reason: 'AlreadyApplied', message: 'The pod has what is desired' };
      }
      return { phase: 'Pending', reason: 'Constrained', message: `The pod has ${text(actual)}; bounds allow no more` };
    }
  }
}

/** Spec and node agree: a kubelet may lag, and a quota may have been reset behind its back (runc#1605, k/k#118371). */
function isSettled({ pod }: Pick<AllocatedPod, 'pod'>, actual: CpuSize): boolean {
  const asked = sizeOf(pod);
  if (Math.abs(asked.request - actual.request) > TOLERANCE) return false;
  if (asked.limit === undefined) return true;
  return actual.limit !== undefined && Math.abs(asked.limit - actual.limit) <= TOLERANCE;
}

/** Whether a pod has what is desired of it. */
export function isMet({ request, limit, limitPolicy }: DesiredCpu, actual: CpuSize): boolean {
  if (Math.abs(actual.request - request) > TOLERANCE) return false;
  if (limitPolicy === 'Keep') return true;
  if (limitPolicy === 'Lift') return actual.limit === undefined || actual.limit >= limit - TOLERANCE;
  return actual.limit !== undefined && Math.abs(actual.limit - limit) <= TOLERANCE;
}

function conditionsOf(facts: StatusFacts, verdict: Verdict): readonly PodAllocationCondition[] {
  const { outcome, spec, generation, before, now } = facts;
  const clamps = clampsOf(spec, outcome.kind === 'settled' || outcome.kind === 'asked' ? outcome.clamps : []);
  const condition = (type: string, isTrue: boolean, reason: string, message: string): PodAllocationCondition => {
    const known = before.conditions?.find((each) => each.type === type);
    const status = isTrue ? 'True' : 'False';
    return {
      type,
      status,
      reason,
      message,
      lastTransitionTime: known?.status === status ? known.lastTransitionTime : time(now),
      observedGeneration: generation,
    };
  };
  return [
    outcome.kind === 'no-pod' || (outcome.kind === 'held' && isExclusion(outcome.reason))
      ? condition('Managed', false, verdict.reason, outcome.message)
      : condition('Managed', true, 'TakesPart', 'The pod takes part in the bargaining of its node'),
    condition('Applied', verdict.phase === 'Applied', detailOf(outcome, verdict), verdict.message),
    clamps.length === 0
      ? condition('Constrained', false, 'Unconstrained', 'No rule moved a bound or the share')
      : condition('Constrained', true, clamps[0]?.reason ?? '', clampText(clamps)),
  ];
}

/** Every rule that moved something: what the agent tells, then what the operator found on top. */
export function clampsOf({ decision }: PodAllocationSpec, own: readonly Clamp[]): readonly AllocationClamp[] {
  return [
    ...(decision?.clamps ?? []),
    ...own.map((clamp) => ({ reason: clamp.reason, message: describeClamp(clamp) })),
  ];
}

/** For people. */
export function clampText(clamps: readonly AllocationClamp[]): string {
  return cut(clamps.map(({ reason, message }) => message ?? reason).join('; '));
}

/** Of a refusal the row of the table of answers; the phase's reason is only that the actuator failed. */
function detailOf(outcome: AllocationOutcome, { reason }: Verdict): string {
  return outcome.kind === 'refused' ? outcome.reason : reason;
}

/** Whether the pod takes no part at all, rather than having to wait. */
export function isExclusion(reason: HeldReason): boolean {
  return exclusionReasons.some((each) => each === reason);
}

/** A condition's message may have 32 KiB; this is what people read. */
const MOST_TEXT = 1024;
const cut = (message: string): string =>
  message.length <= MOST_TEXT ? message : `${message.slice(0, MOST_TEXT - 1)}…`;
const text = ({ request, limit }: CpuSize): string => `${request}m${limit === undefined ? '' : ` (limit ${limit}m)`}`;
const time = (at: EpochMillis): string => new Date(Math.floor(at / 1000) * 1000).toISOString().replace('.000Z', 'Z');

/**
 * Whether a status says something new. Sentences tell figures that move all the time: alone they are not worth a write,
 * and neither is the time of the last attempt.
 */
export function isSameStatus(a: PodAllocationStatus, b: PodAllocationStatus): boolean {
  return essenceText(a) === essenceText(b);
}

/** To know a status again by {@link isSameStatus} without keeping it: there may be one of each pod. */
export function statusDigest(status: PodAllocationStatus): string {
  return hash('sha256', essenceText(status), 'base64');
}

function essenceText(status: PodAllocationStatus): string {
  return JSON.stringify(essence(status));
}

/** What of a status is worth a write when it changes. Guidance in a fixed order, as its keys come in any. */
function essence({ conditions = [], guidance = {}, ...rest }: PodAllocationStatus): unknown {
  return [
    rest.phase,
    rest.reason,
    rest.appliedCPURequest,
    rest.appliedCPULimit,
    rest.lastAppliedTime,
    rest.shadowPriceCPU,
    rest.observedGeneration,
    conditions.map(({ type, status, reason }) => [type, status, reason]),
    Object.entries(guidance)
      .sort(([left], [right]) => ascending(left, right))
      .map(([key, value]) => [key, canonical(value)]),
  ];
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).sort(([left], [right]) => ascending(left, right));
}
