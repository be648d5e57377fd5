/** The bookkeeping of a change: beginning, spreading, taking back, and what is told of each. */

import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import type { ApplyMethod } from '../../api/optimization-policy-status.ts';
import { describeChanges } from '../../decide/rightsizing/due-changes.ts';
import { type Harm, judgeChange, judgedPods, startPatience } from '../../decide/rightsizing/judge-change.ts';
import { requestOf } from '../../decide/rightsizing/recommend-workload.ts';
import { lowersPart, partsOf, partsTakenBack, takenBack } from '../../decide/rightsizing/side-by-side.ts';
import { renderReason } from '../../lib/reasons.ts';
import { formatTime } from '../../lib/rfc3339.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { writeAppliedSizes } from '../../model/applied-sizes.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { FLOOR_MILLIS, type LearnedFloor, type Lessons, learn, writeLessons } from '../../model/learned-floors.ts';
import { effectiveChanges, type SizeChange, sizeOfContainer } from '../../model/pod-size.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { ApplyContext } from './apply.ts';
import { LOOK_AGAIN_MILLIS } from './apply-result.ts';
import type { RightsizingParts } from './parts.ts';
import { whyOf } from './recommended.ts';
import { type ApplyResult, pending } from './result.ts';
import type { LookForThrottling } from './throttling.ts';
import { watchesText } from './watch-annotation.ts';
import { isOwnRollout, type OngoingChange } from './watches.ts';

export interface ChangeOptions extends Pick<RightsizingParts, 'events' | 'journal' | 'metrics' | 'clock'> {
  readonly lookForThrottling: LookForThrottling;
}

/** The same for all three methods: they differ in how pods get their sizes, not in what is remembered of it. */
export interface Changes {
  /** The change is made: told, counted, and remembered for cooldowns. */
  noteMade(
    context: Pick<ApplyContext, 'advised' | 'policy' | 'memory'>,
    made: { readonly changes: readonly SizeChange[]; readonly before: readonly ContainerSpecRecord[] },
    method: 'InPlace' | 'Recreate',
    how: ApplyMethod,
  ): void;
  /**
   * Which of the changes under way did harm, of whichever resource: more restarts, an OOM kill, pods that are not
   * ready, more throttling (spec rightsizing 4, auto-revert). Increases never do.
   * @param podsOf those that have the change.
   * @param watched the changes that are looked at; left out, those of the memory.
   */
  judge(
    context: ApplyContext,
    podsOf: (change: OngoingChange) => readonly SizedPod[],
    watched?: readonly OngoingChange[],
  ): Promise<readonly HarmfulChange[]>;
  /** Does what {@link noteHarm} does, and writes what is in force then. */
  takeBack(
    context: ApplyContext,
    harms: readonly HarmfulChange[],
    inForce: readonly ContainerSpecRecord[],
  ): Promise<TakenBack>;
  /**
   * Changes did harm: told, what was too little is remembered as a floor, and they are taken out of the sizes in force.
   * Only the parts that are to blame are; the rest of the change is watched on. Writes nothing itself.
   */
  noteHarm(
    context: Pick<ApplyContext, 'advised' | 'memory'>,
    harms: readonly HarmfulChange[],
    inForce: readonly ContainerSpecRecord[],
  ): HarmNoted;
}

/** A change, and what of it did harm. */
export interface HarmfulChange {
  readonly change: OngoingChange;
  readonly harm: Harm;
}

export interface HarmNoted extends InForce {
  readonly result: ApplyResult;
}

export interface TakenBack {
  /** The sizes with what did harm taken back; undefined: it could not be written, and is tried again. */
  readonly inForce: readonly ContainerSpecRecord[] | undefined;
  readonly result: ApplyResult;
}

