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
import { type ApplyResult, pending } from './result.ts';
import type { RightsizingSettings } from './settings.ts';
import { type OngoingChange, watchedSince } from './watches.ts';

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

/** What was just raised is not lowered again for so long: a size that follows every ripple would turn all day. */
const REST_MILLIS: Millis = 1_200_000;
/** A wait of one look is no shortage. */
const SHORT_MILLIS: Millis = 30_000;
/** So long after more memory had to wait for its turn, replicas are given what lasts. */
const SCARCE_MILLIS: Millis = 3_600_000;

const raisedKey = (replica: string, { container, resource }: SizedPart): string =>
  `${replica} ${container} ${resource}`;

/** When replicas of one workload were changed, and so when they may be again. */
export class ReplicaTurns {
  /** When another leader changed them. What it raised then, and whether others waited for more, nobody knows any more. */
  readonly #inherited: ReadonlyMap<string, EpochMillis>;
  /** The latest of them. */
  readonly #inheritedAt: EpochMillis;
  /** When a resource of a replica was last raised. */
  readonly #raisedAt = new Map<string, EpochMillis>();
  /** Since when, look by look, more memory has to wait for its turn among all changes of the cluster. */
  #shortSince: EpochMillis | undefined;
  /** When it last had for long. */
  #scarceAt = Number.NEGATIVE_INFINITY;
  /** When sizes of replicas were last written on the workload. */
  #writtenAt = Number.NEGATIVE_INFINITY;

  /** @param found what the workload says of them at the first look. */
  constructor(found: ReplicaStates) {
    const changed = [...found].flatMap(([replica, { changedAt }]) =>
      changedAt === undefined ? [] : [[replica, changedAt] as const],
    );
    this.#inherited = new Map(changed);
    this.#inheritedAt = Math.max(Number.NEGATIVE_INFINITY, ...this.#inherited.values());
  }

  gathering({ revertMillis }: Pick<RightsizingSettings, 'revertMillis'>, now: EpochMillis): Gathering {
    // The others follow while the first is still watched.
    const left = (millis: Millis): Millis => Math.max(0, this.#writtenAt + Math.min(millis, revertMillis / 2) - now);
    return { memory: left(GATHER_MEMORY_MILLIS), all: left(GATHER_MILLIS) };
  }

  /** Of decreases, what was not raised of late, and no memory where others wait for theirs. */
  restedOf(replica: string, decreases: readonly SizeChange[], now: EpochMillis): readonly SizeChange[] {
    // Where another leader changed something, more memory may have waited, and this replica may have been raised.
    const isMemoryKept = this.isScarce(now) || now - this.#inheritedAt < SCARCE_MILLIS;
    const restless = partsOf(decreases).filter((part) => {
      if (part.resource === 'memory' && isMemoryKept) return true;
      const at = this.#raisedAt.get(raisedKey(replica, part)) ?? this.#inherited.get(replica);
      return at !== undefined && now - at < REST_MILLIS;
    });
    return without(decreases, restless);
  }

  /** It is written on the workload what these are given. */
  noteWritten(given: readonly Pick<Given, 'replica' | 'changes' | 'before'>[], now: EpochMillis): void {
    this.#writtenAt = now;
    for (const [key, at] of this.#raisedAt) if (now - at >= REST_MILLIS) this.#raisedAt.delete(key);
    for (const { replica, changes, before } of given) {
      for (const change of changes) {
        const lowered = loweredResources(change, before);
        for (const part of partsOf([change]))
          if (!lowered.includes(part.resource)) this.#raisedAt.set(raisedKey(replica, part), now);
      }
    }
  }

  /** @param isShort at this look more memory waits for its turn. */
  noteShort(isShort: boolean, now: EpochMillis): void {
    this.#shortSince = isShort ? (this.#shortSince ?? now) : undefined;
    if (this.#shortSince !== undefined && now - this.#shortSince >= SHORT_MILLIS) this.#scarceAt = now;
  }

  /** More memory had to wait for long, in the last hour. */
  isScarce(now: EpochMillis): boolean {
    return now - this.#scarceAt < SCARCE_MILLIS;
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
  watches: ReadonlyMap<string, OngoingChange>,
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
