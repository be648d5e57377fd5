/** Whose turn it is among replicas that are sized each for itself, and what is told of the others. */
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { type Pace, paceOf } from '../../decide/rightsizing/replica-pace.ts';
import { onlyParts, partsOf, without } from '../../decide/rightsizing/side-by-side.ts';
import { loweredResources, type SizedPart } from '../../decide/rightsizing/watched-change.ts';
import { inWords } from '../../guard/objection.ts';
import { type ReasonName, renderReason } from '../../lib/reasons.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { type SizeChange, sizeOfContainer } from '../../model/pod-size.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import { harmedAt, type ReplicaStates } from '../../model/replica-sizes.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { ReplicaAdvice } from './advise-replicas.ts';
import type { Given } from './replica-change.ts';
import type { ReplicaMemory } from './replica-memory.ts';
import { type ApplyResult, pending } from './result.ts';
import type { RightsizingSettings } from './settings.ts';
import { watchedSince } from './watches.ts';

/**
 * What is due within this time for whichever replica is done at once: each time is a write to the workload, which all
 * who watch it hear of. Taking back what did harm waits for nothing.
 */
const GATHER_MILLIS: Millis = 60_000;
/** More memory waits no longer than this. */
const GATHER_MEMORY_MILLIS: Millis = 15_000;

export interface Gathering {
  /** How long until it may be written again; 0: now. */
  readonly memory: Millis;
  readonly all: Millis;
}

export function gatheringFor(
  { writtenAt = Number.NEGATIVE_INFINITY }: ReplicaMemory,
  { revertMillis }: Pick<RightsizingSettings, 'revertMillis'>,
  now: EpochMillis,
): Gathering {
  // The others follow while the first is still watched.
  const left = (millis: Millis): Millis => Math.max(0, writtenAt + Math.min(millis, revertMillis / 2) - now);
  return { memory: left(GATHER_MEMORY_MILLIS), all: left(GATHER_MILLIS) };
}

/** What was just raised is not lowered again for so long: a size that follows every ripple would turn all day. */
const REST_MILLIS: Millis = 1_200_000;

const raisedKey = (replica: string, { container, resource }: SizedPart): string =>
  `${replica} ${container} ${resource}`;

/** Of decreases, what was not raised of late, and no memory where others wait for theirs. */
export function restedOf(
  { raisedAt, scarceAt, inherited }: Pick<ReplicaMemory, 'raisedAt' | 'scarceAt' | 'inherited'>,
  replica: string,
  decreases: readonly SizeChange[],
  now: EpochMillis,
): readonly SizeChange[] {
  // Where another leader changed something, more memory may have waited, and this replica may have been raised.
  const isMemoryKept = isScarce({ scarceAt }, now) || isScarce({ scarceAt: inherited.lastAt }, now);
  const restless = partsOf(decreases).filter((part) => {
    if (part.resource === 'memory' && isMemoryKept) return true;
    const at = raisedAt.get(raisedKey(replica, part)) ?? inherited.byReplica.get(replica);
    return at !== undefined && now - at < REST_MILLIS;
  });
  return without(decreases, restless);
}

/** Remembers what was raised of a replica, and forgets what rests. */
export function noteRaised(
  { raisedAt }: Pick<ReplicaMemory, 'raisedAt'>,
  { replica, changes, before }: Pick<Given, 'replica' | 'changes' | 'before'>,
  now: EpochMillis,
): void {
  for (const [key, at] of raisedAt) if (now - at >= REST_MILLIS) raisedAt.delete(key);
  for (const change of changes) {
    const lowered = loweredResources(change, before);
    for (const part of partsOf([change]))
      if (!lowered.includes(part.resource)) raisedAt.set(raisedKey(replica, part), now);
  }
}

/** What is raised of a replica now. */
export function inTime(
  raises: readonly SizeChange[],
  inForce: readonly ContainerSpecRecord[],
  gathering: Gathering,
): readonly SizeChange[] {
  if (gathering.memory > 0) return [];
  return gathering.all > 0 ? urgent(raises, inForce) : raises;
}

/** The cluster as a whole takes only so many changes at once, or in a minute. */
export function isOfTurns(reason: ReasonName): boolean {
  return reason === 'ChangePace' || reason === 'ResizeConcurrency';
}

