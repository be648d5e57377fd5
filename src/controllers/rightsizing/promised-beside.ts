/**
 * What others are yet to take of the quotas of a namespace. Sizes are in force, or tried on a first pod, long before
 * all pods have them, and a pod that is replaced is born with them: promised twice, the room would be missing for it.
 * And without room for one pod more no rollout begins that must not take one away first.
 */

import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { yetToTake } from '../../decide/rightsizing/held-of-quota.ts';
import type { PromisedUse, QuotaPromises } from '../../decide/rightsizing/joint-fit.ts';
import type { InFlightResize } from '../../guard/size/context.ts';
import { isSameList } from '../../lib/same-list.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { readAppliedSizes, withAppliedSizes } from '../../model/applied-sizes.ts';
import { givenBack, withInjected } from '../../model/awaited-pods.ts';
import { newestLive } from '../../model/newest-pod.ts';
import { type SizeChange, sizeKeys } from '../../model/pod-size.ts';
import type { QuotaSubject } from '../../model/quota-scopes.ts';
import { mostOfAll, readReplicaSizes, stateOfPod } from '../../model/replica-sizes.ts';
import { addUse, noUse, type QuotaUse, quotaGrowth, quotaUse, withLimitDefaults } from '../../model/size-bounds.ts';
import type { ContainerSpecRecord, LimitRangeRecord, SizedWorkload } from '../../model/sizing-records.ts';
import type { LiveSizingView } from '../../observe/sizing/live-sizing-view.ts';
import { createWorkloadFacts } from '../../observe/sizing/workload-facts.ts';
import type { WorkloadMemory } from './memory.ts';
import type { RightsizingParts } from './parts.ts';
import type { Watches } from './watches.ts';

type PromisesView = Pick<LiveSizingView, 'workloadsIn' | 'unsettled' | 'workload' | 'workloadByUid' | 'workloadOf'> &
  Pick<LiveSizingView, 'podsOf' | 'pod' | 'limitRanges' | 'onChange'>;

export interface PromisedBesideOptions extends Pick<RightsizingParts, 'isAllocated' | 'clock'> {
  readonly view: PromisesView;
  /** Undefined where sizes are not being applied to it. */
  readonly actingOn: (workloadUid: string) => Pick<WorkloadMemory, 'watches'> | undefined;
  /** Of rightsizing, under way. */
  readonly resizes: () => readonly InFlightResize[];
}

/** What the others of its namespace that are being sized are yet to take, and a rollout of any of them or of itself. */
type PromisedBeside = (workload: Pick<SizedWorkload, 'namespace' | 'uid'>) => QuotaPromises;

/** Of a workload: kept until it or its pods change, as it is asked for at each look at any other. */
interface Share {
  readonly workload: SizedWorkload;
  /** One pod of it; undefined where no rollout needs room for one more. */
  readonly surge: QuotaUse | undefined;
  /** Undefined until it is asked for. */
  growth: Growth | undefined;
}

/** What pods are yet to take, none of them being missing, and no resize of one being under way. */
interface Growth extends Pick<PromisedUse, 'growth' | 'like'> {
  /** What was watched by then. */
  readonly ongoing: Watches['ongoing'];
}

/** Of a namespace. */
interface Asked {
  readonly byPod: ReadonlyMap<string, readonly SizeChange[]>;
  /** Uids of the workloads whose pods these are. */
  readonly workloads: ReadonlySet<string>;
}

const nothingAsked: Asked['byPod'] = new Map<string, never>();

/** Whether allocation shares out the CPU of a pod changes without a word. */
const RENEW_MILLIS: Millis = 10_000;

