/**
 * Applies sizes to running pods: one pod first, then the others, and back again where a decrease does harm. Which sizes
 * are in force is written on the workload once the first pod has them; from then on any pod that differs is brought in
 * line.
 */
import { isStillAdvised } from '../../decide/rightsizing/changed-world.ts';
import { describeChanges, dueChanges } from '../../decide/rightsizing/due-changes.ts';
import { firstToChange, isResizable, noneResizable } from '../../decide/rightsizing/pod-drift.ts';
import { rulesOf } from '../../decide/rightsizing/policy-rules.ts';
import { helpInRollout, isHarmedInAll } from '../../decide/rightsizing/rollout-help.ts';
import {
  type Beginning,
  joinChanges,
  mayBegin,
  partsOf,
  restOf,
  withoutParts,
} from '../../decide/rightsizing/side-by-side.ts';
import { includesPart, isDecrease, watchChange } from '../../decide/rightsizing/watched-change.ts';
import { object } from '../../guard/objection.ts';
import { objectToClosed } from '../../guard/rules/timing.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Millis } from '../../lib/units.ts';
import { workloadText } from '../../model/cluster-view.ts';
import { isInForce } from '../../model/granted-size.ts';
import { applyChanges, effectiveChanges, type SizeChange } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { SizeActuator } from './actuator.ts';
import { type ApplyContext, ofOneSize } from './apply.ts';
import { LOOK_AGAIN_MILLIS, resultOfAttempt } from './apply-result.ts';
import { type Changes, writeInForce } from './change.ts';
import { type Converged, createConverge, decisionFor } from './converge.ts';
import { resultInPlace, resultOfWaitingPods, soonEnough } from './in-place-result.ts';
import type { MakeRoom } from './make-room.ts';
import { endOf, goOn, type OngoingChange, review } from './memory.ts';
import type { SizeReplicas } from './replicas.ts';
import { type ApplyResult, pending } from './result.ts';
import type { RightsizingSettings } from './settings.ts';
import { nothingSeen } from './throttling.ts';
import { giveToCome } from './to-come.ts';
import { worthBeginning } from './worth.ts';

export interface InPlaceOptions {
  readonly actuator: SizeActuator;
  readonly sizeReplicas: SizeReplicas;
  readonly makeRoom: MakeRoom;
  readonly changes: Changes;
  readonly settings: () => RightsizingSettings;
  readonly isAllocated: (pod: SizedPod) => boolean;
  readonly clock: Clock;
}

/** One look: what is under way comes first, then what is due, then pods that differ from what is in force. */
export type InPlace = (context: ApplyContext) => Promise<ApplyResult>;

const nothingDone: Converged = { kept: undefined, cramped: [] };
/** A pod whose node has no room says nothing about the others: so many are tried before the change waits. */
const MAX_CANARY_TRIES = 3;
/** How often a first pod is judged for which nothing else is to be done for hours. */
const JUDGE_AGAIN_MILLIS: Millis = 60_000;

