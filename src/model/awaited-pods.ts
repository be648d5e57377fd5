/**
 * Pods that are missing and will be made: what quotas have to be left with for them. Whatever takes that room meanwhile
 * leaves a workload short of a replica, as the API server then refuses to make it.
 */

import { rightsizingKeys } from '../api/annotations-rightsizing.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { bornSizes } from './born-template.ts';
import { newestOf } from './newest-pod.ts';
import { hasEnded, isLive } from './owners.ts';
import { sizeKeys } from './pod-size.ts';
import { countsIn, type QuotaSubject } from './quota-scopes.ts';
import type { PodRecord } from './records.ts';
import { replicaOf } from './replica.ts';
import { type ReplicaStates, readReplicaSizes } from './replica-sizes.ts';
import { addUse, lessUse, noUse, type QuotaUse, quotaGrowth, quotaUse, withLimitDefaults } from './size-bounds.ts';
import type { ContainerSpecRecord, PodSizing, QuotaRecord, SizedWorkload } from './sizing-records.ts';
import type { SizedPod, SizingView } from './sizing-view.ts';

/** Of one workload. */
export interface AwaitedPods {
  /** At least 1. */
  readonly count: number;
  /** What quotas will count of one of them. */
  readonly each: QuotaUse;
  /** The same as its template says: so it is made at admission where there is no room for more. */
  readonly least: QuotaUse;
  /** What those in whose place they come still hold, and give back. */
  readonly returning: QuotaUse;
  /** Tells which quotas count them; undefined where there is no pod to tell by. */
  readonly like: QuotaSubject | undefined;
}

export interface AwaitedWhen {
  /** The pod was asked to go, whether or not its record says so yet. */
  readonly isGoing: (podUid: string) => boolean;
  readonly now: EpochMillis;
}

/** What missing pods are made with. */
export interface BornSizes {
  /** What replicas have each for itself. */
  readonly states: () => ReplicaStates;
  /** Enough for whichever of these comes next. */
  readonly enoughFor: (absent: ReplicaStates) => readonly ContainerSpecRecord[];
  readonly asTemplate: () => readonly ContainerSpecRecord[];
}

/** Kinds whose pods end, and are not made anew when they have. */
const RUN_TO_AN_END: ReadonlySet<string> = new Set(['Job', 'CronJob']);

/**
 * Whether pods of it are missing, too many, or on their way out. Of any other nothing is awaited, and it gives nothing
 * back.
 * @param pods all of them; those without a sizing part are not there for sizing.
 */
export function isUnsettled(
  { kind, replicas }: Pick<SizedWorkload, 'kind' | 'replicas'>,
  pods: readonly Pick<PodRecord, 'phase' | 'deletingAt' | 'sizing'>[],
): boolean {
  const known = pods.filter(({ sizing }) => sizing !== undefined);
  if (known.some((pod) => pod.deletingAt !== undefined && !hasEnded(pod))) return true;
  return !RUN_TO_AN_END.has(kind) && known.filter(isLive).length !== replicas;
}

/** What refuses pods for so long is no webhook that is just being rolled out. */
const REFUSED_MILLIS: Millis = 600_000;

/**
 * Undefined where no pod is missing, or those that are cannot be made, whatever room is kept for them.
 * @param born asked only where one is.
 */
export function awaitedOf(
  workload: Pick<SizedWorkload, 'kind' | 'name' | 'replicas' | 'deleting' | 'isStuck' | 'refusedSince'>,
  pods: readonly SizedPod[],
  born: BornSizes,
  { isGoing, now }: AwaitedWhen,
): AwaitedPods | undefined {
  if (workload.deleting || RUN_TO_AN_END.has(workload.kind)) return undefined;
  if (now - (workload.refusedSince ?? now) >= REFUSED_MILLIS) return undefined;
  const present = pods.filter(({ pod }) => isLive(pod) && !isGoing(pod.uid));
  const count = workload.replicas - present.length;
  if (count <= 0) return undefined;
  const there = new Set(present.map(({ pod }) => replicaOf(workload, pod)));
  const absent = new Map([...born.states()].filter(([replica]) => !there.has(replica)));
  const like = (newestOf(present) ?? newestOf(pods))?.sizing;
  const useOf = (sizes: readonly ContainerSpecRecord[]): QuotaUse => quotaGrowth([], withInjected(sizes, like), []);
  return {
    count,
    each: useOf(born.enoughFor(absent)),
    least: useOf(born.asTemplate()),
    returning: givenBack(workload, pods, { isGoing, now }),
    like,
  };
}

/** With what is added to pods such as this, the proxy of a mesh say: the next one is given it, too. */
export function withInjected(
  sizes: readonly ContainerSpecRecord[],
  like: Pick<PodSizing, 'containers'> | undefined,
): readonly ContainerSpecRecord[] {
  const injected = (like?.containers ?? []).filter(({ name }) => sizes.every((each) => each.name !== name));
  return [...sizes, ...injected];
}