export function createPromisedBeside(options: PromisedBesideOptions): PromisedBeside {
  const { view, actingOn, isAllocated, resizes, clock } = options;
  const likes = new Map<string, QuotaSubject>();
  const ranges = new Map<string, readonly LimitRangeRecord[]>();
  const shares = createWorkloadFacts<Share>(view, (workload) => {
    const { namespace, containers, needsSurge, replicas } = workload;
    const isSurging = needsSurge === true && replicas > 0;
    const pod = (): QuotaUse => {
      const like = newestLive(view.podsOf(workload))?.sizing;
      return quotaGrowth([], withInjected(withLimitDefaults(ranges.get(namespace) ?? [], containers), like), []);
    };
    return { workload, surge: isSurging ? pod() : undefined, growth: undefined };
  });
  view.onChange((change) => {
    if (change.kind !== 'bounds') shares.note(change);
  });

  let renewedAt: EpochMillis = Number.NEGATIVE_INFINITY;
  const sharesOf = (namespace: string, now: EpochMillis): ReadonlyMap<string, Share> => {
    const present = view.limitRanges(namespace);
    const isSame = isSameList(present, ranges.get(namespace) ?? present);
    if (!isSame || now - renewedAt >= RENEW_MILLIS) {
      shares.clear();
      ranges.clear();
      likes.clear();
      renewedAt = now;
    }
    ranges.set(namespace, present);
    return shares.in(namespace);
  };

  const askedIn = (namespace: string): Asked => {
    const here = resizes().filter(({ pod }) => pod.namespace === namespace);
    const owners = here.flatMap(({ pod: { name } }) => {
      const found = view.pod(namespace, name)?.pod;
      return (found && view.workloadOf(found)) ?? [];
    });
    return {
      byPod: new Map(here.map(({ pod, changes }) => [pod.uid, changes])),
      workloads: new Set(owners.map(({ uid }) => uid)),
    };
  };

  const takenBy = (
    workload: SizedWorkload,
    ongoing: Watches['ongoing'],
    asked: Asked['byPod'],
    now: EpochMillis,
  ): PromisedUse => {
    const { annotations, containers } = workload;
    const pods = view.podsOf(workload);
    const states = readReplicaSizes(annotations[rightsizingKeys.replicaSizes], containers);
    const written = withAppliedSizes(containers, readAppliedSizes(annotations[rightsizingKeys.appliedSizes]));
    // Also what is only on its way to the first pod: whose answer is waited for is in no memory yet.
    const onTheirWay = pods.flatMap(({ pod }) => {
      const changes = asked.get(pod.uid) ?? [];
      return changes.length > 0 && stateOfPod(states, workload, pod) !== undefined ? [] : changes;
    });
    const begun = [...ongoing.flatMap(({ changes }) => changes), ...onTheirWay];
    return yetToTake({ workload, sizes: atLeast(written, begun), states, isAllocated, now }, pods);
  };

  const growthOf = (share: Share, ongoing: Watches['ongoing'], now: EpochMillis): Growth => {
    if (share.growth?.ongoing === ongoing) return share.growth;
    const { growth, like } = takenBy(share.workload, ongoing, nothingAsked, now);
    share.growth = { ongoing, growth, like: growth === noUse ? undefined : sharedLike(likes, like) };
    return share.growth;
  };

  return ({ namespace, uid }) => {
    const now = clock.now();
    const asked = askedIn(namespace);
    const unsettled = new Map(view.unsettled(namespace).map((workload) => [workload.uid, workload]));
    const promised: PromisedUse[] = [];
    const growing = new Map<QuotaSubject | undefined, QuotaUse>();
    let surge = noUse;
    for (const [other, share] of sharesOf(namespace, now)) {
      if (share.surge !== undefined) surge = mostOfBoth(surge, share.surge);
      const ongoing = other === uid ? undefined : actingOn(other)?.watches.ongoing;
      if (ongoing === undefined) continue;
      if (unsettled.has(other) || asked.workloads.has(other)) {
        promised.push(takenBy(share.workload, ongoing, asked.byPod, now));
        continue;
      }
      const { growth, like } = growthOf(share, ongoing, now);
      if (growth !== noUse) growing.set(like, addUse(growing.get(like) ?? noUse, growth));
    }
    let returning = noUse;
    for (const workload of unsettled.values()) {
      if (workload.uid === uid) continue;
      returning = addUse(returning, givenBack(workload, view.podsOf(workload), { isGoing: () => false, now }));
    }
    for (const [like, growth] of growing) promised.push({ growth, awaited: undefined, like });
    return { promised: surge === noUse ? promised : [...promised, onePod(surge)], returning };
  };
}

/** With more than its template says no pod is made where a quota has no room for that. */
function onePod(each: QuotaUse): PromisedUse {
  const awaited = { count: 1, each, least: each, returning: noUse, like: undefined };
  return { growth: noUse, awaited, like: undefined };
}

function mostOfBoth(left: QuotaUse, right: QuotaUse): QuotaUse {
  if (sizeKeys.every((key) => right[key] <= left[key])) return left;
  return quotaUse((key) => Math.max(left[key], right[key]));
}

/** One for all pods that quotas count alike: what grows of these is one sum, and no pod is held for it. */
function sharedLike(likes: Map<string, QuotaSubject>, like: QuotaSubject | undefined): QuotaSubject | undefined {
  if (like === undefined) return undefined;
  const { qos, priorityClassName, hasDeadline } = like;
  const key = `${qos}/${priorityClassName}/${hasDeadline === true}`;
  const shared = likes.get(key) ?? { qos, priorityClassName, hasDeadline };
  likes.set(key, shared);
  return shared;
}

/** The containers with whatever the changes have more of. */
function atLeast(
  containers: readonly ContainerSpecRecord[],
  changes: readonly SizeChange[],
): readonly ContainerSpecRecord[] {
  const sizes = changes.map(
    ({ container, to }, index) => [String(index), { sizes: new Map([[container, to]]) }] as const,
  );
  return mostOfAll(containers, new Map(sizes));
}
