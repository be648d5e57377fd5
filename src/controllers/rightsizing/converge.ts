/** Brings running pods in line with the sizes in force, each in one patch. */
import { memoryGrowth, mostNeededFirst } from '../../decide/rightsizing/most-needed-first.ts';
import {
  type DriftedPod,
  driftedPods,
  everyKey,
  isResizable,
  managedKeys,
  noneResizable,
} from '../../decide/rightsizing/pod-drift.ts';
import { givenInRollout } from '../../decide/rightsizing/rollout-help.ts';
import { joinChanges, mayBegin, onlyParts, restOf } from '../../decide/rightsizing/side-by-side.ts';
import { includesPart, type SizedPart } from '../../decide/rightsizing/watched-change.ts';
import { isWithinMaximum, withinMaximum } from '../../decide/rightsizing/within-maximum.ts';
import type { ResizeDecision } from '../../decide/size-decision.ts';
import type { ReasonName } from '../../lib/reasons.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { applyChanges, isIncrease, type SizeChange, sizeOfContainer } from '../../model/pod-size.ts';
import { podRef, workloadRef } from '../../model/refs.ts';
import { type ReplicaState, stateOfPod, withReplicaSizes } from '../../model/replica-sizes.ts';
import { restartsOn } from '../../model/restart-on-resize.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { SizeActuator } from './actuator.ts';
import { type ApplyContext, appliedKeys, keysOfPod } from './apply.ts';
import type { RightsizingParts } from './parts.ts';
import type { ApplyResult } from './result.ts';

export interface ConvergeOptions extends Pick<RightsizingParts, 'isAllocated' | 'clock'> {
  readonly actuator: Pick<SizeActuator, 'resize' | 'isResizing' | 'lacksRoom'>;
}

/**
 * Asks for what each pod lacks; waits for no kubelet. Decreases first: they make room for the rest, and the kubelet
 * takes them first as well (KEP-1287).
 * @param inForce the sizes that all pods are to have.
 * @param changed what is being changed, beside what the workload says is applied: rightsizing has a say in it.
 */
export type Converge = (
  context: ApplyContext,
  inForce: readonly ContainerSpecRecord[],
  changed: readonly SizeChange[],
) => Promise<Converged>;

export interface Converged {
  /** What keeps the first of the pods that are kept from it. */
  readonly kept: ApplyResult | undefined;
  /** Pods whose nodes have no room for more, or that end before they can be given any. */
  readonly cramped: readonly DriftedPod[];
}

