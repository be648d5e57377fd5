/**
 * Applies sizes through the pod template: one write for all containers, one rollout; and takes them back where they do
 * harm.
 */

import type { Events } from '../../act/events.ts';
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { dueChanges } from '../../decide/rightsizing/due-changes.ts';
import { partsOf, partsTakenBack, takenBack, withoutParts } from '../../decide/rightsizing/side-by-side.ts';
import { isDecrease, watchChange } from '../../decide/rightsizing/watched-change.ts';
import type { RetemplateDecision } from '../../decide/size-decision.ts';
import type { SizeLog } from '../../guard/size/size-history.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { renderReason } from '../../lib/reasons.ts';
import { applyChanges, effectiveChanges, type SizeChange } from '../../model/pod-size.ts';
import { workloadRef } from '../../model/refs.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizeActuator } from './actuator.ts';
import type { ApplyContext } from './apply.ts';
import { LOOK_AGAIN_MILLIS, resultOfAttempt, resultOfWaiting } from './apply-result.ts';
import { type Changes, writeInForce } from './change.ts';
import { keptText } from './keep-watch.ts';
import { dropUnspread, type OngoingChange, review, UNSEEN_MILLIS } from './memory.ts';
import type { ApplyResult, AttemptOutcome } from './result.ts';
import type { RightsizingSettings } from './settings.ts';
import { nothingSeen } from './throttling.ts';
import { worthNewPods } from './worth.ts';

