/**
 * Pods that are to have more than their nodes can give: after a while they are evicted one at a time, so that
 * replacements of the new size are placed where there is room. Only where the policy allows evictions; the guards prove
 * that there is room.
 */
import { mayEvict } from '../../decide/rightsizing/choose-method.ts';
import type { DriftedPod } from '../../decide/rightsizing/pod-drift.ts';
import type { ReasonName } from '../../lib/reasons.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { effectiveChanges, type SizeChange } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { SizeActuator } from './actuator.ts';
import type { ApplyContext } from './apply.ts';
import { LOOK_AGAIN_MILLIS } from './apply-result.ts';
import type { WorkloadMemory } from './memory.ts';
import type { RightsizingParts } from './parts.ts';
import { evictedMessage, type PodReplacement } from './pod-replacement.ts';
import { type ApplyResult, pending } from './result.ts';

export interface MakeRoomOptions extends Pick<RightsizingParts, 'settings' | 'sizesNewPods' | 'clock'> {
  readonly replacement: PodReplacement;
  readonly actuator: Pick<SizeActuator, 'lacksRoom'>;
}

/** Keeps since when there has been no room. */
export interface MakeRoom {
  /** Evicts one of the pods, where it is time. @returns what came of it. */
  evictOne(context: ApplyContext, cramped: readonly DriftedPod[]): Promise<ApplyResult | undefined>;
  /**
   * No pod could be given what is due for so long that it is better given to new ones, and one may go: the guards are
   * asked before anything is written.
   * @param raises what is due.
   * @param tried the pods that it was asked for.
   * @param reason why the first of them could not have it; undefined where none was tried.
   */
  isTime(
    context: ApplyContext,
    raises: readonly SizeChange[],
    tried: readonly SizedPod[],
    reason: ReasonName | undefined,
  ): Promise<boolean>;
}

export function createMakeRoom({ replacement, actuator, settings, sizesNewPods, clock }: MakeRoomOptions): MakeRoom {
  /** The policy allows evictions, the kind brings new pods, and those are sized at admission. */
  const isAllowed = ({ advised: { workload }, policy }: ApplyContext): boolean =>
    mayEvict(policy.spec.updates, workload.kind, sizesNewPods());

  /** Since when a pod, by its uid, has no room on its node for the size in force. */
  const noRoom = new WeakMap<WorkloadMemory, ReadonlyMap<string, EpochMillis>>();
  /** Since when none of the pods has room for what is due. */
  const noRoomSince = new WeakMap<WorkloadMemory, EpochMillis>();

  return {
    async evictOne(context, cramped) {
      const { advised, memory } = context;
      const now = clock.now();
      const before = noRoom.get(memory);
      const sinceOf = (uid: string): EpochMillis => before?.get(uid) ?? now;
      if (cramped.length === 0) noRoom.delete(memory);
      else noRoom.set(memory, new Map(cramped.map(({ pod: { pod } }) => [pod.uid, sinceOf(pod.uid)])));
      if (!isAllowed(context)) return undefined;
      replacement.judgeLast(context, cramped);
      const overdue = cramped.filter(
        ({ pod: { pod } }) => actuator.lacksRoom(pod.uid) || now - sinceOf(pod.uid) >= settings().deferredMillis,
      );
      // What admission reads is what the view shows.
      if (overdue.length === 0 || !memory.annotations.areShown) return undefined;
      const tried = await replacement.evictOne(context, overdue);
      if (tried === undefined) return undefined;
      const blocked = memory.attempts.note(advised.workload, tried.attempt);
      if (blocked !== undefined) return blocked;
      const message = evictedMessage(tried.decision);
      return pending('EvictedToResize', message, LOOK_AGAIN_MILLIS);
    },
    async isTime(context, raises, tried, reason) {
      const { memory } = context;
      const isCramped =
        reason === 'NodeHasNoRoom' ||
        (reason !== undefined && tried.length > 0 && tried.every(({ pod }) => actuator.lacksRoom(pod.uid)));
      if (!isCramped) {
        noRoomSince.delete(memory);
        return false;
      }
      const since = noRoomSince.get(memory) ?? clock.now();
      noRoomSince.set(memory, since);
      if (!isAllowed(context)) return false;
      if (reason === 'NodeHasNoRoom' && clock.now() - since < settings().deferredMillis) return false;
      // Nothing is written before the guards agree to what follows from it.
      const drifted = tried.map((pod) => ({ pod, changes: effectiveChanges(pod.sizing.containers, raises) }));
      return (await replacement.tryOne(context, drifted))?.attempt.kind === 'asked';
    },
  };
}
