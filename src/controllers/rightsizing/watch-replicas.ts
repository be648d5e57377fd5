/** Looks after what replicas were given: ends watches, takes back what did harm, and lets go of replicas that are gone. */

import type { Harm } from '../../decide/rightsizing/judge-change.ts';
import { partsTakenBack, takenBack } from '../../decide/rightsizing/side-by-side.ts';
import { resumeWatch, whileAsked, whileRolledOut } from '../../decide/rightsizing/watched-change.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { isInForce } from '../../model/granted-size.ts';
import { learn } from '../../model/learned-floors.ts';
import { effectiveChanges, type SizeChange } from '../../model/pod-size.ts';
import { replicaOf } from '../../model/replica.ts';
import { type ReplicaState, type SizesByContainer, sizesOf, withReplicaSizes } from '../../model/replica-sizes.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { ReplicaAdvice, ReplicasAdvised } from './advise-replicas.ts';
import type { ApplyContext } from './apply.ts';
import { type Changes, floorsOf } from './change.ts';
import type { ReplicaWatches } from './replica-watches.ts';
import { nothingSeen } from './throttling.ts';
import { type OngoingChange, watchEndsAt } from './watches.ts';

export interface ReplicaHarm {
  readonly replica: string;
  readonly harm: Harm;
}

export interface LookedAfter {
  readonly states: Map<string, ReplicaState>;
  readonly harms: readonly ReplicaHarm[];
}

export interface LookAfterOptions {
  readonly changes: Pick<Changes, 'judge'>;
  readonly revertMillis: Millis;
  /** Watches may end now: each time is a write to the workload. */
  readonly mayEnd: boolean;
  readonly now: EpochMillis;
}

/**
 * A replica that has had no pod for so long was scaled away, or its node is gone: when it comes back, it is as good as a
 * new one. A pod that is replaced, and a node that boots, takes minutes.
 */
const ABSENT_MILLIS: Millis = 3_600_000;
/** While nobody led for a day, or the pod could not have it, too much else happened to put what is seen down to the change. */
const MAX_AGE_MILLIS: Millis = 86_400_000;
/** A watch is looked at every few seconds; one that ended so long ago ended while nothing was applied. */
const LATE_MILLIS: Millis = 300_000;

/** Keeps `watches`; writes nothing. */
export async function lookAfterReplicas(
  context: ApplyContext,
  { states, replicas }: ReplicasAdvised,
  watches: ReplicaWatches,
  options: LookAfterOptions,
): Promise<LookedAfter> {
  const { workload, pods } = context.advised;
  const present = new Set(pods.map(({ pod }) => replicaOf(workload, pod)));
  const running = new Map(replicas.map((each) => [each.replica, each]));
  const next = new Map(states);
  const harms: ReplicaHarm[] = [];
  watches.keepOnly(states);
  for (const [replica, state] of states) {
    if (present.has(replica)) watches.notePresent(replica);
    else if (watches.noteAbsent(replica, options.now) >= ABSENT_MILLIS) next.delete(replica);
    const advised = running.get(replica);
    const watch = watches.ongoing.get(replica);
    // Without a pod nobody sees whether less is enough.
    if (advised === undefined && watch !== undefined) watches.set(replica, { ...watch, spreadingUntil: options.now });
    if (advised === undefined || state.before === undefined) continue;
    const looked = await lookAfterOne(context, advised, state, watches, options);
    next.set(replica, looked.state);
    if (looked.harm !== undefined) harms.push({ replica, harm: looked.harm });
  }
  return { states: next, harms };
}

async function lookAfterOne(
  context: ApplyContext,
  { replica, pod, inForce }: ReplicaAdvice,
  state: ReplicaState,
  watches: ReplicaWatches,
  { changes, revertMillis, mayEnd, now }: LookAfterOptions,
): Promise<{ readonly state: ReplicaState; readonly harm?: Harm }> {
  const over = (sizes: ReplicaState): { readonly state: ReplicaState } => {
    watches.set(replica, undefined);
    return { state: { ...sizes, before: undefined } };
  };
  const known = watches.ongoing.get(replica) ?? resumed(state, pod, inForce, now);
  if (known === undefined || now - known.startedAt > MAX_AGE_MILLIS + revertMillis) return over(state);
  if (now > watchEndsAt(known, revertMillis) + LATE_MILLIS) return over(state);
  const isGranted = effectiveChanges(pod.sizing.containers, known.changes).length === 0;
  const isThere = isGranted && isInForce(pod.sizing, known.changes);
  const seen = isThere ? known : { ...known, spreadingUntil: now };
  const watch = context.advised.workload.isRollingOut ? whileRolledOut(seen, [pod]) : seen;
  watches.set(replica, watch);
  const [judged] = await changes.judge({ ...context, live: [pod] }, () => [pod], [watch]);
  if (judged !== undefined) {
    const { harm } = judged;
    const parts = partsTakenBack(inForce, watch, harm.parts);
    const sizes = sizesOf(takenBack(inForce, watch, parts));
    const lessons = learn(state.lessons, floorsOf(harm, watch.before, now));
    const changed: ReplicaState = { sizes, changedAt: now, before: state.before, lessons };
    const left = changesSince(watch.before, inForce, sizes);
    if (left.length === 0) return { ...over(changed), harm };
    const back = changesSince(pod.sizing.containers, inForce, sizes);
    watches.set(replica, whileAsked({ ...watch, changes: left }, pod, back));
    return { state: changed, harm };
  }
  return now < watchEndsAt(watch, revertMillis) || !mayEnd ? { state } : over(state);
}

/**
 * What the last leader watched; undefined where there is nothing to watch, or too much has happened since. Without a
 * time that can be (its clock was ahead) it is watched from now on.
 */
function resumed(
  { sizes, before: had, changedAt }: ReplicaState,
  pod: ReplicaAdvice['pod'],
  inForce: readonly ContainerSpecRecord[],
  now: EpochMillis,
): OngoingChange | undefined {
  const startedAt = Math.min(changedAt ?? now, now);
  if (had === undefined || now - startedAt > MAX_AGE_MILLIS) return undefined;
  const before = withReplicaSizes(inForce, { sizes: had });
  const changes = changesSince(before, inForce, sizes);
  if (changes.length === 0) return undefined;
  const watch = resumeWatch({ changes, before, startedAt, pods: [pod], isInPlace: true });
  return watchOf(watch, pod, now);
}

/** As changes of a whole workload are watched, with the replica's pod as the only one. */
export function watchOf(
  watch: ReturnType<typeof resumeWatch>,
  { pod }: ReplicaAdvice['pod'],
  now: EpochMillis,
): OngoingChange {
  const canary = { uid: pod.uid, name: pod.name, at: watch.startedAt };
  return { ...watch, method: 'InPlace', phase: 'spread', canary, throttling: nothingSeen(), spreadingUntil: now };
}

/** What of `sizes` is not as it was before. */
export function changesSince(
  before: readonly ContainerSpecRecord[],
  containers: readonly ContainerSpecRecord[],
  sizes: SizesByContainer,
): readonly SizeChange[] {
  const wanted = withReplicaSizes(containers, { sizes }).map(({ name, size }) => ({ container: name, to: size }));
  return effectiveChanges(before, wanted);
}
