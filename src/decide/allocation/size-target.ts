/**
 * From a share to request and limit: which of them moves, how a ceiling is set and lifted, and that the QoS class
 * stays.
 */
import type { Millicores } from '../../lib/units.ts';
import { ceilingFactor } from './ceiling.ts';
import type { Clamp } from './clamp.ts';
import type { PodTarget } from './node-input.ts';
import { kernelFloor } from './problem.ts';
import type { AllocationRules } from './rules.ts';
import type { Seat } from './seat.ts';

/**
 * The systemd cgroup driver rounds quotas up to 10m; other values would differ between pod and container (k/k#129357).
 */
const LIMIT_QUANTUM = 10;

export interface Room {
  /** Of the node. */
  readonly allocatable: Millicores;
  /** What there is to use, by what is written as requests, at least 1: ceilings are of the former. */
  readonly scale: number;
}

export interface Sized {
  readonly target: PodTarget;
  readonly clamps: readonly Clamp[];
}

/**
 * What a share means for the pod's spec. A ceiling, once set, can only be raised (KEP-1287): lifting it is raising it
 * to the node's allocatable, where it bounds nothing.
 */
export function sizeTarget(
  seat: Seat,
  share: Millicores,
  isGreedy: boolean,
  room: Room,
  rules: AllocationRules,
): Sized {
  // Guaranteed is request = limit, of CPU too.
  if (seat.pod.qos === 'Guaranteed') {
    return { target: { request: share, limit: share, limitPolicy: 'Apply' }, clamps: [] };
  }
  // A limit takes, too, and what bounds it is not known.
  if (seat.input.hints === 'unknown') return { target: { ...seat.current, limitPolicy: 'Keep' }, clamps: [] };
  if (seat.isComingUp && seat.current.limit === undefined)
    return { target: withoutLimit(seat, share, rules), clamps: [] };
  const target = rules.apply === 'limits' ? byLimit(seat, share, rules) : byRequest(seat, share, isGreedy, room, rules);
  return keepQos(target);
}

/** A first limit takes from a pod whatever it says: one that is coming up gets none. */
function withoutLimit({ current }: Seat, share: Millicores, { apply }: AllocationRules): PodTarget {
  return { request: apply === 'limits' ? current.request : share, limit: undefined, limitPolicy: 'Keep' };
}

/**
 * The drop-in behaviour: the share is the limit, the request follows at a ratio unless an autoscaler divides by it. It is
 * not raised by a limit that stays because it cannot be lowered: what such limits add up to, the node need not have.
 */
function byLimit({ hints, current, kept }: Seat, share: Millicores, { requestRatio }: AllocationRules): PodTarget {
  const least = hints.isRequestFrozen ? current.request + 1 : 0;
  const limit = Math.max(share, hints.limitMin ?? 0, least, kernelFloor);
  const following = Math.max(1, Math.floor(requestRatio * limit));
  const request = share <= kept ? Math.min(current.request, following) : following;
  return { request: hints.isRequestFrozen ? current.request : request, limit, limitPolicy: 'Apply' };
}

function byRequest(
  seat: Seat,
  share: Millicores,
  isGreedy: boolean,
  { allocatable, scale }: Room,
  rules: AllocationRules,
): PodTarget {
  const { current, original, hints, isComingUp } = seat;
  const request = share;
  const factor = ceilingFactor(seat, isGreedy, rules);
  const mustExceed = Math.max(request + 1, kernelFloor);
  const wholeNode = Math.floor(allocatable / LIMIT_QUANTUM) * LIMIT_QUANTUM;
  if (factor !== undefined) {
    const least = Math.max(hints.limitMin ?? 0, isComingUp ? (current.limit ?? 0) : 0);
    const loose = Math.max(factor * scale * share, least, mustExceed);
    const highest = rules.userLimits === 'keep' ? (original.limit ?? wholeNode) : wholeNode;
    const limit = Math.min(Math.ceil(loose / LIMIT_QUANTUM) * LIMIT_QUANTUM, Math.max(highest, request));
    return { request, limit, limitPolicy: 'Apply' };
  }
  if (current.limit === undefined) return { request, limit: undefined, limitPolicy: 'Keep' };
  if (original.limit !== undefined && (rules.userLimits === 'keep' || request < original.limit)) {
    const limit = Math.max(original.limit, request);
    return { request, limit, limitPolicy: limit === current.limit ? 'Keep' : 'Apply' };
  }
  return { request, limit: Math.max(wholeNode, request + 1), limitPolicy: 'Lift' };
}

/** A Burstable pod whose CPU request reaches its limit could become Guaranteed, which the API refuses. */
function keepQos(target: PodTarget): Sized {
  const { request, limit } = target;
  if (limit === undefined || request < limit) return { target, clamps: [] };
  const lower = limit - 1;
  return {
    target: { ...target, request: lower },
    clamps: [{ reason: 'QosClass', what: 'request', before: request, after: lower }],
  };
}
