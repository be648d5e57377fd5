/**
 * Applies sizes to running pods: one pod first, then the others, and back again where a decrease does harm. Which sizes
 * are in force is written on the workload once the first pod has them; from then on any pod that differs is brought in
 * line.
 */
import { dueChanges, withMemoryLimits } from '../../decide/rightsizing/due-changes.ts';
import { firstToTry } from '../../decide/rightsizing/first-to-try.ts';
import { isResizable, noneResizable } from '../../decide/rightsizing/pod-drift.ts';
import { helpInRollout } from '../../decide/rightsizing/rollout-help.ts';
import { mayBegin, onlyParts } from '../../decide/rightsizing/side-by-side.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { effectiveChanges, type SizeChange } from '../../model/pod-size.ts';
import { restartsOn } from '../../model/restart-on-resize.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { SizeActuator } from './actuator.ts';
import { type ApplyContext, type ApplySizes, ofOneSize } from './apply.ts';
import { LOOK_AGAIN_MILLIS } from './apply-result.ts';
import { createCanary, inForceNow } from './canary.ts';
import type { Changes } from './change.ts';
import { type Converged, createConverge } from './converge.ts';
import { resultInPlace, resultOfWaitingPods, soonEnough } from './in-place-result.ts';
import type { MakeRoom } from './make-room.ts';
import type { RightsizingParts } from './parts.ts';
import type { SizeReplicas } from './replicas.ts';
import type { RestartGate } from './restart-gate.ts';
import type { ApplyResult } from './result.ts';
import { starvedStarts } from './starved-starts.ts';
import type { OngoingChange } from './watches.ts';

export interface InPlaceOptions extends Pick<RightsizingParts, 'settings' | 'isAllocated' | 'clock'> {
  readonly actuator: SizeActuator;
  readonly sizeReplicas: SizeReplicas;
  readonly makeRoom: MakeRoom;
  readonly restartGate: RestartGate;
  readonly changes: Changes;
}

const nothingDone: Converged = { kept: undefined, cramped: [] };

/** One look: what is under way comes first, then what is due, then pods that differ from what is in force. */
export function createInPlace(options: InPlaceOptions): ApplySizes {
  const { actuator, makeRoom, restartGate, changes, settings, clock } = options;
  const canary = createCanary(options);
  const converge = createConverge(options);

  const takeBack = async (context: ApplyContext): Promise<ApplyResult | undefined> => {
    const { live } = context;
    const judged = await changes.judge(context, (change) =>
      change.phase === 'canary' ? live.filter(({ pod }) => pod.uid === change.canary?.uid) : live,
    );
    const harms = [...judged, ...starvedStarts(context)];
    if (harms.length === 0) return undefined;
    const { inForce, changed } = inForceNow(context);
    const taken = await changes.takeBack(context, harms, inForce);
    const touched = [...changed, ...harms.flatMap(({ change }) => change.changes)];
    if (taken.inForce !== undefined) await converge(context, taken.inForce, touched);
    return taken.result;
  };

  /** Looks after the changes under way. @returns the workload's result where it goes no further now. */
  const attend = async (context: ApplyContext): Promise<ApplyResult | undefined> => {
    const { memory, advised } = context;
    const harmed = await takeBack(context);
    if (harmed !== undefined) return harmed;
    // Before anything spreads: what has just been put in force is looked after for one look at least.
    const { at } = advised;
    memory.watches.review((change) => !isOnItsWay(change, context.live, at), at, settings().revertMillis);
    for (const change of memory.watches.ongoing) {
      const ended = change.phase === 'canary' ? await canary.review(context, change) : undefined;
      if (ended !== undefined) return ended;
    }
    return undefined;
  };

  /** Of what is due, and the pods it is tried on first; in a rollout, and where none can be asked, what helps. */
  const whatMayBegin = ({ advised, live, memory }: ApplyContext, due: readonly SizeChange[]) => {
    const { inForce, workload } = advised;
    if (!workload.isRollingOut && !noneResizable(live)) {
      const may = mayBegin(due, inForce, memory.watches.ongoing);
      return { may, first: firstToTry(live, may.raises, clock.now()) };
    }
    const { raises, pods } = helpInRollout(due, inForce, live, clock.now());
    // A first pod of the old template, which goes no further now, keeps nothing from those of the new one.
    const spreading = memory.watches.ongoing.filter(({ phase }) => phase === 'spread');
    return { may: mayBegin(raises, inForce, spreading), first: firstToTry(pods.filter(isResizable), [], clock.now()) };
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
    const advice = context.live.length === 0 && asked.live.length > 0 ? raisesOf(advised) : dueChanges(advised.advice);
    const due = actuator.keepsMemoryLimits(advised.workload.uid) ? withMemoryLimits(advice, advised.inForce) : advice;
    const { may, first } = whatMayBegin(context, due);
    const { beginning, held } = restartGate.inPlace(context, may);
    const blocked = await canary.begin(context, beginning, first);
    const { raises, decreases } = beginning;
    const keptRaise = raises.length === 0 ? undefined : blocked?.reason;
    // Asked at every look, also with nothing to raise: it remembers since when there has been no room.
    const isForNewPods = await makeRoom.isTime(context, raises, first, keptRaise);
    const kept = isForNewPods ? await canary.giveAll(context, raises) : blocked;
    // What is due and may not begin keeps no pod from having what is in force; what the API server refuses waits.
    const isRefused = blocked !== undefined && memory.attempts.isRefused;
    const { inForce, changed } = inForceNow(context);
    const { kept: behind, cramped } = isRefused ? nothingDone : await converge(everybody, inForce, changed);
    const evicted = await makeRoom.evictOne(everybody, cramped);
    const isHeld = due.length > 0 && held === undefined && raises.length + decreases.length === 0;
    const dying = cramped.find(({ pod }) => !isResizable(pod))?.pod.pod.name;
    const isDue = due.length > 0 || dying !== undefined;
    const waiting = isDue ? resultOfWaitingPods(everybody, dying) : undefined;
    const wait = ended ?? waiting ?? resultInPlace(everybody, actuator.isResizing, isHeld);
    const isAtRest = wait.status === 'Applied' || wait.status === 'Skipped';
    // One reason is told: what keeps the newest change, then what was done for room, then what keeps pods from what is
    // in force.
    const told = sized.ended ?? kept ?? sized.kept ?? evicted ?? behind;
    const result = told ?? (isAtRest ? { ...wait, ...held, ...sized.waiting } : wait);
    // Whatever is told: what was begun is looked after.
    const isLookedAfter = ended === undefined && memory.watches.ongoing.length > 0;
    return soonEnough(isLookedAfter ? soonEnough(result, LOOK_AGAIN_MILLIS) : result, sized.againAfterMillis);
  };
}

/** Restarts go from pod to pod as budgets and windows let them. One that cannot be had by then is watched for no longer. */
const MAX_SPREAD_MILLIS: Millis = 86_400_000;

/** Some pods are yet to be restarted for it. */
function isOnItsWay(
  { changes, before, startedAt }: OngoingChange,
  live: readonly SizedPod[],
  now: EpochMillis,
): boolean {
  const dear = onlyParts(changes, (part) => restartsOn(before, part));
  if (dear.length === 0 || now - startedAt >= MAX_SPREAD_MILLIS) return false;
  return live.some(({ sizing }) => effectiveChanges(sizing.containers, dear).length > 0);
}

/** Of what is due, the containers' resources that grow. */
function raisesOf({ advice, inForce }: ApplyContext['advised']): readonly SizeChange[] {
  return mayBegin(dueChanges(advice), inForce, []).raises;
}
