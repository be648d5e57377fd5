/**
 * Sizes replicas each for itself, in place (adr/0032). A replica goes its own way once its own history is long enough;
 * until then it has the size of all. More is given to it at once, whatever the others do; less to one replica first,
 * then to the others, and is taken back from the one it does harm to.
 */
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { partsOf } from '../../decide/rightsizing/side-by-side.ts';
import type { SizedPart } from '../../decide/rightsizing/watched-change.ts';
import { renderReason } from '../../lib/reasons.ts';
import { formatTime } from '../../lib/rfc3339.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { freshState, noReplicas, type ReplicaStates, writeReplicaSizes } from '../../model/replica-sizes.ts';
import type { ReplicasAdvised } from './advise-replicas.ts';
import type { ApplyContext } from './apply.ts';
import { LOOK_AGAIN_MILLIS } from './apply-result.ts';
import type { Changes } from './change.ts';
import { type Given, neverLess, type TellReplicas, tellReplicas } from './replica-change.ts';
import { createReplicaMemories, type ReplicaMemory } from './replica-memory.ts';
import { type PutBackOptions, putBackReplicas } from './replica-put-back.ts';
import { createReplicaRound, type ReplicaRoundOptions } from './replica-round.ts';
import { type ApplyResult, pending } from './result.ts';
import { lookAfterReplicas, type ReplicaHarm } from './watch-replicas.ts';

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

export interface SizeReplicasOptions extends TellReplicas, ReplicaRoundOptions, Pick<PutBackOptions, 'isAllocated'> {
  readonly changes: Pick<Changes, 'judge'>;
}

/** What became of them at this look, by replica. */
interface Looked {
  readonly states: ReplicaStates;
  readonly given: readonly Given[];
  readonly harms: readonly ReplicaHarm[];
  readonly isGathered: boolean;
  readonly now: EpochMillis;
}

export function createSizeReplicas(options: SizeReplicasOptions): SizeReplicas {
  const { settings, clock } = options;
  const memoryOf = createReplicaMemories();
  const round = createReplicaRound(options);

  return async (context) => {
    const { advised, memory } = context;
    const { workload, replicas: asked } = advised;
    if (asked === undefined || asked.obstacle !== undefined) return nothingSized;
    const own = memoryOf(memory, asked.states);
    const now = clock.now();
    const gathering = own.turns.gathering(settings(), now);
    const isGathered = gathering.all === 0;
    const { revertMillis } = settings();
    const lookAfter = { changes: options.changes, revertMillis, mayEnd: isGathered, now: advised.at };
    const { states, harms } = await lookAfterReplicas(context, asked, own.watches, lookAfter);
    // While what is in force for all is being tried on one of them, nobody leaves.
    const { ongoing, takenBack } = memory.watches;
    if (isGathered && ongoing.length === 0 && takenBack.length === 0 && !workload.isRollingOut) {
      for (const { replica, isKnown } of asked.replicas) {
        if (isKnown && !states.has(replica)) states.set(replica, freshState(advised.inForce, advised.lessons.floors));
      }
    }
    const harmed = new Set(harms.map(({ replica }) => replica));
    const { given, kept, waiting } = await round(context, { ...asked, states, harmed, own, gathering });
    const failed = await write(options, context, asked, own, { states, given, harms, isGathered, now });
    if (failed !== undefined) {
      const written = neverLess(advised.inForce, asked.states, states, given);
      return { states: written, ended: failed, kept: undefined, waiting: undefined };
    }
    await putBackReplicas(context, states, options);
    const [firstHarm] = harms;
    const cause = firstHarm && `replica ${firstHarm.replica}: ${firstHarm.harm.cause}`;
    const message = cause && renderReason('ChangeReverted', { ...workload, cause });
    return {
      states,
      ended: message === undefined ? undefined : pending('ChangeReverted', message),
      kept,
      waiting,
      ...(!isGathered && { againAfterMillis: gathering.memory || gathering.all }),
      ...((own.watches.ongoing.size > 0 || harms.length > 0) && { againAfterMillis: LOOK_AGAIN_MILLIS }),
    };
  };
}

/** Writes what is in force for them by now, all in one go; remembers and tells it. @returns why it could not. */
async function write(
  options: TellReplicas,
  context: ApplyContext,
  before: Pick<ReplicasAdvised, 'states'>,
  own: ReplicaMemory,
  { states, given, harms, isGathered, now }: Looked,
): Promise<ApplyResult | undefined> {
  const { advised, memory, annotate } = context;
  const { workload } = advised;
  const text = writeReplicaSizes(workload.containers, states) ?? null;
  const isChange = given.length + harms.length > 0;
  // Not written, it would be watched anew.
  const isOver = [...before.states].some(
    ([replica, had]) => had.before !== undefined && states.get(replica)?.before === undefined,
  );
  if (!isChange && !isOver && !isGathered) return undefined;
  if (text === (workload.annotations[rightsizingKeys.replicaSizes] ?? null)) return undefined;
  const failed = await annotate({
    [rightsizingKeys.replicaSizes]: text,
    ...(isChange && { [rightsizingKeys.lastApplied]: formatTime(now) }),
  });
  if (failed !== undefined) {
    // Whether it was written or not: what is watched of them is read anew from what is there.
    for (const { replica } of [...given, ...harms]) own.watches.set(replica, undefined);
    return failed;
  }
  own.turns.noteWritten(given, now);
  if (isChange) {
    memory.times.noteApplied(now, 'InPlace');
    memory.times.noteInForce();
  }
  memory.times.keepReplicas(states);
  const noteChanged = (replica: string, parts: readonly SizedPart[]): void =>
    memory.times.ofReplica(replica, undefined).noteChanged(parts, now);
  for (const { replica, changes, watch } of given) {
    own.watches.set(replica, watch);
    noteChanged(replica, partsOf(changes));
  }
  for (const { replica, harm } of harms) noteChanged(replica, harm.parts);
  tellReplicas(options, context, given, harms);
  return undefined;
}

const nothingSized: ReplicasSized = { states: noReplicas, ended: undefined, kept: undefined, waiting: undefined };