export function createChanges({ lookForThrottling, events, journal, metrics, clock }: ChangeOptions): Changes {
  const noteHarm: Changes['noteHarm'] = ({ advised: { workload, lessons }, memory }, harms, inForce) => {
    const now = clock.now();
    const cause = harms.map(({ harm }) => harm.cause).join('; ');
    let sizes = inForce;
    const floors: LearnedFloor[] = [];
    let isTooLittle = false;
    for (const { change, harm } of harms) {
      const parts = partsTakenBack(sizes, change, harm.parts);
      sizes = takenBack(sizes, change, parts);
      memory.watches.takeBack(change, parts);
      memory.times.noteChanged(parts, now);
      const lowered = harm.parts.filter((part) => lowersPart(change, part));
      isTooLittle ||= lowered.length > 0;
      floors.push(...floorsOf({ parts: lowered }, change.before, now));
    }
    const message = renderReason('ChangeReverted', { ...workload, cause });
    events.onWorkload(workload, { reason: 'ChangeReverted', message });
    const wanted = sizes.map(({ name, size }) => ({ container: name, to: size }));
    const values = describeChanges(effectiveChanges(inForce, wanted), inForce);
    journal.record(workloadKey(workload), {
      kind: 'done',
      reason: 'ChangeReverted',
      message: values === '' ? message : `${message}; ${values}`,
    });
    return {
      lessons: isTooLittle ? learn(lessons, floors) : lessons,
      inForce: sizes,
      result: pending('ChangeReverted', message, LOOK_AGAIN_MILLIS),
    };
  };

  return {
    noteMade({ advised, policy, memory }, { changes, before }, method, how) {
      const { workload, advice } = advised;
      const now = clock.now();
      memory.times.noteChanged(partsOf(changes), now);
      memory.times.noteApplied(now, how);
      metrics.inc('optipod_applications_total', { policy: policy.name, method });
      const text = describeChanges(changes, before);
      const message = renderReason('UpdateSuccess', { ...workload, method, changes: text });
      events.onWorkload(workload, { reason: 'UpdateSuccess', message });
      const why = whyOf(advice, changes);
      journal.record(workloadKey(workload), {
        kind: 'done',
        reason: 'UpdateSuccess',
        message: `${message}, for policy ${policy.namespace}/${policy.name}${why === '' ? '' : `; ${why}`}`,
      });
    },
    async judge(context, podsOf, watched) {
      const harms: HarmfulChange[] = [];
      const { isRollingOut } = context.advised.workload;
      const isForeign = (change: OngoingChange): boolean => isRollingOut && !isOwnRollout(change);
      context.memory.watches.noteRolledOut(context.live, isForeign);
      for (const change of watched ?? context.memory.watches.ongoing) {
        const throttlingOf = await lookForThrottling(context, change);
        const pods = judgedPods(podsOf(change), change, isForeign(change));
        const isByNewPods = change.method !== 'InPlace' && !isForeign(change);
        const startMillis = isByNewPods ? startPatience(context.live) : undefined;
        const harm = judgeChange(change, pods, context.advised.at, throttlingOf, startMillis);
        if (harm !== undefined) harms.push({ change, harm });
      }
      return harms;
    },
    async takeBack(context, harms, inForce) {
      const goBack = context.memory.watches.checkpoint();
      const noted = noteHarm(context, harms, inForce);
      const failed = await writeInForce(context, noted, clock.now());
      if (failed === undefined) return noted;
      goBack(failed.isForbidden !== true);
      // Not taken back yet: it is tried again at the next look.
      return { inForce: undefined, result: { ...failed, againAfterMillis: LOOK_AGAIN_MILLIS } };
    },
    noteHarm,
  };
}

/** What a decrease that did harm has shown to be needed: what there was before. */
export function floorsOf(
  { parts }: Pick<Harm, 'parts'>,
  before: readonly ContainerSpecRecord[],
  now: EpochMillis,
): readonly LearnedFloor[] {
  return parts.flatMap(({ container, resource }) => {
    const atLeast = requestOf(resource, sizeOfContainer(before, container) ?? {});
    return atLeast === undefined ? [] : [{ container, resource, atLeast, until: now + FLOOR_MILLIS }];
  });
}

/** What is to be written of a workload. */
export interface InForce {
  /** The sizes that its pods are to have. */
  readonly inForce: readonly ContainerSpecRecord[];
  /** What it has learned. */
  readonly lessons: Lessons;
}

/**
 * Writes which sizes are in force, what was learned, and what the memory says is watched, all at once: whoever leads
 * next sees no decrease that nobody watches.
 * @returns why it could not: then the memory must say again what is watched.
 */
export async function writeInForce(
  { advised: { workload }, memory, annotate }: ApplyContext,
  { inForce, lessons }: InForce,
  now: EpochMillis,
): Promise<ApplyResult | undefined> {
  const kept = await annotate({
    [rightsizingKeys.appliedSizes]: writeAppliedSizes(workload.containers, inForce) ?? null,
    [rightsizingKeys.lastApplied]: formatTime(now),
    [rightsizingKeys.learnedFloors]: writeLessons(lessons) ?? null,
    [rightsizingKeys.watchedChanges]: watchesText(memory.watches),
  });
  if (kept === undefined) memory.times.noteInForce();
  return kept;
}