export interface RecreateOptions {
  readonly actuator: SizeActuator;
  readonly changes: Changes;
  readonly history: Pick<SizeLog, 'recordIneffective' | 'recordEffective'>;
  readonly settings: () => RightsizingSettings;
  readonly events: Events;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** One look: what did harm is taken back first; at most one write of the template, which is one rollout. */
export type Recreate = (context: ApplyContext) => Promise<ApplyResult>;

export function createRecreate(options: RecreateOptions): Recreate {
  const { actuator, changes, history, settings, events, metrics, clock } = options;

  /** One write for all containers: two would be two rollouts (optipod defect B3). */
  const retemplate = async (context: ApplyContext, decision: RetemplateDecision): Promise<AttemptOutcome> => {
    const { advised, policy, signal } = context;
    const { kind, namespace, name } = decision.workload;
    const attempt = await actuator.retemplate(decision, policy.spec, signal);
    if (attempt.kind !== 'blocked') {
      const status = attempt.kind === 'asked' ? 'success' : 'failure';
      const type = decision.useServerSideApply ? 'ServerSideApply' : 'StrategicMergePatch';
      metrics.inc('optipod_ssa_patch_total', {
        policy: policy.name,
        namespace,
        workload: name,
        kind,
        status,
        patch_type: type,
      });
    }
    if (attempt.kind === 'asked' && attempt.tookFrom.length > 0) {
      const previous = attempt.tookFrom.join(', ');
      const message = renderReason('SSAOwnershipTaken', { kind, namespace, name, previous });
      events.onWorkload(advised.workload, { reason: 'SSAOwnershipTaken', message });
    }
    return attempt;
  };

  /**
   * What was written is gone again: somebody else writes the template, such as a GitOps controller. Counted as a change
   * without effect, so that the guards stop before it becomes a loop.
   */
  const noticeFight = ({ advised: { workload }, memory }: ApplyContext): void => {
    if (memory.retemplated === undefined) return;
    if (effectiveChanges(workload.containers, memory.retemplated.changes).length === 0) {
      memory.retemplated = { ...memory.retemplated, wasSeen: true };
      return;
    }
    // Not yet seen is not undone: the view may still be behind.
    if (!memory.retemplated.wasSeen && clock.now() - memory.retemplated.at < UNSEEN_MILLIS) return;
    history.recordIneffective(workload.uid, clock.now());
    memory.retemplated = undefined;
  };

  /** What the memory watches, on the workload. @returns why it could not be written. */
  const keepWatched = ({ annotate, memory }: ApplyContext): Promise<ApplyResult | undefined> =>
    annotate({ [rightsizingKeys.watchedChanges]: keptText(memory) });

  const begin = async (context: ApplyContext, due: readonly SizeChange[]): Promise<ApplyResult | undefined> => {
    const { advised, memory, policy } = context;
    const { workload, inForce, lessons } = advised;
    // Sizes that were applied in place go into the template with it: new pods are made of that.
    const to = differences(workload.containers, applyChanges(inForce, due));
    const change: OngoingChange = {
      ...watchChange(due, inForce, advised.pods, clock.now()),
      method: 'Recreate',
      phase: 'spread',
      canary: undefined,
      throttling: nothingSeen(),
    };
    const decision = decisionFor(context, to, 'the recommendation', settings());
    const { ongoing } = memory;
    const isLess = isDecrease(change);
    const trial = isLess ? actuator.tryRetemplate(decision, policy.spec) : undefined;
    if (trial !== undefined && trial.kind !== 'asked') return resultOfAttempt(workload, memory, trial);
    memory.ongoing = [...withoutParts(ongoing, partsOf(due)), change];
    // Before the template: else whoever leads next might see a decrease that nobody watches. What is not in the template
    // is none to him.
    const unkept = isLess ? await keepWatched(context) : undefined;
    const attempt = unkept === undefined ? await retemplate(context, decision) : undefined;
    if (attempt?.kind !== 'asked') {
      // What may be in the template is watched; where the next look does not see it there, it is dropped.
      const isUncertain = attempt?.kind === 'refused' && attempt.answer.isUncertain === true;
      if (!isUncertain) memory.ongoing = ongoing;
      if (isLess && attempt !== undefined && !isUncertain) await keepWatched(context);
      return unkept ?? (attempt && resultOfAttempt(workload, memory, attempt));
    }
    memory.retemplated = { changes: to, at: clock.now(), wasSeen: false };
    const how = policy.spec.updates.useServerSideApply ? 'ServerSideApply' : 'StrategicMergePatch';
    changes.noteMade(context, change, 'Recreate', how);
    // The template has it all; nothing is applied beside it.
    return writeInForce(context, { inForce: workload.containers, lessons }, clock.now());
  };

  /** The template goes back to what it was before the decrease, or where the change never was in it, the pods do. */
  const takeBack = async (context: ApplyContext): Promise<ApplyResult | undefined> => {
    const { advised, live, memory } = context;
    const { workload } = advised;
    const harms = await changes.judge(context, () => live);
    if (harms.length === 0) return undefined;
    // It never was in the template.
    if (harms.every(({ change }) => change.method !== 'Recreate'))
      return (await changes.takeBack(context, harms, advised.inForce)).result;
    const before = harms.reduce(
      (sizes, { change, harm }) => takenBack(sizes, change, partsTakenBack(sizes, change, harm.parts)),
      workload.containers,
    );
    const to = differences(workload.containers, before);
    const decision = { ...decisionFor(context, to, 'a decrease is taken back', settings()), isRestore: true };
    const attempt = to.length === 0 ? undefined : await retemplate(context, decision);
    const kept = attempt && resultOfAttempt(workload, memory, attempt);
    // Not taken back yet: it is tried again at the next look.
    if (kept !== undefined) return { ...kept, againAfterMillis: kept.againAfterMillis ?? LOOK_AGAIN_MILLIS };
    memory.retemplated = undefined;
    const noted = changes.noteHarm(context, harms, before);
    const failed = await writeInForce(context, { ...noted, inForce: workload.containers }, clock.now());
    return failed === undefined ? noted.result : { ...failed, againAfterMillis: LOOK_AGAIN_MILLIS };
  };

  return async (context) => {
    const { advised, memory } = context;
    dropUnspread(memory);
    // First: a template that somebody has set back is not harm done by ours.
    noticeFight(context);
    const harmed = await takeBack(context);
    if (harmed !== undefined) return harmed;
    review(memory, !advised.workload.isRollingOut, clock.now(), settings().revertMillis);
    // The template has been taken back, and with it every pod that is made.
    if (!advised.workload.isRollingOut) memory.takenBack = [];
    // Until the view shows the new template, the advice is about the old one.
    const isShown = memory.retemplated?.wasSeen !== false;
    const due = isShown ? dueChanges(advised.advice) : [];
    const { beginning, held } = worthNewPods(context, due, settings(), clock.now());
    if (beginning.length > 0) {
      const kept = await begin(context, beginning);
      if (kept !== undefined) return kept;
      return { status: 'Applied', againAfterMillis: LOOK_AGAIN_MILLIS };
    }
    return resultOfWaiting(advised, memory, { isDue: due.length > 0, held });
  };
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
