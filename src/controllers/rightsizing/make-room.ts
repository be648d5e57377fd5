/**
 * Pods that are to have more than their nodes can give: after a while they are evicted one at a time, so that
 * replacements of the new size are placed where there is room. Only where the policy allows evictions; the guards prove
 * that there is room.
 */
import { mayEvict } from '../../decide/rightsizing/choose-method.ts';
import type { DriftedPod } from '../../decide/rightsizing/pod-drift.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ReasonName } from '../../lib/reasons.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { effectiveChanges, type SizeChange } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { SizeActuator } from './actuator.ts';
import type { ApplyContext } from './apply.ts';
import { LOOK_AGAIN_MILLIS, resultOfAttempt } from './apply-result.ts';
import { evictedMessage, type PodReplacement } from './pod-replacement.ts';
import { type ApplyResult, pending } from './result.ts';
import type { RightsizingSettings } from './settings.ts';

export interface MakeRoomOptions {
  readonly replacement: PodReplacement;
  readonly actuator: Pick<SizeActuator, 'lacksRoom'>;
  readonly settings: () => RightsizingSettings;
  /** New pods are sized at admission. */
  readonly sizesNewPods: () => boolean;
  readonly clock: Clock;
}

/** Keeps `noRoom` and `noRoomSince` of the workload's memory. */
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

  return {
    async evictOne(context, cramped) {
      const { advised, memory } = context;
      const now = clock.now();
      const sinceOf = (uid: string): EpochMillis => memory.noRoom.get(uid) ?? now;
      memory.noRoom = new Map(cramped.map(({ pod: { pod } }) => [pod.uid, sinceOf(pod.uid)]));
      if (!isAllowed(context)) return undefined;
      replacement.judgeLast(context, cramped);
      const overdue = cramped.filter(
        ({ pod: { pod } }) => actuator.lacksRoom(pod.uid) || now - sinceOf(pod.uid) >= settings().deferredMillis,
      );
      // What admission reads is what the view shows.
      if (overdue.length === 0 || memory.written !== undefined) return undefined;
      const tried = await replacement.evictOne(context, overdue);
      if (tried === undefined) return undefined;
      const blocked = resultOfAttempt(advised.workload, memory, tried.attempt);
      if (blocked !== undefined) return blocked;
      const message = evictedMessage(tried.decision);
      return pending('EvictedToResize', message, LOOK_AGAIN_MILLIS);
    },
    async isTime(context, raises, tried, reason) {
      const { memory } = context;
      const isCramped =
        reason === 'NodeHasNoRoom' ||
        (reason !== undefined && tried.length > 0 && tried.every(({ pod }) => actuator.lacksRoom(pod.uid)));
      const since = isCramped ? (memory.noRoomSince ?? clock.now()) : undefined;
      memory.noRoomSince = since;
      if (since === undefined || !isAllowed(context)) return false;
      if (reason === 'NodeHasNoRoom' && clock.now() - since < settings().deferredMillis) return false;
      // Nothing is written before the guards agree to what follows from it.
      const drifted = tried.map((pod) => ({ pod, changes: effectiveChanges(pod.sizing.containers, raises) }));
      return (await replacement.tryOne(context, drifted))?.attempt.kind === 'asked';
    },
  };
}
