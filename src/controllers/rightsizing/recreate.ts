/**
 * Applies sizes through the pod template: one write for all containers, one rollout; and takes them back where they do
 * harm.
 */

import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { dueChanges } from '../../decide/rightsizing/due-changes.ts';
import { isWaitingForRoom, lackOfRoom } from '../../decide/rightsizing/lack-of-room.ts';
import { onlyParts, partsOf, partsTakenBack, takenBack } from '../../decide/rightsizing/side-by-side.ts';
import { includesPart, isDecrease, watchChange } from '../../decide/rightsizing/watched-change.ts';
import type { RetemplateDecision } from '../../decide/size-decision.ts';
import type { SizeLog } from '../../guard/size/size-history.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { Millis } from '../../lib/units.ts';
import { isLive } from '../../model/owners.ts';
import { applyChanges, effectiveChanges, type SizeChange } from '../../model/pod-size.ts';
import { workloadRef } from '../../model/refs.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizeActuator } from './actuator.ts';
import type { ApplyContext, ApplySizes } from './apply.ts';
import { LOOK_AGAIN_MILLIS, resultOfWaiting } from './apply-result.ts';
import { type Changes, type HarmfulChange, writeInForce } from './change.ts';
import { createCountedRetemplate } from './counted-retemplate.ts';
import type { RightsizingParts } from './parts.ts';
import type { RestartGate } from './restart-gate.ts';
import { type ApplyResult, pending } from './result.ts';
import type { RightsizingSettings } from './settings.ts';
import { watchesText } from './watch-annotation.ts';
import { isOwnRollout, type OngoingChange } from './watches.ts';

export interface RecreateOptions extends Pick<RightsizingParts, 'settings' | 'events' | 'metrics' | 'clock'> {
  readonly actuator: SizeActuator;
  readonly changes: Changes;
  readonly restartGate: RestartGate;
  readonly history: Pick<SizeLog, 'recordIneffective' | 'recordFailure' | 'failed'>;
}

