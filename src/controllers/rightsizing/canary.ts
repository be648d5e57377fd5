/** The first pod of a change, its canary: what is tried on it, and when all pods are to have it. */
import { describeChanges } from '../../decide/rightsizing/due-changes.ts';
import { type Beginning, joinChanges, partsOf, restOf } from '../../decide/rightsizing/side-by-side.ts';
import { type SizedPart, watchChange, whileAsked } from '../../decide/rightsizing/watched-change.ts';
import type { Millis } from '../../lib/units.ts';
import { applyChanges, effectiveChanges, type SizeChange } from '../../model/pod-size.ts';
import { restartsOn } from '../../model/restart-on-resize.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { SizeActuator } from './actuator.ts';
import type { ApplyContext } from './apply.ts';
import { LOOK_AGAIN_MILLIS } from './apply-result.ts';
import { canaryVerdict } from './canary-verdict.ts';
import { type Changes, writeInForce } from './change.ts';
import { decisionFor } from './converge.ts';
import type { RightsizingParts } from './parts.ts';
import { raiseForNewPods } from './raise-for-new-pods.ts';
import { type ApplyResult, pending } from './result.ts';
import type { OngoingChange } from './watches.ts';

export interface CanaryOptions extends Pick<RightsizingParts, 'settings' | 'clock'> {
  readonly actuator: Pick<SizeActuator, 'resize' | 'isResizing'>;
  readonly changes: Pick<Changes, 'noteMade'>;
}

export interface Canary {
  /**
   * Tries a change on one pod, or gives it to all where it is the only one, or where none can be asked.
   * @param first the pods it is tried on, one after the other.
   * @returns what keeps it from beginning.
   */
  begin(context: ApplyContext, beginning: Beginning, first: readonly SizedPod[]): Promise<ApplyResult | undefined>;
  /** Puts more in force for all pods, and for those to come. @returns why it could not. */
  giveAll(context: ApplyContext, raises: readonly SizeChange[]): Promise<ApplyResult | undefined>;
  /**
   * The first pod has what it should for the whole time that a decrease is watched, or it goes no further. An increase
   * spreads as soon as it is in force.
   * @returns the workload's result where it goes no further now.
   */
  review(context: ApplyContext, change: OngoingChange): Promise<ApplyResult | undefined>;
}

/** How often a first pod is judged for which nothing else is to be done for hours. */
const JUDGE_AGAIN_MILLIS: Millis = 60_000;

