/**
 * Follows what pods are given and use, for the workloads somebody has opened a page of, and for an hour after that. Usage is nowhere
 * else kept by pod: for ten thousand pods it would take megabytes that nobody may ever look at. Nothing is listened to, and nothing is
 * in memory, before the first look and an hour after the last one.
 */
import type { Clock } from '../../lib/clock.ts';
import { tryParseMillicores } from '../../lib/quantity.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { type WorkloadRef, workloadKey } from '../../model/cluster-view.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import { createShareTrack, KEPT_MILLIS, type ShareStep, type ShareTrack } from './share-track.ts';
import type { AllocationSource } from './sources.ts';

export interface FollowedShares {
  /** Nothing of before is known. */
  readonly since: EpochMillis;
  /** By name of the pod. */
  readonly pods: ReadonlyMap<string, Pick<ShareTrack, 'steps' | 'endedAt'>>;
  /** Pods that are not followed, as there are too many. */
  readonly omitted: number;
}

export interface ShareRecorder {
  /** Tells what is known by now, and goes on following. Undefined for a workload that is not there. */
  look(ref: WorkloadRef): FollowedShares | undefined;
}

export interface ShareRecorderOptions {
  readonly view: Pick<SizingView, 'workload' | 'workloadOf' | 'podsOf' | 'pod'>;
  readonly allocation: Pick<AllocationSource, 'of' | 'onChange'>;
  readonly clock: Clock;
}

/** With 90 steps of 24 bytes a pod: 280 KB at the very most. */
const MAX_WORKLOADS = 8;
const MAX_PODS = 16;
const FOLLOWED_MILLIS: Millis = KEPT_MILLIS;

interface Followed {
  readonly ref: WorkloadRef;
  readonly since: EpochMillis;
  readonly tracks: Map<string, ShareTrack>;
  lookedAt: EpochMillis;
}

export function createShareRecorder({ view, allocation, clock }: ShareRecorderOptions): ShareRecorder {
  /** By key, the one looked at last at the end. */
  const followed = new Map<string, Followed>();
  let unsubscribe: (() => void) | undefined;

  const forgetUnwatched = (now: EpochMillis): void => {
    for (const [key, { lookedAt }] of followed) {
      if (now - lookedAt > FOLLOWED_MILLIS || followed.size > MAX_WORKLOADS) followed.delete(key);
    }
    if (followed.size > 0) return;
    unsubscribe?.();
    unsubscribe = undefined;
  };

  const note = (workload: Followed, { pod }: SizedPod, record: AllocationRecord, now: EpochMillis): void => {
    const known = workload.tracks.get(pod.name);
    if (known === undefined && workload.tracks.size >= MAX_PODS && !dropOldestEnded(workload.tracks)) return;
    const track = known ?? createShareTrack();
    workload.tracks.set(pod.name, track);
    track.add(stepOf(record, pod.template.requests.cpuMillis, now));
  };

  const onChange = (before: AllocationRecord | undefined, after: AllocationRecord | undefined): void => {
    const now = clock.now();
    forgetUnwatched(now);
    const record = after ?? before;
    if (record === undefined) return;
    for (const workload of followed.values()) {
      if (workload.ref.namespace !== record.namespace) continue;
      const sized = view.pod(record.namespace, record.podName);
      if (after === undefined || sized === undefined) {
        workload.tracks.get(record.podName)?.end(now);
      } else if (workload.tracks.has(record.podName) || isOf(workload.ref, sized)) {
        note(workload, sized, after, now);
      }
    }
  };

  const isOf = (ref: WorkloadRef, { pod }: SizedPod): boolean => {
    const owner = view.workloadOf(pod);
    return owner !== undefined && workloadKey(owner) === workloadKey(ref);
  };

  return {
    look(ref) {
      const now = clock.now();
      const sized = view.workload(ref);
      if (sized === undefined) return undefined;
      const key = workloadKey(ref);
      const workload = followed.get(key) ?? { ref, since: now, tracks: new Map<string, ShareTrack>(), lookedAt: now };
      workload.lookedAt = now;
      followed.delete(key);
      followed.set(key, workload);
      forgetUnwatched(now);
      for (const [name, track] of workload.tracks) {
        track.forget(now - KEPT_MILLIS);
        if (now - (track.endedAt ?? now) > KEPT_MILLIS) workload.tracks.delete(name);
      }
      const allocated = view.podsOf(sized).flatMap((pod) => {
        const record = allocation.of(pod.pod);
        return record === undefined ? [] : [{ pod, record }];
      });
      for (const { pod, record } of allocated) note(workload, pod, record, now);
      unsubscribe ??= allocation.onChange(onChange);
      const omitted = allocated.filter(({ pod }) => !workload.tracks.has(pod.pod.name)).length;
      return { since: workload.since, pods: workload.tracks, omitted };
    },
  };
}

/** Pods that run come before those that are gone, which all are after a rollout. @returns whether there was one to drop. */
function dropOldestEnded(tracks: Map<string, ShareTrack>): boolean {
  let oldest: { readonly pod: string; readonly endedAt: EpochMillis } | undefined;
  for (const [pod, { endedAt }] of tracks)
    if (endedAt !== undefined && endedAt < (oldest?.endedAt ?? Number.POSITIVE_INFINITY)) oldest = { pod, endedAt };
  return oldest !== undefined && tracks.delete(oldest.pod);
}

/** What the pod has in force; as its spec asks, while nobody has said. */
function stepOf({ spec, status }: AllocationRecord, requested: number, at: EpochMillis): ShareStep {
  return {
    at,
    given: tryParseMillicores(status.appliedCPURequest) ?? requested,
    used: tryParseMillicores(spec.decision?.cpuUsage),
  };
}
