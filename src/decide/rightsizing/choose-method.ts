/**
 * How a change would be applied: in place, by new pods (of a new template, or sized at admission), or not at all, and
 * then why.
 */
import { isManagedKind, type PolicyMode } from '../../api/optimization-policy.ts';
import { type Reason, reason } from '../../lib/reasons.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import type { QosClass } from '../../model/sizing-records.ts';

export interface MethodQuestion {
  readonly workload: WorkloadRef;
  readonly mode: PolicyMode;
  readonly dryRun: boolean;
  /** Someone put the annotation `optipod.io/paused` on it. */
  readonly isPaused: boolean;
  /** An annotation of the workload that a later version of Stowage wrote; default none. */
  readonly newerFormat?: string | undefined;
  readonly qos: QosClass;
  /** A VerticalPodAutoscaler that acts on the workload. */
  readonly vpa: string | undefined;
  /** A pod of OptiPod, where that applies the same policy; default none. */
  readonly optipod?: string | undefined;
  /** Why pods of the workload cannot be resized in place; undefined: they can. */
  readonly inPlaceProblem: string | undefined;
  readonly allowInPlaceResize: boolean;
  readonly allowRecreate: boolean;
  /** New pods by eviction instead of by a new template; default false. */
  readonly evictToResize?: boolean;
  /** Whether new pods are sized at admission; default false. */
  readonly sizesNewPods?: boolean;
}

export type MethodChoice =
  | { readonly method: 'InPlace' | 'Recreate' | 'Evict' }
  /** Without a reason: the mode only asks for advice. */
  | { readonly method: 'Skip'; readonly reason: Reason | undefined };

/**
 * The order is OptiPod's: what the mode says, then dry-run, then whether it may be touched at all, then how. In place
 * is preferred wherever it is possible and allowed, and really is in place: OptiPod patches the template, which
 * restarts every pod (defect B2). Properties 6 and 20.
 */
export function chooseMethod(question: MethodQuestion): MethodChoice {
  const { workload, mode, dryRun, isPaused, qos, vpa, inPlaceProblem, allowInPlaceResize, allowRecreate } = question;
  const skip = (why: Reason | undefined): MethodChoice => ({ method: 'Skip', reason: why });
  if (mode === 'Recommend') return skip(undefined);
  if (mode === 'Disabled') return skip(reason('PolicyDisabled', {}));
  if (dryRun) return skip(reason('DryRunActive', {}));
  if (isPaused) return skip(reason('OptedOut', {}));
  if (question.newerFormat !== undefined) return skip(reason('NewerFormat', { key: question.newerFormat }));
  if (!isManagedKind(workload.kind)) return skip(reason('KindAdvisedOnly', { kind: workload.kind }));
  if (vpa !== undefined) return skip(reason('VpaSizesWorkload', { vpa }));
  const { optipod } = question;
  if (optipod !== undefined) return skip(reason('PredecessorRuns', { system: 'OptiPod', pod: optipod }));
  if (qos === 'BestEffort') return skip(reason('BestEffortWorkload', {}));
  if (inPlaceProblem === undefined && allowInPlaceResize) return { method: 'InPlace' };
  if (allowRecreate && question.evictToResize === true) {
    const obstacle = evictionObstacle(question);
    return obstacle === undefined ? { method: 'Evict' } : skip(reason('EvictToResizeUnavailable', { cause: obstacle }));
  }
  if (allowRecreate) return { method: 'Recreate' };
  const cause = inPlaceProblem ?? 'the policy does not allow in-place resize';
  return skip(reason('InPlaceResizeUnavailable', { ...workload, cause }));
}

/** Whether single pods may be evicted so that their replacements have another size. */
export function mayEvict(
  updates: { readonly allowRecreate: boolean; readonly evictToResize: boolean },
  kind: string,
  sizesNewPods: boolean,
): boolean {
  return updates.allowRecreate && updates.evictToResize && sizesNewPods && kind !== 'DaemonSet';
}

/**
 * What keeps replacements of evicted pods from having another size. Who asks for evictions wants the template left
 * alone.
 */
function evictionObstacle({ workload, sizesNewPods = false }: MethodQuestion): string | undefined {
  if (!sizesNewPods) return 'the webhook that sizes new pods is off';
  return workload.kind === 'DaemonSet' ? 'pods of a DaemonSet are not evicted' : undefined;
}