/** One look: what did harm is taken back first; at most one write of the template, which is one rollout. */
export function createRecreate(options: RecreateOptions): ApplySizes {
  const { actuator, changes, restartGate, history, settings, clock } = options;
  const retemplate = createCountedRetemplate(options);

  /** What the memory watches, on the workload. @returns why it could not be written. */
  const keepWatched = ({ annotate, memory }: ApplyContext): Promise<ApplyResult | undefined> =>
    annotate({ [rightsizingKeys.watchedChanges]: watchesText(memory.watches) });

  const begin = async (context: ApplyContext, due: readonly SizeChange[]): Promise<ApplyResult | undefined> => {
    const { advised, memory, policy } = context;
    const { workload, inForce, lessons } = advised;
    // Sizes that were applied in place go into the template with it: new pods are made of that. All containers in one
    // write: two would be two rollouts (optipod defect B3).
    const to = differences(workload.containers, applyChanges(inForce, due));
    const watched = watchChange(due, inForce, advised.pods, clock.now());
    const decision = decisionFor(context, to, 'the recommendation', settings());
    const isLess = isDecrease(watched);
    const trial = isLess ? actuator.tryRetemplate(decision, policy.spec) : undefined;
    if (trial !== undefined && trial.kind !== 'asked') return memory.attempts.note(workload, trial);
    const goBack = memory.watches.checkpoint();
    const change = memory.watches.begin({ ...watched, method: 'Recreate', phase: 'spread', canary: undefined });
    // Before the template: else whoever leads next might see a decrease that nobody watches. What is not in the template
    // is none to him.
    const unkept = isLess ? await keepWatched(context) : undefined;
    const attempt = unkept === undefined ? await retemplate(context, decision) : undefined;
    if (attempt?.kind !== 'asked') {
      // What may be in the template is watched; where the next look does not see it there, it is dropped.
      const isUncertain = attempt?.kind === 'refused' && attempt.answer.isUncertain === true;
      if (!isUncertain) goBack(false);
      if (isLess && attempt !== undefined && !isUncertain) await keepWatched(context);
      return unkept ?? (attempt && memory.attempts.note(workload, attempt));
    }
    memory.template.note(to, clock.now());
    const how = policy.spec.updates.useServerSideApply ? 'ServerSideApply' : 'StrategicMergePatch';
    changes.noteMade(context, change, 'Recreate', how);
    // The template has it all; nothing is applied beside it.
    return writeInForce(context, { inForce: workload.containers, lessons }, clock.now());
  };

  /** The template goes back to what it was before the decrease, or where the change never was in it, the pods do. */
  const takeBack = async (context: ApplyContext): Promise<ApplyResult | undefined> => {
    const { advised, live, memory } = context;
    const { workload } = advised;
    const judged = await changes.judge(context, () => live);
    const hanging = hangingChanges(context);
    const harms = [...judged, ...hanging.filter(({ change }) => judged.every((each) => each.change !== change))];
    if (harms.length === 0) return undefined;
    // It never was in the template.
    if (harms.every(({ change }) => change.method !== 'Recreate'))
      return (await changes.takeBack(context, harms, advised.inForce)).result;
    const before = harms.reduce(
      (sizes, { change, harm }) => takenBack(sizes, change, partsTakenBack(sizes, change, harm.parts)),
      workload.containers,
    );
    const to = differences(workload.containers, before);
    const isUnderWay = workload.isRollingOut && harms.some(({ change }) => isOwnRollout(change));
    const decision = {
      ...decisionFor(context, to, 'a change is taken back', settings()),
      isRestore: true,
      turnsBack: isUnderWay,
    };
    const attempt = to.length === 0 ? undefined : await retemplate(context, decision);
    const kept = attempt && memory.attempts.note(workload, attempt);
    // Not taken back yet: it is tried again at the next look.
    if (kept !== undefined) return { ...kept, againAfterMillis: kept.againAfterMillis ?? LOOK_AGAIN_MILLIS };
    memory.template.forget();
    // What is too little is remembered; that more is refused or finds no room, only by the pauses that follow.
    const [hung] = hanging;
    if (hung !== undefined) {
      history.recordFailure(workload.uid, clock.now(), hung.failure, hung.pauseMillis);
      history.recordIneffective(workload.uid, clock.now());
    }
    const noted = changes.noteHarm(context, harms, before);
    const pauseMillis = hanging.find((each) => each.pauseMillis !== undefined)?.pauseMillis;
    const noRoomUntil = pauseMillis === undefined ? {} : { noRoomUntil: clock.now() + pauseMillis };
    const lessons = { ...noted.lessons, ...noRoomUntil };
    const failed = await writeInForce(context, { inForce: workload.containers, lessons }, clock.now());
    return failed === undefined ? noted.result : { ...failed, againAfterMillis: LOOK_AGAIN_MILLIS };
  };

  /** The pause goes on that the last leader began; of its own this one knows already. */
  const resumePause = ({ workload, lessons: { noRoomUntil } }: ApplyContext['advised']): void => {
    if (noRoomUntil === undefined || history.failed(workload.uid) !== undefined) return;
    const left = Math.min(NO_ROOM_PAUSE_MILLIS, noRoomUntil - clock.now());
    history.recordFailure(workload.uid, clock.now(), NO_ROOM, left);
  };

  return async (context) => {
    const { advised, memory } = context;
    const { workload } = advised;
    memory.watches.dropUnspread();
    resumePause(advised);
    // First: a template that somebody has set back is not harm done by ours. It counts as a change without effect, so that
    // the guards stop before it becomes a loop.
    if (memory.template.noticeUndone(workload.containers, advised.at))
      history.recordIneffective(workload.uid, clock.now());
    const harmed = await takeBack(context);
    if (harmed !== undefined) return harmed;
    // All pods may be new and wait for a node: the rollout of one pod, or of all at once, is over for the controller then.
    const isSpread = (change: OngoingChange): boolean =>
      !workload.isRollingOut && !(isOwnRollout(change) && isWaitingForRoom(change, advised.pods, advised.at));
    // Until the view shows the new template, its rollout has not begun.
    if (!memory.template.isUnseen) memory.watches.noteRolloutOver(isSpread);
    memory.watches.review(isSpread, advised.at, settings().revertMillis);
    const behind = leftBehind(context);
    if (behind !== undefined) return behind;
    // The template has been taken back, and with it every pod that is made.
    if (!workload.isRollingOut) memory.watches.forgetHarm();
    // Until the view shows the new template, the advice is about the old one.
    const due = memory.template.isUnseen ? [] : dueChanges(advised.advice);
    const { beginning, held } = restartGate.newPods(context, due);
    if (beginning.length > 0) {
      const kept = await begin(context, beginning);
      if (kept !== undefined) return kept;
      return { status: 'Applied', againAfterMillis: LOOK_AGAIN_MILLIS };
    }
    return resultOfWaiting(advised, memory, { isDue: due.length > 0, held });
  };
}