/**
 * What comes back of what the pods hold: of those that are on their way out, and in a rollout of as many as there are
 * more than are wanted, until that is stuck: nobody knows when it ends. Once its grace period is over a pod no longer
 * counts (kubernetes pkg/quota/v1/evaluator/core/pods.go, QuotaV1Pod).
 */
export function givenBack(
  { kind, replicas, isStuck }: Pick<SizedWorkload, 'kind' | 'replicas' | 'isStuck'>,
  pods: readonly SizedPod[],
  { isGoing, now }: AwaitedWhen,
): QuotaUse {
  const present = pods.filter(({ pod }) => isLive(pod) && !isGoing(pod.uid));
  const leaving = pods.filter(
    ({ pod }) => !hasEnded(pod) && (isGoing(pod.uid) || (pod.deletingAt !== undefined && pod.deletingAt >= now)),
  );
  const surplus = isStuck === true || RUN_TO_AN_END.has(kind) ? 0 : Math.max(0, present.length - replicas);
  return surplus === 0 ? usedBy(leaving) : addUse(usedBy(leaving), timesUse(surplus / present.length, usedBy(present)));
}

/** What quotas count of these pods. */
export function usedBy(pods: readonly SizedPod[]): QuotaUse {
  return pods.reduce<QuotaUse>(
    (sum, { sizing: { containers, statuses } }) => addUse(sum, quotaGrowth([], containers, statuses)),
    noUse,
  );
}

/** Of one namespace. */
export interface AwaitedIn {
  /** Of all its workloads, whoever sizes them. */
  readonly awaited: readonly AwaitedPods[];
  /** What all its workloads give back. */
  readonly returning: QuotaUse;
}

/**
 * @param going pods that were asked to go, whether or not their records say so yet: the uids of their workloads, by
 * their own.
 */
export function awaitedIn(
  view: Pick<SizingView, 'unsettled' | 'workloadByUid' | 'podsOf' | 'limitRanges'>,
  namespace: string,
  going: ReadonlyMap<string, string>,
  now: EpochMillis,
): AwaitedIn {
  const when: AwaitedWhen = { isGoing: (podUid) => going.has(podUid), now };
  const workloads = new Map(view.unsettled(namespace).map((workload) => [workload.uid, workload]));
  for (const uid of going.values()) {
    const workload = view.workloadByUid(uid);
    if (workload?.namespace === namespace) workloads.set(uid, workload);
  }
  const ranges = view.limitRanges(namespace);
  const completed = (sizes: readonly ContainerSpecRecord[]) => withLimitDefaults(ranges, sizes);
  const awaited: AwaitedPods[] = [];
  let returning = noUse;
  for (const workload of workloads.values()) {
    const { annotations, containers } = workload;
    const pods = view.podsOf(workload);
    const missing = awaitedOf(
      workload,
      pods,
      {
        states: () => readReplicaSizes(annotations[rightsizingKeys.replicaSizes], containers),
        enoughFor: (absent) => completed(bornSizes(workload, absent)),
        asTemplate: () => completed(containers),
      },
      when,
    );
    if (missing !== undefined) awaited.push(missing);
    returning = addUse(returning, givenBack(workload, pods, when));
  }
  return { awaited, returning };
}

/**
 * What of a quota is kept for them. Only for as many as there is room for: who wants more replicas than the quota can
 * ever hold keeps nobody else from the rest of it.
 * @param underWay what has been asked for and the quota's figures may not show yet.
 * @param returning what comes back before they are made; left out, what their predecessors hold.
 */
export function roomKept(
  { hard, used, scopes }: QuotaRecord,
  awaited: readonly AwaitedPods[],
  underWay: QuotaUse,
  returning?: QuotaUse,
): QuotaUse {
  /** How many, of at most so many, there is room for. */
  const fitting = (most: number, size: QuotaUse, free: QuotaUse): number => {
    const byKey = sizeKeys.map((key) =>
      hard[key] === undefined || size[key] === 0 ? most : Math.floor(free[key] / size[key]),
    );
    return Math.max(0, Math.min(most, ...byKey));
  };
  let kept = noUse;
  for (const { count, each, least, returning: own, like } of awaited) {
    if (like !== undefined && !countsIn(scopes, like)) continue;
    const left = addUse(lessUse({ ...noUse, ...hard }, addUse({ ...noUse, ...used }, underWay)), returning ?? own);
    const whole = fitting(count, each, left);
    const taken = timesUse(whole, each);
    const others = fitting(count - whole, least, lessUse(left, taken));
    const needed = lessUse(addUse(taken, timesUse(others, least)), own);
    kept = addUse(
      kept,
      quotaUse((key) => Math.max(0, needed[key])),
    );
  }
  return kept;
}

function timesUse(count: number, use: QuotaUse): QuotaUse {
  return quotaUse((key) => count * use[key]);
}
