/**
 * Sizes replicas each for itself, in place (adr/0032). A replica goes its own way once its own history is long enough;
 * until then it has the size of all. More is given to it at once, whatever the others do; less to one replica first,
 * then to the others, and is taken back from the one it does harm to.
 */
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { mayEvict } from '../../decide/rightsizing/choose-method.ts';
import { describeChanges, dueChanges } from '../../decide/rightsizing/due-changes.ts';
import { memoryGrowth, mostNeededFirst } from '../../decide/rightsizing/most-needed-first.ts';
import { firstToChange, isResizable } from '../../decide/rightsizing/pod-drift.ts';
import { helpInRollout } from '../../decide/rightsizing/rollout-help.ts';
import { type Beginning, joinChanges, mayBegin, restOf } from '../../decide/rightsizing/side-by-side.ts';
import type { Clock } from '../../lib/clock.ts';
import { type ReasonName, renderReason } from '../../lib/reasons.ts';
import { formatTime } from '../../lib/rfc3339.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { effectiveChanges, type SizeChange } from '../../model/pod-size.ts';
import {
  freshState,
  noReplicas,
  type ReplicaState,
  type ReplicaStates,
  withReplicaSizes,
  writeReplicaSizes,
} from '../../model/replica-sizes.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizeActuator } from './actuator.ts';
import type { ReplicaAdvice, ReplicasAdvised } from './advise-replicas.ts';
import type { ApplyContext } from './apply.ts';
import { LOOK_AGAIN_MILLIS, resultOfAttempt } from './apply-result.ts';
import type { Changes } from './change.ts';
import { decisionFor, isGlobal } from './converge.ts';
import { type Given, neverLess, putInForce, type TellReplicas, tellReplicas } from './replica-change.ts';
import { createReplicaMemories, type ReplicaMemory } from './replica-memory.ts';
import { type PutBackOptions, putBackReplicas } from './replica-put-back.ts';
import {
  type Gathering,
  gatheringFor,
  inTime,
  isOfTurns,
  isScarce,
  lasting,
  noteRaised,
  noteShort,
  paceNow,
  restedOf,
  waitingFor,
} from './replica-turns.ts';
import { type ApplyResult, pending } from './result.ts';
import type { RightsizingSettings } from './settings.ts';
import { type Attempt, giveToCome } from './to-come.ts';
import { lookAfterReplicas } from './watch-replicas.ts';
import { type Worth, worthBeginning } from './worth.ts';

export interface ReplicasSized {
  /** Sizes of their own that are in force by now: pods of these replicas are brought in line with them. */
  readonly states: ReplicaStates;
  /** What is told before all else: a decrease was taken back, or nothing could be written. */
  readonly ended: ApplyResult | undefined;
  /** What keeps the first of the replicas from what it should have. */
  readonly kept: ApplyResult | undefined;
  /** What is waited for, with nothing in the way. */
  readonly waiting: ApplyResult | undefined;
  /** Look again after this time: a decrease is watched. */
  readonly againAfterMillis?: Millis;
}

/** One look at all replicas of a workload. Writes what is in force for them in one go. */
export type SizeReplicas = (context: ApplyContext) => Promise<ReplicasSized>;

export interface SizeReplicasOptions extends TellReplicas, Pick<PutBackOptions, 'isAllocated'> {
  readonly actuator: Pick<SizeActuator, 'resize' | 'isResizing' | 'lacksRoom'>;
  readonly changes: Pick<Changes, 'judge'>;
  readonly settings: () => RightsizingSettings;
  /** New pods are sized at admission. */
  readonly sizesNewPods: () => boolean;
  readonly clock: Clock;
}

interface Attempted {
  readonly given: readonly Given[];
  readonly kept: ApplyResult | undefined;
  readonly waiting: ApplyResult | undefined;
}

/** A replica whose node has no room says nothing about the others: so many are tried before all wait. */
const MAX_TRIES = 3;
/** What a pod is told that its node had no room for a moment ago; all else would keep a new pod from its size as well. */
const isAfterRefusal: ReadonlySet<ReasonName | undefined> = new Set([
  'ChangeBackoff',
  'ChangesIneffective',
  'InfeasibleBefore',
]);

