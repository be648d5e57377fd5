/** What is to become of a change, by how the first pod does that has it. Pure. */
import { isStillAdvised } from '../../decide/rightsizing/changed-world.ts';
import { rulesOf } from '../../decide/rightsizing/policy-rules.ts';
import { isHarmedInAll } from '../../decide/rightsizing/rollout-help.ts';
import { isDecrease } from '../../decide/rightsizing/watched-change.ts';
import type { NamelessBlock } from '../../guard/context.ts';
import { object } from '../../guard/objection.ts';
import { objectToClosed } from '../../guard/rules/timing.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { workloadText } from '../../model/cluster-view.ts';
import { isInForce } from '../../model/granted-size.ts';
import { effectiveChanges } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { ApplyContext } from './apply.ts';
import type { OngoingChange } from './watches.ts';

export type CanaryVerdict =
  /** The pod has not had it for long enough, or what it needs by now is not read. */
  | { readonly kind: 'undecided' }
  /** The pod is gone, or was not granted it: the guards remember why. */
  | { readonly kind: 'not had' }
  /** It did well, and the others cannot have it now. */
  | { readonly kind: 'held'; readonly objection: NamelessBlock }
  /** It did well, and is not advised any more. */
  | { readonly kind: 'outdated' }
  | { readonly kind: 'proven' };

export interface CanaryQuestion {
  /** Whether a resize of the pod is under way. */
  readonly isResizing: (podUid: string) => boolean;
  /** For how long a decrease is watched; an increase is fine as soon as it is in force. */
  readonly canaryMillis: Millis;
  readonly now: EpochMillis;
}

export function canaryVerdict(
  context: Pick<ApplyContext, 'advised' | 'live' | 'policy'>,
  change: OngoingChange,
  { isResizing, canaryMillis, now }: CanaryQuestion,
): CanaryVerdict {
  const { advised, live, policy } = context;
  const { canary, changes } = change;
  const pod = live.find(({ pod: { uid } }) => uid === canary?.uid);
  const isAsked = pod !== undefined && effectiveChanges(pod.sizing.containers, changes).length === 0;
  if (canary === undefined || pod === undefined || (!isAsked && !isResizing(pod.pod.uid))) return { kind: 'not had' };
  if (!isAsked || !isInForce(pod.sizing, changes)) return { kind: 'undecided' };
  const isLess = isDecrease(change);
  // Whether less is enough for the others is not known either while nothing is read.
  const isUnread = advised.unread !== undefined;
  if (isLess && (isUnread || !hasShown(change, canary.at, pod, { canaryMillis, now }))) return { kind: 'undecided' };
  const objection = objectToOthers(context, change, pod, now);
  if (objection !== undefined) return { kind: 'held', objection };
  return { kind: isStillAdvised(change, advised.advice, rulesOf(policy.spec)) ? 'proven' : 'outdated' };
}

/**
 * It has been well with less for the whole time: one that was restarted for it from when it was ready again, if the clock
 * of its node can be believed.
 */
function hasShown(
  { unready }: OngoingChange,
  at: EpochMillis,
  { pod: { uid, ready, readyChangedAt = 0 } }: SizedPod,
  { canaryMillis, now }: Pick<CanaryQuestion, 'canaryMillis' | 'now'>,
): boolean {
  if (unready.has(uid)) return now >= at + canaryMillis;
  const since = readyChangedAt <= now ? Math.max(at, readyChangedAt) : at;
  return ready && now >= since + canaryMillis;
}

/** Why the other pods cannot have what the first one does well with. */
function objectToOthers(
  { advised: { workload }, policy }: Pick<ApplyContext, 'advised' | 'policy'>,
  change: OngoingChange,
  first: SizedPod,
  now: EpochMillis,
): NamelessBlock | undefined {
  const isLess = isDecrease(change);
  // A first pod of the old template says nothing about those that come, unless what it lacked could not be written.
  const isHelp = !isLess && isHarmedInAll(first, change.changes, now);
  if (workload.isRollingOut && !isHelp) return object('TemplateRollout', { workload: workloadText(workload) });
  // They could not have it before the next window; by then it may no longer be wanted.
  return isLess ? objectToClosed(policy.spec.updates.window, now, 'OutsideUpdateWindow') : undefined;
}
