/** Raises every replica at once, those that need memory first; lowers them as fast as the pace allows. */
import { dueChanges, withMemoryLimits } from '../../decide/rightsizing/due-changes.ts';
import { memoryGrowth, mostNeededFirst } from '../../decide/rightsizing/most-needed-first.ts';
import { firstToChange } from '../../decide/rightsizing/pod-drift.ts';
import { helpInRollout } from '../../decide/rightsizing/rollout-help.ts';
import { mayBegin } from '../../decide/rightsizing/side-by-side.ts';
import type { SizedPart } from '../../decide/rightsizing/watched-change.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { type ReplicaState, withReplicaSizes } from '../../model/replica-sizes.ts';
import type { SizeActuator } from './actuator.ts';
import type { ReplicaAdvice } from './advise-replicas.ts';
import type { ApplyContext } from './apply.ts';
import { type AskReplicaOptions, createAskReplica, type ReplicaChange } from './ask-replica.ts';
import { isGlobal } from './converge.ts';
import type { RightsizingParts } from './parts.ts';
import { type Given, putInForce } from './replica-change.ts';
import type { ReplicaMemory } from './replica-memory.ts';
import { type Gathering, inTime, isOfTurns, lasting, paceNow, waitingFor } from './replica-turns.ts';
import type { ReplicasSized } from './replicas.ts';
import { passGate } from './restart-gate.ts';
import type { ApplyResult } from './result.ts';

export interface ReplicaRoundOptions extends AskReplicaOptions, Pick<RightsizingParts, 'settings'> {
  readonly actuator: Pick<SizeActuator, 'resize' | 'isResizing' | 'lacksRoom' | 'keepsMemoryLimits'>;
}

export interface ReplicaRoundQuestion {
  readonly replicas: readonly ReplicaAdvice[];
  /** What is in force for each; those that are given something are set anew. */
  readonly states: Map<string, ReplicaState>;
  /** Replicas that were just found to be harmed are left alone, and no other is lowered. */
  readonly harmed: ReadonlySet<string>;
  readonly own: ReplicaMemory;
  readonly gathering: Gathering;
}

export interface ReplicaRoundResult extends Pick<ReplicasSized, 'kept' | 'waiting'> {
  readonly given: readonly Given[];
}

export type ReplicaRound = (context: ApplyContext, question: ReplicaRoundQuestion) => Promise<ReplicaRoundResult>;

/** A replica whose node has no room says nothing about the others: so many are tried before all wait. */
const MAX_TRIES = 3;

export function createReplicaRound(options: ReplicaRoundOptions): ReplicaRound {
  const { actuator, settings, clock } = options;
  const ask = createAskReplica(options);
  /** Since when decreases of replicas that cost a restart wait for others to come with them. */
  const awaitingSince = new WeakMap<ReplicaMemory, Map<string, EpochMillis>>();

  const waitingOf = ({ own, replicas }: ReplicaRoundQuestion): Map<string, EpochMillis> => {
    const running = new Set(replicas.map(({ replica }) => replica));
    const waiting = new Map([...(awaitingSince.get(own) ?? [])].filter(([replica]) => running.has(replica)));
    awaitingSince.set(own, waiting);
    return waiting;
  };

  /** What may begin of the advice of one replica, whoever's turn it is to be lowered. Keeps `waiting`. */
  const planOf = (
    { advised: ofAll, memory, policy }: ApplyContext,
    { own, gathering }: ReplicaRoundQuestion,
    { replica, pod, state: written, advice }: ReplicaAdvice,
    state: ReplicaState,
    waiting: Map<string, EpochMillis>,
    now: EpochMillis,
  ): { readonly change: ReplicaChange; readonly held: ApplyResult | undefined } => {
    const { changedAt } = state;
    const inForce = withReplicaSizes(ofAll.inForce, state);
    const watch = own.watches.ongoing.get(replica);
    const advised = dueChanges(advice);
    const due = actuator.keepsMemoryLimits(ofAll.workload.uid) ? withMemoryLimits(advised, inForce) : advised;
    const begun = ofAll.workload.isRollingOut ? helpInRollout(due, inForce, [pod], now).raises : due;
    const may = mayBegin(begun, inForce, watch === undefined ? [] : [watch]);
    const awaitingSince = waiting.get(replica);
    const times = memory.times.ofReplica(replica, changedAt);
    const lastChange = (part: SizedPart): EpochMillis | undefined => times.lastChange(part);
    const asked = { advised: { inForce, advice }, policy, lastChange, awaitingSince, now };
    const { beginning, held, awaitingSince: since } = passGate(asked, may, settings(), true);
    if (since === undefined) waiting.delete(replica);
    else waiting.set(replica, since);
    const least = inTime(beginning.raises, inForce, gathering);
    // Who bounds the steps up wants them small.
    const isLasting = own.turns.isScarce(now) && policy.spec.updates.maxStepUp === undefined;
    const raises = isLasting ? lasting(least, inForce, ofAll.advice) : least;
    // The guards go by what the view shows: that it has a size of its own must be seen there.
    const isSeen = written !== undefined && memory.annotations.areShown;
    const isRested = changedAt === undefined || now - changedAt >= settings().revertMillis;
    const decreases = isSeen && isRested ? own.turns.restedOf(replica, beginning.decreases, now) : [];
    return { change: { raises, decreases, least, inForce }, held };
  };

  return async (context, question) => {
    const { replicas, states, harmed, own, gathering } = question;
    const now = clock.now();
    const waiting = waitingOf(question);
    const pace = paceNow(own.watches.ongoing, states, context.policy.spec.updates, settings(), context.advised.at);
    let room = harmed.size > 0 || gathering.all > 0 || pace.kind === 'wait' ? 0 : pace.atMost;
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
      const state = states.get(replica);
      if (state === undefined || harmed.has(replica) || actuator.isResizing(pod.pod.uid)) continue;
      const plan = planOf(context, question, advised, state, waiting, now);
      held ??= plan.held;
      const { raises, inForce } = plan.change;
      const isTurn = room > 0 && tries > 0;
      const decreases = isTurn ? plan.change.decreases : [];
      isPaced ||= !isTurn && plan.change.decreases.length > 0;
      if (raises.length + decreases.length === 0) continue;
      const { made, kept: why } = await ask(context, pod, { ...plan.change, decreases });
      kept ??= why;
      if (decreases.length > 0) tries--;
      if (made !== undefined) {
        if (made.decreases.length > 0) room--;
        const put = putInForce(advised, inForce, state, made, own.watches.ongoing.get(replica), now);
        states.set(replica, put.state);
        given.push(put.given);
      } else if (why?.reason !== undefined && isGlobal(why.reason)) {
        isShort = isOfTurns(why.reason) && memoryGrowth(inForce, raises) > 0;
        break;
      }
    }
    if (gathering.memory === 0) own.turns.noteShort(isShort, now);
    const paced = isPaced ? waitingFor(pace, given[0]?.replica, replicas) : undefined;
    return { given, kept, waiting: paced ?? held };
  };
}
