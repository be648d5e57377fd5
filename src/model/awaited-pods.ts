/**
 * Pods that are missing and will be made: what quotas have to be left with for them. Whatever takes that room meanwhile
 * leaves a workload short of a replica, as the API server then refuses to make it.
 */

import { rightsizingKeys } from '../api/annotations-rightsizing.ts';
import type { EpochMillis } from '../lib/units.ts';
import { bornSizes } from './born-template.ts';
import { hasEnded, isLive } from './owners.ts';
import { sizeKeys } from './pod-size.ts';
import { countsIn, type QuotaSubject } from './quota-scopes.ts';
import { replicaOf } from './replica.ts';
import { type ReplicaStates, readReplicaSizes } from './replica-sizes.ts';
import { addUse, noUse, type QuotaUse, quotaGrowth, withLimitDefaults } from './size-bounds.ts';
import type { ContainerSpecRecord, QuotaRecord, SizedWorkload } from './sizing-records.ts';
import type { SizedPod, SizingView } from './sizing-view.ts';

/** Of one workload. */
export interface AwaitedPods {
  /** At least 1. */
  readonly count: number;
  /** What quotas will count of one of them. */
  readonly each: QuotaUse;
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
}

/** Kinds whose pods end, and are not made anew when they have. */
const RUN_TO_AN_END: ReadonlySet<string> = new Set(['Job', 'CronJob']);

/** Undefined where no pod is missing. @param born asked only where one is. */
export function awaitedOf(
  workload: Pick<SizedWorkload, 'kind' | 'name' | 'replicas' | 'deleting'>,
  pods: readonly SizedPod[],
  born: BornSizes,
  { isGoing, now }: AwaitedWhen,
): AwaitedPods | undefined {
  if (workload.deleting || RUN_TO_AN_END.has(workload.kind)) return undefined;
  const present = pods.filter(({ pod }) => isLive(pod) && !isGoing(pod.uid));
  const count = workload.replicas - present.length;
  if (count <= 0) return undefined;
  const there = new Set(present.map(({ pod }) => replicaOf(workload, pod)));
  const absent = new Map([...born.states()].filter(([replica]) => !there.has(replica)));
  // Once its grace period is over a pod no longer counts (kubernetes pkg/quota/v1/evaluator/core/pods.go, QuotaV1Pod).
  const leaving = pods.filter(
    ({ pod }) => !hasEnded(pod) && (isGoing(pod.uid) || (pod.deletingAt !== undefined && pod.deletingAt >= now)),
  );
  const like = (present[0] ?? pods[0])?.sizing;
  const sizes = born.enoughFor(absent);
  // Such as the proxy of a mesh: the next pod is given one, too.
  const injected = (like?.containers ?? []).filter(({ name }) => sizes.every((each) => each.name !== name));
  return {
    count,
    each: quotaGrowth([], [...sizes, ...injected], []),
    returning: usedBy(leaving),
    like,
  };
}

/** What quotas count of these pods. */
export function usedBy(pods: readonly SizedPod[]): QuotaUse {
  return pods.reduce<QuotaUse>(
    (sum, { sizing: { containers, statuses } }) => addUse(sum, quotaGrowth([], containers, statuses)),
    noUse,
  );
}

/** Of all workloads of the namespace, whoever sizes them. */
export function awaitedIn(
  view: Pick<SizingView, 'workloads' | 'podsOf' | 'limitRanges'>,
  namespace: string,
  when: AwaitedWhen,
): readonly AwaitedPods[] {
  const all: AwaitedPods[] = [];
  for (const workload of view.workloads()) {
    if (workload.namespace !== namespace) continue;
    const { annotations, containers } = workload;
    const born: BornSizes = {
      states: () => readReplicaSizes(annotations[rightsizingKeys.replicaSizes], containers),
      enoughFor: (absent) => withLimitDefaults(view.limitRanges(namespace), bornSizes(workload, absent)),
    };
    const awaited = awaitedOf(workload, view.podsOf(workload), born, when);
    if (awaited !== undefined) all.push(awaited);
  }
  return all;
}

/**
 * What of a quota is kept for them. Only for as many as there is room for: who wants more replicas than the quota can
 * ever hold keeps nobody else from the rest of it.
 * @param underWay what has been asked for and the quota's figures may not show yet.
 */
export function roomKept(
  { hard, used, scopes }: QuotaRecord,
  awaited: readonly AwaitedPods[],
  underWay: QuotaUse,
): QuotaUse {
  let kept = noUse;
  for (const { count, each, returning, like } of awaited) {
    if (like !== undefined && !countsIn(scopes, like)) continue;
    const fitting = sizeKeys.map((key) => {
      const most = hard[key];
      if (most === undefined || each[key] === 0) return Number.POSITIVE_INFINITY;
      return Math.floor((most - (used[key] ?? 0) - underWay[key] + returning[key]) / each[key]);
    });
    const whole = Math.max(0, Math.min(count, ...fitting));
    const own = { ...noUse };
    for (const key of sizeKeys) own[key] = Math.max(0, whole * each[key] - returning[key]);
    kept = addUse(kept, own);
  }
  return kept;
}
