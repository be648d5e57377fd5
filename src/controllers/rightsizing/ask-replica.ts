/** Asks for the change of one replica: for as much of it as no guard objects to. */
import { mayEvict } from '../../decide/rightsizing/choose-method.ts';
import { describeChanges } from '../../decide/rightsizing/due-changes.ts';
import { isResizable } from '../../decide/rightsizing/pod-drift.ts';
import { type Beginning, joinChanges, restOf } from '../../decide/rightsizing/side-by-side.ts';
import type { SizedPart } from '../../decide/rightsizing/watched-change.ts';
import type { ReasonName } from '../../lib/reasons.ts';
import { effectiveChanges, type SizeChange } from '../../model/pod-size.ts';
import { restartsOn } from '../../model/restart-on-resize.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { SizeActuator } from './actuator.ts';
import type { ApplyContext } from './apply.ts';
import { decisionFor, isGlobal } from './converge.ts';
import type { RightsizingParts } from './parts.ts';
import { type Attempt, raiseForNewPods } from './raise-for-new-pods.ts';
import type { ApplyResult } from './result.ts';

export interface AskReplicaOptions extends Pick<RightsizingParts, 'sizesNewPods' | 'clock'> {
  readonly actuator: Pick<SizeActuator, 'resize' | 'lacksRoom'>;
}

export interface ReplicaChange extends Beginning {
  /** Of the raises, asked where there is no room for what lasts. */
  readonly least: readonly SizeChange[];
  /** What the replica has by now. */
  readonly inForce: readonly ContainerSpecRecord[];
}

export type AskReplica = (context: ApplyContext, pod: SizedPod, change: ReplicaChange) => Promise<Attempt>;

/** What a pod is told that its node had no room for a moment ago; all else would keep a new pod from its size as well. */
const isAfterRefusal: ReadonlySet<ReasonName | undefined> = new Set([
  'ChangeBackoff',
  'ChangesIneffective',
  'InfeasibleBefore',
]);

export function createAskReplica({ actuator, sizesNewPods, clock }: AskReplicaOptions): AskReplica {
  /** It is put in force though its pod cannot have it: an eviction can make room for it. */
  const isForNewPod = (
    { policy, advised }: ApplyContext,
    { pod }: SizedPod,
    reason: ReasonName | undefined,
  ): boolean => {
    const isCramped = reason === 'NodeHasNoRoom' || (isAfterRefusal.has(reason) && actuator.lacksRoom(pod.uid));
    return isCramped && mayEvict(policy.spec.updates, advised.workload.kind, sizesNewPods());
  };

  return async (context, pod, { raises, decreases, least, inForce }) => {
    const { advised, memory, policy, signal } = context;
    if (!isResizable(pod)) return raiseForNewPods(context, { raises, decreases }, clock.now());
    const isDear = (part: SizedPart): boolean => restartsOn(pod.sizing.containers, part);
    let kept: ApplyResult | undefined;
    let isMore = raises !== least;
    for (let part: Beginning | undefined = { raises, decreases }; part !== undefined; isMore = false) {
      const both = joinChanges([...part.raises, ...part.decreases]);
      if (both.length === 0) break;
      const to = effectiveChanges(pod.sizing.containers, both);
      // What it has already is only to be written.
      if (to.length === 0) return { made: part, kept };
      const decision = decisionFor(context, pod, to, describeChanges(both, inForce));
      const answer = await actuator.resize(decision, policy.spec, signal);
      if (answer.kind === 'asked') return { made: part, kept };
      const reason = answer.kind === 'blocked' ? answer.block.reason : undefined;
      if (isMore && reason !== undefined && !isGlobal(reason)) {
        part = { raises: least, decreases };
        continue;
      }
      const why = memory.attempts.note(advised.workload, answer);
      kept ??= why;
      if (part.raises.length > 0 && isForNewPod(context, pod, reason))
        return { made: { raises: part.raises, decreases: [] }, kept };
      part = why?.reason === undefined ? undefined : restOf(part, why.reason, isDear);
    }
    return { made: undefined, kept };
  };
}