/** New pods may be refused by a moment's trouble of a webhook. */
const REFUSED_MILLIS: Millis = 60_000;
/** Each attempt takes pods away for as long as it hangs. */
const NO_ROOM_PAUSE_MILLIS: Millis = 3_600_000;
const NO_ROOM = 'no node had room for its new pods';

interface HangingChange extends HarmfulChange {
  /** What is said of the pause that follows. */
  readonly failure: string;
  /** At least, where more found no room. */
  readonly pauseMillis?: Millis;
}

/**
 * Changes whose new pods are not let in, by a policy or webhook of others, or find no node: their rollout would have no
 * end.
 */
function hangingChanges({ advised, memory }: ApplyContext): readonly HangingChange[] {
  const { workload, pods, at: now } = advised;
  const { refusedSince = now, isRollingOut } = workload;
  return memory.watches.ongoing.filter(isOwnRollout).flatMap((change): readonly HangingChange[] => {
    if (isRollingOut && now - Math.max(refusedSince, change.startedAt) >= REFUSED_MILLIS) {
      const harm = { parts: partsOf(change.changes), cause: 'its new pods are refused' };
      return [{ change, harm, failure: 'its new pods were refused' }];
    }
    const harm = lackOfRoom(change, pods, now);
    return harm === undefined ? [] : [{ change, harm, failure: NO_ROOM, pauseMillis: NO_ROOM_PAUSE_MILLIS }];
  });
}

/**
 * Of a StatefulSet a pod that never got ready is not replaced, whatever its template says by now, unless its pods are
 * managed in parallel. Source: kubernetes pkg/controller/statefulset/stateful_set_control.go (UpdateStatefulSet).
 */
function leftBehind({ advised: { workload, pods }, memory }: ApplyContext): ApplyResult | undefined {
  if (workload.kind !== 'StatefulSet') return undefined;
  const harmful = pods.find(({ pod, sizing }) => {
    const lacking = onlyParts(differences(sizing.containers, workload.containers), (part) =>
      includesPart(memory.watches.takenBack, part),
    );
    return isLive(pod) && !pod.ready && lacking.length > 0;
  });
  if (harmful === undefined) return undefined;
  const cause = `pod ${harmful.pod.name} still has what did harm: deleted, it is made anew as the template says`;
  return pending('ChangeReverted', renderReason('ChangeReverted', { ...workload, cause }), LOOK_AGAIN_MILLIS);
}

function decisionFor(
  { advised: { workload }, policy }: ApplyContext,
  to: readonly SizeChange[],
  summary: string,
  { forceConflicts }: RightsizingSettings,
): RetemplateDecision {
  return {
    kind: 'retemplate',
    engine: 'rightsizing',
    workload: workloadRef(workload),
    workloadUid: workload.uid,
    changes: to,
    useServerSideApply: policy.spec.updates.useServerSideApply,
    force: forceConflicts,
    why: { summary, numbers: {} },
  };
}

/** What turns the first into the second; containers that only one of them has stay as they are. */
function differences(from: readonly ContainerSpecRecord[], to: readonly ContainerSpecRecord[]): readonly SizeChange[] {
  return effectiveChanges(
    from,
    to.map(({ name, size }) => ({ container: name, to: size })),
  );
}