export function createConverge({ actuator, isAllocated, clock }: ConvergeOptions): Converge {
  /** What differs in the pod from the sizes in force, and from what it was given before the others. */
  const driftOfPod = (
    context: ApplyContext,
    pod: SizedPod,
    inForce: readonly ContainerSpecRecord[],
    changed: readonly SizeChange[],
  ): readonly DriftedPod[] => {
    const state = stateIn(context, pod);
    if (state !== undefined) return driftOfReplica(context, pod, state, inForce);
    const own = context.memory.watches.ongoing.flatMap(({ phase, canary, changes }) =>
      phase === 'canary' && canary?.uid === pod.pod.uid ? changes : [],
    );
    const keys = managedKeys([...changed, ...own], appliedKeys(context));
    const managed = keysOfPod(pod, context.advised.inForce, keys, isAllocated(pod));
    return driftedPods([pod], applyChanges(inForce, joinChanges(own)), managed);
  };

  /** What differs in the pod of a replica that has a size of its own. */
  const driftOfReplica = (
    context: ApplyContext,
    pod: SizedPod,
    state: ReplicaState,
    inForce: readonly ContainerSpecRecord[],
  ): readonly DriftedPod[] => {
    // Nothing was changed of it yet: what others gave the pod is not ours.
    const ours = state.changedAt === undefined ? appliedKeys(context) : everyKey(inForce);
    const managed = keysOfPod(pod, inForce, ours, isAllocated(pod));
    return driftedPods([pod], withReplicaSizes(inForce, state), managed);
  };

  /** What is left of the changes when a guard objects to a part of them: what holds back that holds back nothing else. */
  const askForRest = async (
    { memory, policy, signal }: ApplyContext,
    { pod, changes }: DriftedPod,
    objection: ReasonName,
    decide: (changes: readonly SizeChange[]) => ResizeDecision,
  ): Promise<void> => {
    const isDear = (part: SizedPart): boolean => restartsOn(pod.sizing.containers, part);
    let rest = restOf(mayBegin(changes, pod.sizing.containers, []), objection, isDear);
    while (rest !== undefined) {
      const left = joinChanges([...rest.raises, ...rest.decreases]);
      const attempt = await actuator.resize(decide(left), policy.spec, signal);
      if (attempt.kind === 'asked') memory.watches.noteAsked(pod, left);
      rest = attempt.kind === 'blocked' ? restOf(rest, attempt.block.reason, isDear) : undefined;
    }
  };

  return async (context, inForce, changed) => {
    const { advised, policy, memory, live } = context;
    const { workload } = advised;
    const all = live.flatMap((pod) => driftOfPod(context, pod, inForce, changed));
    // What did harm is undone first, and alone: nothing that waits for its time keeps it.
    const harmed = all.flatMap(({ pod, changes }): DriftedPod[] => {
      if (stateIn(context, pod) !== undefined) return [];
      const own = onlyParts(changes, (part) => includesPart(memory.watches.takenBack, part));
      return own.length === 0 ? [] : [{ pod, changes: own }];
    });
    if (harmed.length === 0) memory.watches.forgetHarm();
    const isRestore = harmed.length > 0;
    const allowed = all.flatMap((each) => withinMaximum(each, workload.containers, policy.spec.bounds));
    const drifted = isRestore ? harmed : workload.isRollingOut ? allowed.flatMap(helpedAt(clock.now())) : allowed;
    const summary = isRestore ? 'a decrease is taken back' : 'the sizes in force';
    let kept: ApplyResult | undefined;
    const cramped: DriftedPod[] = [];
    const isTooLate = workload.isRollingOut || noneResizable(live);
    const growing = mostNeededFirst(drifted.filter(rises), ({ pod, changes }) =>
      memoryGrowth(pod.sizing.containers, changes),
    );
    for (const group of [drifted.filter((one) => !rises(one)), growing]) {
      for (const each of group) {
        if (actuator.isResizing(each.pod.pod.uid)) continue;
        if (isTooLate && !isResizable(each.pod)) {
          cramped.push(each);
          continue;
        }
        const decision = decisionFor(context, each.pod, each.changes, summary, isRestore);
        const attempt = await actuator.resize(decision, context.policy.spec, context.signal);
        kept ??= memory.attempts.note(workload, attempt);
        if (attempt.kind === 'asked') memory.watches.noteAsked(each.pod, each.changes);
        if (attempt.kind !== 'blocked') continue;
        const { reason } = attempt.block;
        if (reason === 'NodeHasNoRoom' || (rises(each) && actuator.lacksRoom(each.pod.pod.uid))) cramped.push(each);
        // The cluster as a whole has to wait: so have the other pods. For more memory places are kept.
        if (isGlobal(reason)) break;
        await askForRest(context, each, reason, (changes) =>
          decisionFor(context, each.pod, changes, summary, isRestore),
        );
      }
    }
    // A new pod has all that is in force, not only what may be given to a running one.
    const mayBeNew = ({ pod }: DriftedPod): boolean =>
      all.some((each) => each.pod === pod && isWithinMaximum(each, workload.containers, policy.spec.bounds));
    return { kept, cramped: isRestore ? cramped : cramped.filter(mayBeNew) };
  };
}

/** Of the pod's replica; undefined: it has the size of all. */
function stateIn({ replicas, advised }: ApplyContext, { pod }: SizedPod): ReplicaState | undefined {
  return replicas && stateOfPod(replicas, advised.workload, pod);
}

/**
 * Pods of the old template are about to go, those of the new one come with what is in force: only those are left that
 * have too little.
 */
const helpedAt =
  (now: EpochMillis) =>
  ({ pod, changes }: DriftedPod): readonly DriftedPod[] => {
    const given = givenInRollout(pod, changes, now);
    return given.length === 0 ? [] : [{ pod, changes: given }];
  };

/** A resize of one running pod. @param summary says why, for people; @param isRestore what did harm is put back. */
export function decisionFor(
  { advised: { workload } }: ApplyContext,
  { pod }: SizedPod,
  to: readonly SizeChange[],
  summary: string,
  isRestore = false,
): ResizeDecision {
  return {
    kind: 'resize',
    engine: 'rightsizing',
    workload: workloadRef(workload),
    workloadUid: workload.uid,
    pod: podRef(pod),
    changes: to,
    ...(isRestore && { isRestore }),
    why: { summary, numbers: {} },
  };
}

/** Something of it grows, so its node has to have room for it. */
function rises({ pod, changes }: DriftedPod): boolean {
  return changes.some(({ container, to }) => isIncrease(sizeOfContainer(pod.sizing.containers, container) ?? {}, to));
}

/** About all pods alike: the next one would hear the same. */
export function isGlobal(reason: ReasonName): boolean {
  return (
    reason === 'ResizeConcurrency' || reason === 'ChangePace' || reason === 'LeaderWarmup' || reason === 'CachesStale'
  );
}