/** A wait of one look is no shortage. */
const SHORT_MILLIS: Millis = 30_000;
/** So long after more memory had to wait for its turn, replicas are given what lasts. */
const SCARCE_MILLIS: Millis = 3_600_000;

/** @param isShort at this look more memory waits for its turn. */
export function noteShort(
  own: Pick<ReplicaMemory, 'shortSince' | 'scarceAt'>,
  isShort: boolean,
  now: EpochMillis,
): void {
  own.shortSince = isShort ? (own.shortSince ?? now) : undefined;
  if (own.shortSince !== undefined && now - own.shortSince >= SHORT_MILLIS) own.scarceAt = now;
}

export function isScarce({ scarceAt }: Pick<ReplicaMemory, 'scarceAt'>, now: EpochMillis): boolean {
  return scarceAt !== undefined && now - scarceAt < SCARCE_MILLIS;
}

/**
 * Where the cluster may be changed too seldom for each replica to have what it needs next, memory is raised to what all
 * need: with one size for all it would have as much, and nobody waits for his turn again so soon.
 * @param ofAll what is advised for all.
 */
export function lasting(
  raises: readonly SizeChange[],
  inForce: readonly ContainerSpecRecord[],
  ofAll: readonly SizedAdvice[],
): readonly SizeChange[] {
  return raises.map(({ container, to }) => {
    const { request = 0, limit = 0 } = ofAll.find((each) => each.container === container)?.memory ?? {};
    const { memoryRequest, memoryLimit } = to;
    const had = sizeOfContainer(inForce, container)?.memoryLimit ?? Number.POSITIVE_INFINITY;
    const next = memoryLimit === undefined ? undefined : Math.max(memoryLimit, limit);
    return {
      container,
      to: {
        ...to,
        ...(memoryRequest !== undefined && {
          memoryRequest: Math.max(memoryRequest, Math.min(request, next ?? had)),
        }),
        ...(next !== undefined && { memoryLimit: next }),
      },
    };
  });
}

/** A raise of memory by less than this share can wait with the others. */
const URGENT_SHARE = 0.05;

/** Of what is raised, the memory: too little of it kills. */
function urgent(raises: readonly SizeChange[], inForce: readonly ContainerSpecRecord[]): readonly SizeChange[] {
  const isMuch = (container: string): boolean => {
    const had = sizeOfContainer(inForce, container) ?? {};
    const to = raises.find((change) => change.container === container)?.to ?? {};
    return (['memoryRequest', 'memoryLimit'] as const).some(
      (key) => (to[key] ?? 0) > (had[key] ?? 0) * (1 + URGENT_SHARE),
    );
  };
  return onlyParts(raises, ({ container, resource }) => resource === 'memory' && isMuch(container));
}

/** The least pause after harm: doubling no pause at all would be none. */
const LEAST_PAUSE_MILLIS: Millis = 600_000;

/** How many may be lowered now. */
export function paceNow(
  { watches }: Pick<ReplicaMemory, 'watches'>,
  states: ReplicaStates,
  { cooldownMillis }: Pick<PolicySpec['updates'], 'cooldownMillis'>,
  { canaryMillis }: Pick<RightsizingSettings, 'canaryMillis'>,
  now: EpochMillis,
): Pace {
  const replicas = [...states].map(([replica, state]) => {
    const watch = watches.get(replica);
    const isWatched = state.before !== undefined && watch !== undefined;
    return { replica, watchedSince: isWatched ? watchedSince(watch) : undefined, harmedAt: harmedAt(state) };
  });
  return paceOf(replicas, { canaryMillis, pauseMillis: Math.max(LEAST_PAUSE_MILLIS, cooldownMillis) }, now);
}

/** Why the others are not lowered yet. @param first the replica that has just been. */
export function waitingFor(
  pace: Pace,
  first: string | undefined,
  replicas: readonly ReplicaAdvice[],
): ApplyResult | undefined {
  const replica = pace.kind === 'wait' ? pace.replica : first;
  if (replica === undefined) return undefined;
  const pod = replicas.find((each) => each.replica === replica)?.pod.pod.name ?? replica;
  if (pace.kind === 'begin' || pace.for === 'watched') {
    return pending('CanaryWatched', renderReason('CanaryWatched', { pod }));
  }
  const message = renderReason('ReplicaHarmed', { pod, remaining: inWords(pace.millis) });
  return pending('ReplicaHarmed', message, pace.millis);
}