export function createInPlace(options: InPlaceOptions): InPlace {
  const { actuator, makeRoom, changes, settings, clock } = options;
  const converge = createConverge(options);

  /** The sizes that all pods are to have: as written on the workload, and what has just been written. */
  const inForceNow = ({ advised, memory }: ApplyContext) => {
    const changed = memory.ongoing.flatMap((each) => (each.phase === 'spread' ? each.changes : []));
    return { inForce: applyChanges(advised.inForce, joinChanges(changed)), changed };
  };

  /**
   * Writes the sizes of the change as those in force: from then on every pod is brought in line, and new ones are born
   * with them.
   */
  const spread = async (context: ApplyContext, change: OngoingChange): Promise<ApplyResult | undefined> => {
    const { advised, memory } = context;
    const { lessons } = advised;
    const inForce = applyChanges(inForceNow(context).inForce, change.changes);
    const { ongoing } = memory;
    goOn(memory, change, { ...change, phase: 'spread' });
    const failed = await writeInForce(context, { inForce, lessons }, clock.now());
    if (failed !== undefined) memory.ongoing = ongoing;
    else changes.noteMade(context, change, 'InPlace', 'InPlace');
    return failed;
  };

  const spreadAll = async (
    context: ApplyContext,
    begun: readonly OngoingChange[],
  ): Promise<ApplyResult | undefined> => {
    for (const change of begun) {
      const kept = await spread(context, change);
      if (kept !== undefined) return kept;
    }
    return undefined;
  };

  /** Begins to watch what the first pod was given; what is about the same resources is no longer looked after. */
  const watch = (context: ApplyContext, parts: readonly (readonly SizeChange[])[], first: SizedPod | undefined) => {
    const { advised, live, memory } = context;
    const now = clock.now();
    const canary = first && { uid: first.pod.uid, name: first.pod.name, at: now };
    const begun = parts.map(
      (part): OngoingChange => ({
        ...watchChange(part, advised.inForce, live, now, true),
        method: 'InPlace',
        phase: 'canary',
        canary,
        throttling: nothingSeen(),
      }),
    );
    const touched = partsOf(parts.flat());
    memory.ongoing = [...withoutParts(memory.ongoing, touched), ...begun];
    // Pods that still have what once did harm are brought in line with this now, in its time.
    memory.takenBack = memory.takenBack.filter((part) => !includesPart(touched, part));
    return begun;
  };

  /**
   * @param first the pods it is tried on, one after the other.
   * @returns what keeps it from beginning.
   */
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
      const given = raises.length === 0 ? undefined : await spreadAll(context, watch(context, [raises], undefined));
      if (given !== undefined || decreases.length === 0) return given;
      // When it is scaled up, all of them would have at once what none has been seen to do with.
      return pending('CanaryWatched', 'no pod runs that could have less first');
    }
    if (first.length === 0) {
      // None of those that show the need runs long enough to be asked: it is for those still to come.
      const { made, kept } = giveToCome(context, beginning, clock.now());
      return made === undefined ? kept : spreadAll(context, watch(context, [made.raises], undefined));
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
        // Pods that a rollout makes come meanwhile.
        if (live.length === 1 || advised.workload.isRollingOut) return spreadAll(context, watch(context, [both], pod));
        // More spreads as soon as it is in force; less is watched first.
        watch(context, raises.length > 0 && decreases.length > 0 ? [raises, decreases] : [both], pod);
        return undefined;
      }
      kept ??= resultOfAttempt(advised.workload, memory, attempt);
    }
    const rest = kept?.reason === undefined ? undefined : restOf(beginning, kept.reason);
    // What holds back one part holds back nothing else; as long as it does, it is the reason that is told.
    return rest === undefined ? kept : ((await begin(context, rest, first)) ?? kept);
  };

  /**
   * The first pod has what it should for the whole time that a decrease is watched, or it goes no further. An increase
   * spreads as soon as it is in force.
   * @returns the workload's result where it goes no further now.
   */
  const watchCanary = async (context: ApplyContext, change: OngoingChange): Promise<ApplyResult | undefined> => {
    const { canary } = change;
    const pod = context.live.find(({ pod: { uid } }) => uid === canary?.uid);
    const isAsked = pod !== undefined && effectiveChanges(pod.sizing.containers, change.changes).length === 0;
    if (canary === undefined || pod === undefined || (!isAsked && !actuator.isResizing(pod.pod.uid))) {
      // It is gone, or was not granted: the guards remember why, and another look begins anew.
      endOf(context.memory, change);
      const message = 'the first pod did not get the new size; it is tried again';
      return pending('CanaryWatched', message, LOOK_AGAIN_MILLIS);
    }
    if (!isAsked || !isInForce(pod.sizing, change.changes)) return undefined;
    // Whether less is enough for the others is not known either while nothing is read.
    if (isDecrease(change) && context.advised.unread !== undefined) return undefined;
    const period = isDecrease(change) ? settings().canaryMillis : 0;
    if (canary.at + period > clock.now()) return undefined;
    const { advised, memory, policy } = context;
    // The others could not have it before the next window; by then it may no longer be wanted.
    const closed = isDecrease(change)
      ? objectToClosed(policy.spec.updates.window, clock.now(), 'OutsideUpdateWindow')
      : undefined;
    // A first pod of the old template says nothing about those that come, unless what it lacked could not be written.
    const isHelp = !isDecrease(change) && isHarmedInAll(pod, change.changes, clock.now());
    const rollout = object('TemplateRollout', { workload: workloadText(advised.workload) });
    const held = advised.workload.isRollingOut && !isHelp ? rollout : closed;
    if (held !== undefined) {
      // Putting back what did harm waits for neither.
      if (memory.takenBack.length > 0) return undefined;
      // The first pod goes on being judged.
      return { ...held, status: 'Pending', againAfterMillis: JUDGE_AGAIN_MILLIS };
    }
    if (isStillAdvised(change, advised.advice, rulesOf(policy.spec))) return spread(context, change);
    endOf(context.memory, change);
    const message = 'what the first pod was given is not advised any more; it is decided anew';
    return pending('CanaryWatched', message, LOOK_AGAIN_MILLIS);
  };

  const takeBack = async (context: ApplyContext): Promise<ApplyResult | undefined> => {
    const { live } = context;
    const harms = await changes.judge(context, (change) =>
      change.phase === 'canary' ? live.filter(({ pod }) => pod.uid === change.canary?.uid) : live,
    );
    if (harms.length === 0) return undefined;
    const { inForce, changed } = inForceNow(context);
    const taken = await changes.takeBack(context, harms, inForce);
    const touched = [...changed, ...harms.flatMap(({ change }) => change.changes)];
    if (taken.inForce !== undefined) await converge(context, taken.inForce, touched);
    return taken.result;
  };

  /** Looks after the changes under way. @returns the workload's result where it goes no further now. */
  const attend = async (context: ApplyContext): Promise<ApplyResult | undefined> => {
    const { memory } = context;
    const harmed = await takeBack(context);
    if (harmed !== undefined) return harmed;
    // Before anything spreads: what has just been put in force is looked after for one look at least.
    review(memory, true, clock.now(), settings().revertMillis);
    for (const change of memory.ongoing) {
      const ended = change.phase === 'canary' ? await watchCanary(context, change) : undefined;
      if (ended !== undefined) return ended;
    }
    return undefined;
  };

  /** Of what is due, and the pods it is tried on first; in a rollout, and where none can be asked, what helps. */
  const whatMayBegin = ({ advised, live, memory }: ApplyContext, due: readonly SizeChange[]) => {
    const { inForce, workload } = advised;
    if (!workload.isRollingOut && !noneResizable(live)) {
      const may = mayBegin(due, inForce, memory.ongoing);
      return { may, first: canaries(live, may.raises) };
    }
    const { raises, pods } = helpInRollout(due, inForce, live, clock.now());
    // A first pod of the old template, which goes no further now, keeps nothing from those of the new one.
    const spreading = memory.ongoing.filter(({ phase }) => phase === 'spread');
    return { may: mayBegin(raises, inForce, spreading), first: canaries(pods.filter(isResizable)) };
  };

  return async (asked) => {
    const sized = await options.sizeReplicas(asked);
    const everybody: ApplyContext = { ...asked, replicas: sized.states };
    const context = ofOneSize(everybody);
    const { advised, memory } = context;
    // What is under way comes first: a new change of the same resource would take the place of the one that is judged.
    const ended = await attend(context);
    const isHeldByRollout = ended?.reason === 'TemplateRollout';
    if (ended !== undefined && !isHeldByRollout) return soonEnough(sized.ended ?? ended, sized.againAfterMillis);
    // With nobody left to be given less first, less for all would be tried on nobody.
    const due = context.live.length === 0 && asked.live.length > 0 ? raisesOf(advised) : dueChanges(advised.advice);
    const { may, first } = whatMayBegin(context, due);
    const { beginning, held } = worthBeginning(context, may, settings(), clock.now(), true);
    const blocked = await begin(context, beginning, first);
    const { raises, decreases } = beginning;
    const keptRaise = raises.length === 0 ? undefined : blocked?.reason;
    // Asked at every look, also with nothing to raise: it remembers since when there has been no room.
    const isForNewPods = await makeRoom.isTime(context, raises, first, keptRaise);
    const kept = isForNewPods ? await spreadAll(context, watch(context, [raises], undefined)) : blocked;
    // What is due and may not begin keeps no pod from having what is in force; what the API server refuses waits.
    const isRefused = blocked !== undefined && memory.refused !== undefined;
    const { inForce, changed } = inForceNow(context);
    const { kept: behind, cramped } = isRefused ? nothingDone : await converge(everybody, inForce, changed);
    const evicted = await makeRoom(everybody, cramped);
    const isHeld = due.length > 0 && held === undefined && raises.length + decreases.length === 0;
    const dying = cramped.find(({ pod }) => !isResizable(pod))?.pod.pod.name;
    const isDue = due.length > 0 || dying !== undefined;
    const waiting = isDue ? resultOfWaitingPods(everybody, dying) : undefined;
    const wait = ended ?? waiting ?? resultInPlace(everybody, actuator.isResizing, isHeld);
    const isAtRest = wait.status === 'Applied' || wait.status === 'Skipped';
    // One reason is told: what keeps the newest change, then what was done for room, then what keeps pods from what is
    // in force.
    const told = sized.ended ?? kept ?? sized.kept ?? evicted ?? behind;
    return soonEnough(told ?? (isAtRest ? { ...wait, ...held, ...sized.waiting } : wait), sized.againAfterMillis);
  };
}

/** Of what is due, the containers' resources that grow. */
function raisesOf({ advice, inForce }: ApplyContext['advised']): readonly SizeChange[] {
  return mayBegin(dueChanges(advice), inForce, []).raises;
}

/** Who has what is raised comes before all others: the last leader gave it, and had no time to put it in force. */
function canaries(live: readonly SizedPod[], raises: readonly SizeChange[] = []): readonly SizedPod[] {
  const hasIt = ({ sizing }: SizedPod): boolean =>
    raises.length > 0 && effectiveChanges(sizing.containers, raises).length === 0;
  const inTurn = firstToChange(live, (pod) => pod);
  return inTurn.toSorted((a, b) => Number(hasIt(b)) - Number(hasIt(a))).slice(0, MAX_CANARY_TRIES);
}