export function createCanary({ actuator, changes, settings, clock }: CanaryOptions): Canary {
  /**
   * Writes the sizes of the change as those in force: from then on every pod is brought in line, and new ones are born
   * with them.
   */
  const spread = async (context: ApplyContext, change: OngoingChange): Promise<ApplyResult | undefined> => {
    const { advised, memory } = context;
    const { lessons } = advised;
    const inForce = applyChanges(inForceNow(context).inForce, change.changes);
    const goBack = memory.watches.checkpoint();
    memory.watches.spread(change);
    const failed = await writeInForce(context, { inForce, lessons }, clock.now());
    if (failed !== undefined) goBack(failed.isForbidden !== true);
    else changes.noteMade(context, change, 'InPlace', 'InPlace');
    return failed;
  };

  /** Begins to watch a part of what the first pod was given; that is all of `asked`. */
  const watch = (
    context: ApplyContext,
    part: readonly SizeChange[],
    first: SizedPod | undefined,
    asked: readonly SizeChange[] = [],
  ): OngoingChange => {
    const { advised, memory } = context;
    const now = clock.now();
    const watched = watchChange(part, advised.inForce, advised.pods, now, true);
    // Pods that still have what once did harm are brought in line with this now, in its time.
    memory.watches.forgetHarm(partsOf(part));
    return memory.watches.begin({
      ...(first === undefined ? watched : whileAsked(watched, first, asked)),
      method: 'InPlace',
      phase: 'canary',
      canary: first && { uid: first.pod.uid, name: first.pod.name, at: now },
    });
  };

  const giveAll = (context: ApplyContext, raises: readonly SizeChange[]): Promise<ApplyResult | undefined> =>
    spread(context, watch(context, raises, undefined));

  const begin = async (
    context: ApplyContext,
    beginning: Beginning,
    first: readonly SizedPod[],
  ): Promise<ApplyResult | undefined> => {
    const { advised, live, memory, policy, signal } = context;
    const { raises, decreases } = beginning;
    const both = joinChanges([...raises, ...decreases]);
    if (both.length === 0) return undefined;
    if (live.length === 0) {
      const given = raises.length === 0 ? undefined : await giveAll(context, raises);
      if (given !== undefined || decreases.length === 0) return given;
      // When it is scaled up, all of them would have at once what none has been seen to do with.
      return pending('CanaryWatched', 'no pod runs that could have less first');
    }
    if (first.length === 0) {
      // None of those that show the need runs long enough to be asked: it is for those still to come.
      const { made, kept } = raiseForNewPods(context, beginning, clock.now());
      return made === undefined ? kept : giveAll(context, made.raises);
    }
    let kept: ApplyResult | undefined;
    for (const pod of first) {
      const to = effectiveChanges(pod.sizing.containers, both);
      const summary = describeChanges(both, advised.inForce);
      const attempt =
        to.length === 0
          ? ({ kind: 'asked', tookFrom: [] } as const)
          : await actuator.resize(decisionFor(context, pod, to, summary), policy.spec, signal);
      if (attempt.kind === 'asked') {
        memory.watches.noteAsked(pod, to);
        // Pods that a rollout makes come meanwhile.
        if (live.length === 1 || advised.workload.isRollingOut) return spread(context, watch(context, both, pod, to));
        // More spreads as soon as it is in force; less is watched first.
        for (const part of [raises, decreases]) if (part.length > 0) watch(context, part, pod, to);
        return undefined;
      }
      kept ??= memory.attempts.note(advised.workload, attempt);
    }
    const isDear = (part: SizedPart): boolean => restartsOn(advised.inForce, part);
    const rest = kept?.reason === undefined ? undefined : restOf(beginning, kept.reason, isDear);
    // What holds back one part holds back nothing else; as long as it does, it is the reason that is told.
    return rest === undefined ? kept : ((await begin(context, rest, first)) ?? kept);
  };

  const review = async (context: ApplyContext, change: OngoingChange): Promise<ApplyResult | undefined> => {
    const { watches } = context.memory;
    const { isResizing } = actuator;
    const { canaryMillis } = settings();
    const verdict = canaryVerdict(context, change, { isResizing, canaryMillis, now: context.advised.at });
    switch (verdict.kind) {
      case 'undecided':
        return undefined;
      case 'held':
        // The first pod goes on being judged. Putting back what did harm waits for nothing.
        if (watches.takenBack.length > 0) return undefined;
        return { ...verdict.objection, status: 'Pending', againAfterMillis: JUDGE_AGAIN_MILLIS };
      case 'proven':
        return spread(context, change);
      case 'not had':
        watches.end(change);
        return lookAgain('the first pod did not get the new size; it is tried again');
      case 'outdated':
        watches.end(change);
        return lookAgain('what the first pod was given is not advised any more; it is decided anew');
    }
  };

  return { begin, giveAll, review };
}

function lookAgain(message: string): ApplyResult {
  return pending('CanaryWatched', message, LOOK_AGAIN_MILLIS);
}

/** The sizes that all pods are to have: as written on the workload, and what has just been written. */
export function inForceNow({ advised, memory }: ApplyContext) {
  const changed = memory.watches.ongoing.flatMap((each) => (each.phase === 'spread' ? each.changes : []));
  return { inForce: applyChanges(advised.inForce, joinChanges(changed)), changed };
}
