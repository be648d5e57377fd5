/** Whose turn it is among replicas that are sized each for itself, and what is told of the others. */
import type { Pace } from '../decide/rightsizing/replica-pace.ts';
import { partsOf, withoutParts } from '../decide/rightsizing/side-by-side.ts';
import { formatDuration } from '../lib/duration.ts';
import { renderReason } from '../lib/reasons.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { SizeChange } from '../model/pod-size.ts';
import type { ReplicaAdvice } from './rightsizing-advise-replicas.ts';
import type { ReplicaMemory } from './rightsizing-replica-memory.ts';
import type { ApplyResult } from './rightsizing-result.ts';
import type { RightsizingSettings } from './rightsizing-settings.ts';

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

/** Of what is raised, the memory: too little of it kills. */
export function urgent(raises: readonly SizeChange[]): readonly SizeChange[] {
  const others = partsOf(raises).filter(({ resource }) => resource !== 'memory');
  return withoutParts([{ changes: raises }], others).flatMap(({ changes }) => changes);
}

/** Ready pods first, the newest of them: it has the least to lose. */
export function firstToChange(replicas: readonly ReplicaAdvice[]): readonly ReplicaAdvice[] {
  const newest = replicas.toSorted((a, b) => b.pod.pod.createdAt - a.pod.pod.createdAt);
  return newest.toSorted((a, b) => Number(b.pod.pod.ready) - Number(a.pod.pod.ready));
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
    return { status: 'Pending', reason: 'CanaryWatched', message: renderReason('CanaryWatched', { pod }) };
  }
  const remaining = formatDuration(Math.ceil(pace.millis / 1000) * 1000);
  const message = renderReason('ReplicaHarmed', { pod, remaining });
  return { status: 'Pending', reason: 'ReplicaHarmed', message, againAfterMillis: pace.millis };
}
