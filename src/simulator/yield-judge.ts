/** Holds the sizing engines to leaving alone what another writer sizes. */
import type { KubeObject, Pod } from '../api/core.ts';
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { Ledger } from './ledger.ts';
import { createRecentCounts } from './recent-counts.ts';
import { isTakenBack } from './resize-state.ts';

export interface YieldJudge {
  /** Another writer resized the pod. */
  podTaken(pod: Pod): void;
  /** Stowage resized the pod. */
  resized(pod: Pod, told: string): void;
  /** Stowage evicts the pod, so that its replacement has another size. */
  evicted(pod: Pod): void;
  /** The pod is gone. */
  forget(podUid: string): void;
  /** Another writer changed the sizes of a template. */
  templateTaken(workload: KubeObject): void;
  /** Stowage did. */
  retemplated(workload: KubeObject, told: string): void;
  /** Replicas of the operator came or went: what it has tried in vain it may try anew. */
  onOperatorChange(): void;
}

/** Watches may be late, and a request under way is not called back. */
const GRACE_MILLIS: Millis = 120_000;
const HOUR: Millis = 3_600_000;
/** Of one template, after another writer has changed it. */
const MOST_PER_HOUR = 4;

export function createYieldJudge(clock: Clock, { check }: Ledger): YieldJudge {
  const takenAt = new Map<string, EpochMillis>();
  /** Uids of workloads. */
  const contested = new Set<string>();
  let written = createRecentCounts(clock, HOUR);
  return {
    podTaken({ metadata }) {
      const uid = metadata?.uid ?? '';
      takenAt.set(uid, takenAt.get(uid) ?? clock.now());
    },
    resized(pod, told) {
      const since = takenAt.get(pod.metadata?.uid ?? '');
      if (since === undefined) return;
      const isLeft = clock.now() - since <= GRACE_MILLIS || isTakenBack(pod);
      check('yields', isLeft, () => `${nameOf(pod)}: ${told}, ${clock.now() - since} ms after another writer`);
    },
    evicted(pod) {
      const since = takenAt.get(pod.metadata?.uid ?? '');
      if (since === undefined) return;
      const age = clock.now() - since;
      check('yields', age <= GRACE_MILLIS, () => `${nameOf(pod)} evicted for its size, ${age} ms after another writer`);
    },
    forget(podUid) {
      // It was his all its life.
      if (takenAt.delete(podUid)) check('yields', true, () => '');
    },
    templateTaken: ({ metadata }) => void contested.add(metadata?.uid ?? ''),
    retemplated(workload, told) {
      const uid = workload.metadata?.uid ?? '';
      if (!contested.has(uid)) return;
      const count = written.add(uid);
      check('yields', count <= MOST_PER_HOUR, () => `${nameOf(workload)}: ${told}, ${count} times within an hour`);
    },
    onOperatorChange() {
      written = createRecentCounts(clock, HOUR);
    },
  };
}

function nameOf({ metadata }: KubeObject): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}