export function createSizeReplicas(options: SizeReplicasOptions): SizeReplicas {
  const { actuator, settings, clock } = options;
  const memoryOf = createReplicaMemories();

  /**
   * Asks for one replica's change; of one that a guard objects to, for the part it does not object to.
   * @param least of the raises, asked where there is no room for what lasts.
   */
  const attempt = async (
    context: ApplyContext,
    { pod }: ReplicaAdvice,
    inForce: readonly ContainerSpecRecord[],
    beginning: Beginning,
    least: readonly SizeChange[],
  ): Promise<Attempt> => {
    const { advised, memory, policy, signal } = context;
    if (!isResizable(pod)) return giveToCome(context, beginning, clock.now());
    let kept: ApplyResult | undefined;
    for (let part: Beginning | undefined = beginning; part !== undefined; ) {
      const both = joinChanges([...part.raises, ...part.decreases]);
      if (both.length === 0) break;
      const to = effectiveChanges(pod.sizing.containers, both);
      // What it has already is only to be written.
      if (to.length === 0) return { made: part, kept };
      const decision = decisionFor(context, pod, to, describeChanges(both, inForce));
      const answer = await actuator.resize(decision, policy.spec, signal);
      if (answer.kind === 'asked') return { made: part, kept };
      const isMore = part === beginning && part.raises !== least;
      if (isMore && answer.kind === 'blocked' && !isGlobal(answer.block.reason)) {
        part = { raises: least, decreases: part.decreases };
        continue;
      }
      const why = resultOfAttempt(advised.workload, memory, answer);
      kept ??= why;
      // It is put in force all the same where an eviction can make room for it.
      const reason = answer.kind === 'blocked' ? answer.block.reason : undefined;
      const isCramped = reason === 'NodeHasNoRoom' || (isAfterRefusal.has(reason) && actuator.lacksRoom(pod.pod.uid));
      const mayGo = mayEvict(policy.spec.updates, advised.workload.kind, options.sizesNewPods());
      if (isCramped && mayGo && part.raises.length > 0) return { made: { raises: part.raises, decreases: [] }, kept };
      part = why?.reason === undefined ? undefined : restOf(part, why.reason);
    }
    return { made: undefined, kept };
  };

  /** Raises of every replica at once, those of memory first; decreases as fast as the pace allows. */
  const begin = async (
    context: ApplyContext,
    { replicas }: ReplicasAdvised,
    own: ReplicaMemory,
    next: Map<string, ReplicaState>,
    harmed: ReadonlySet<string>,
    gathering: Gathering,
  ): Promise<Attempted> => {
    const now = clock.now();
    const { isRollingOut } = context.advised.workload;
    const { updates } = context.policy.spec;
    const pace = paceNow(own, next, updates, settings(), now);
    const isGathered = gathering.all === 0;
    // Who bounds the steps up wants them small.
    const isLasting = isScarce(own, now) && updates.maxStepUp === undefined;
    let room = harmed.size > 0 || pace.kind === 'wait' ? 0 : pace.atMost;
    let tries = Number.isFinite(room) ? MAX_TRIES : Number.POSITIVE_INFINITY;
    const given: Given[] = [];
    let kept: ApplyResult | undefined;
    let held: ApplyResult | undefined;
    let isPaced = false;
    let isShort = false;
    const inTurn = mostNeededFirst(
      firstToChange(replicas, ({ pod }) => pod),
      (each) => memoryGrowth(each.inForce, dueChanges(each.advice)),
    );
    for (const advised of inTurn) {
      const { replica, pod } = advised;
      const state = next.get(replica);
      if (state === undefined || harmed.has(replica) || actuator.isResizing(pod.pod.uid)) continue;
      const inForce = withReplicaSizes(context.advised.inForce, state);
      const watch = own.watches.get(replica);
      const due = dueChanges(advised.advice);
      const begun = isRollingOut ? helpInRollout(due, inForce, [pod], now).raises : due;
      const may = mayBegin(begun, inForce, watch === undefined ? [] : [watch]);
      const worth = worthOf(context, advised, inForce, state, own, may, now);
      held ??= worth.held;
      const least = inTime(worth.beginning.raises, inForce, gathering);
      const raises = isLasting ? lasting(least, inForce, context.advised.advice) : least;
      // The guards go by what the view shows: that it has a size of its own must be seen there.
      const isSeen = advised.state !== undefined && context.memory.written === undefined;
      const isRested = state.changedAt === undefined || now - state.changedAt >= settings().revertMillis;
      const rested = restedOf(own, replica, worth.beginning.decreases, now);
      const isLowered = rested.length > 0 && isSeen && isRested;
      const isTurn = isLowered && isGathered && room > 0 && tries > 0;
      isPaced ||= isLowered && !isTurn;
      const decreases = isTurn ? rested : [];
      if (raises.length + decreases.length === 0) continue;
      const { made, kept: why } = await attempt(context, advised, inForce, { raises, decreases }, least);
      kept ??= why;
      if (decreases.length > 0) tries--;
      if (made !== undefined) {
        if (made.decreases.length > 0) room--;
        const put = putInForce(advised, inForce, state, made, watch, now);
        next.set(replica, put.state);
        given.push(put.given);
      } else if (why?.reason !== undefined && isGlobal(why.reason)) {
        isShort = isOfTurns(why.reason) && memoryGrowth(inForce, raises) > 0;
        break;
      }
    }
    if (gathering.memory === 0) noteShort(own, isShort, now);
    return { given, kept, waiting: (isPaced ? waitingFor(pace, given[0]?.replica, replicas) : undefined) ?? held };
  };

  const worthOf = (
    { policy }: ApplyContext,
    { replica, advice }: ReplicaAdvice,
    inForce: readonly ContainerSpecRecord[],
    { changedAt }: ReplicaState,
    { awaitingSince }: ReplicaMemory,
    may: Beginning,
    now: EpochMillis,
  ): Worth => {
    const memory = { lastApplied: changedAt, awaitingSince: awaitingSince.get(replica) };
    const worth = worthBeginning({ advised: { inForce, advice }, memory, policy }, may, settings(), now, true);
    if (memory.awaitingSince === undefined) awaitingSince.delete(replica);
    else awaitingSince.set(replica, memory.awaitingSince);
    return worth;
  };

  return async (context) => {
    const { advised, memory, annotate } = context;
    const { workload, replicas: asked } = advised;
    if (asked === undefined || asked.obstacle !== undefined) return nothingSized;
    const own = memoryOf(memory, asked.states);
    const now = clock.now();
    const gathering = gatheringFor(own, settings(), now);
    const isGathered = gathering.all === 0;
    const lookedAfter = await lookAfterReplicas(context, asked, own, {
      changes: options.changes,
      revertMillis: settings().revertMillis,
      mayEnd: isGathered,
      now,
    });
    const { states: next, harms } = lookedAfter;
    // While what is in force for all is being tried on one of them, nobody leaves.
    const isSettled = memory.ongoing.length === 0 && memory.takenBack.length === 0 && !workload.isRollingOut;
    for (const { replica, isKnown } of asked.replicas) {
      if (isSettled && isGathered && isKnown && !next.has(replica)) {
        next.set(replica, freshState(advised.inForce, advised.lessons.floors));
      }
    }
    const harmed = new Set(harms.map(({ replica }) => replica));
    const { given, kept, waiting } = await begin(context, asked, own, next, harmed, gathering);
    const text = writeReplicaSizes(workload.containers, next) ?? null;
    const isChange = given.length + harms.length > 0;
    // Not written, it would be watched anew.
    const isOver = [...asked.states].some(
      ([replica, { before }]) => before !== undefined && next.get(replica)?.before === undefined,
    );
    if ((isChange || isOver || isGathered) && text !== (workload.annotations[rightsizingKeys.replicaSizes] ?? null)) {
      const failed = await annotate({
        [rightsizingKeys.replicaSizes]: text,
        ...(isChange && { [rightsizingKeys.lastApplied]: formatTime(now) }),
      });
      if (failed !== undefined) {
        // Whether it was written or not: what is watched of them is read anew from what is there.
        for (const { replica } of [...given, ...harms]) own.watches.delete(replica);
        const states = neverLess(advised.inForce, asked.states, next, given);
        return { states, ended: failed, kept: undefined, waiting: undefined };
      }
      own.writtenAt = now;
      if (isChange) {
        memory.lastApplied = now;
        memory.lastMethod = 'InPlace';
        memory.beforeEviction = undefined;
      }
      for (const each of given) {
        const { replica, watch } = each;
        noteRaised(own, each, now);
        if (watch === undefined) own.watches.delete(replica);
        else own.watches.set(replica, watch);
      }
      tellReplicas(options, context, given, harms);
    }
    await putBackReplicas(context, next, options);
    const [firstHarm] = harms;
    const cause = firstHarm && `replica ${firstHarm.replica}: ${firstHarm.harm.cause}`;
    const message = cause && renderReason('ChangeReverted', { ...workload, cause });
    return {
      states: next,
      ended: message === undefined ? undefined : pending('ChangeReverted', message),
      kept,
      waiting,
      ...(!isGathered && { againAfterMillis: gathering.memory || gathering.all }),
      ...((own.watches.size > 0 || harms.length > 0) && { againAfterMillis: LOOK_AGAIN_MILLIS }),
    };
  };
}

const nothingSized: ReplicasSized = { states: noReplicas, ended: undefined, kept: undefined, waiting: undefined };
