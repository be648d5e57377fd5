/** Feeds the memory of spot from the live view: pods that set out and land, waiting cover, nodes that come and are lost. */
import { noticeGivenUp } from '../decide/placement/notice-stranded.ts';
import { createSpotMemory, type SpotMemory } from '../decide/placement/spot-memory.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { isLive, resolveOwner } from '../model/owners.ts';
import type { NodeRecord, PodRecord, WorkloadRecord } from '../model/records.ts';
import { poolOf } from '../model/spot-pool.ts';
import type { LiveView } from '../observe/live-view.ts';
import type { PlacementRules } from './placement/rules.ts';

/** Fed from the moment it is made; what happened before is not known, and counts as nothing. */
export interface SpotWatch {
  readonly memory: SpotMemory;
  /**
   * Pods in the whole cluster that cover for spot and have no node yet, those asked for that are still to be seen among
   * them: as long as there are many, on-demand has no room for more of them. Where their number is at its limit, a
   * namespace that has less than its part of it is told one less than that: whoever owns a namespace can have pods that
   * wait for ever.
   */
  waitingCovers(namespace: string): number;
  /** Call before a pod is asked to go so that its replacement covers for spot: others decide meanwhile. */
  askCover(podUid: string, workloadUid: string): void;
  /** The pod was not asked to go after all. */
  withdrawCover(podUid: string): void;
}

export interface SpotWatchOptions {
  readonly view: LiveView;
  readonly rules: () => PlacementRules;
  readonly clock: Clock;
  readonly random: Random;
}

/** So that workloads whose pods failed together do not try again together. Part of the pause, either way. */
const JITTER = 0.25;
/** What a probe is given beyond the patience for a waiting pod: to be made, and to be looked at. */
const PROBE_SLACK_MILLIS: Millis = 120_000;
/** A cover that is not seen by then is not made (a quota, a paused workload), and so waits for no node. */
const UNSEEN_COVER_MILLIS: Millis = 60_000;

/** Watches for as long as the view lives. Every replica of the operator has one, as each decides about admissions. */
export function createSpotWatch({ view, rules, clock, random }: SpotWatchOptions): SpotWatch {
  const startedAt = clock.now();
  const waiting = new Map<string, PodRecord>();
  /** By the uid of the pod that goes. */
  const asked = new Map<string, { readonly workloadUid: string; readonly at: EpochMillis }>();
  const memory = createSpotMemory({
    random,
    backoff: () => {
      const { initial, max } = rules().settings.moveBackoffMillis;
      return { initialMillis: initial, factor: 2, maxMillis: max, jitter: JITTER };
    },
    probeLimitMillis: () => rules().settings.fallback.afterMillis + PROBE_SLACK_MILLIS,
  });

  /** Undefined where it is not enabled. */
  const workloadOf = ({ namespace, owner }: PodRecord): WorkloadRecord | undefined => {
    const found = resolveOwner(view, namespace, owner);
    return found.kind === 'workload' && found.workload.enabled ? found.workload : undefined;
  };
  const isOurs = (pod: PodRecord): boolean => workloadOf(pod) !== undefined;
  /** One that is there is no longer one to come. Which of several asked for it is does not matter. */
  const noteSeen = (cover: PodRecord): void => {
    const owner = resolveOwner(view, cover.namespace, cover.owner);
    if (owner.kind !== 'workload') return;
    const [podUid] = [...asked].find(([, { workloadUid }]) => workloadUid === owner.workload.uid) ?? [];
    if (podUid !== undefined) asked.delete(podUid);
  };
  const noteCover = (before: PodRecord | undefined, after: PodRecord | undefined): void => {
    if (before !== undefined && before.uid !== after?.uid) waiting.delete(before.uid);
    if (after === undefined) return;
    if (after.fallback && before?.uid !== after.uid) noteSeen(after);
    if (after.fallback && after.nodeName === undefined && isLive(after)) waiting.set(after.uid, after);
    else waiting.delete(after.uid);
  };
  const coversByNamespace = (): ReadonlyMap<string, number> => {
    const now = clock.now();
    for (const [podUid, { at }] of asked) if (now - at >= UNSEEN_COVER_MILLIS) asked.delete(podUid);
    const counts = new Map<string, number>();
    const add = (namespace: string): void => void counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
    for (const { workloadUid } of asked.values()) add(view.workloadByUid(workloadUid)?.namespace ?? '');
    // Anybody may annotate a pod of his; cover is what a workload of ours has.
    for (const pod of waiting.values()) if (isOurs(pod)) add(pod.namespace);
    return counts;
  };
  /** A pod of ours was sent to spot, and no node has been chosen for it yet. */
  const noteOnItsWay = (before: PodRecord | undefined, after: PodRecord | undefined): void => {
    const isSent = after?.capacity === 'spot' && isLive(after) && after.nodeName === undefined;
    if (isSent && after.unschedulableSince === undefined && isOurs(after)) memory.setOut(after.uid, clock.now());
    else if (before?.capacity === 'spot') memory.arrived(before.uid);
  };
  /** A pod of ours was bound to a spot node: spot has room after all. */
  const noteLanding = (before: PodRecord | undefined, after: PodRecord | undefined): void => {
    if (after?.nodeName === undefined || before?.nodeName !== undefined) return;
    // What the first list brings has landed before anybody watched.
    if (before === undefined && after.createdAt < startedAt) return;
    const node = view.node(after.nodeName);
    if (node === undefined || rules().sides.classOf(node) !== 'spot') return;
    const workload = workloadOf(after);
    if (workload !== undefined) memory.recordLanded(workload.uid, clock.now());
  };
  /** A pod of ours was evicted: perhaps the leader recreates it, as it found no room on spot. */
  const noteGivenUp = (before: PodRecord | undefined, after: PodRecord | undefined): void => {
    if (before === undefined || before.evictedAt !== undefined || after?.evictedAt === undefined) return;
    const workload = workloadOf(after);
    if (workload === undefined) return;
    const { sides, settings } = rules();
    noticeGivenUp(memory, { sides, settings, workload, pod: before, evictedAt: after.evictedAt, now: clock.now() });
  };
  /**
   * A spot node that goes while pods run on it was reclaimed, as far as anybody can tell; one that is empty was given
   * back. One that is merely of another class now, by its labels or the configuration, is still there.
   */
  const noteNode = (before: NodeRecord | undefined, after: NodeRecord | undefined): void => {
    const now = clock.now();
    if (before !== undefined && before.uid !== after?.uid) memory.gone(before.uid, isInUse(view, before), now);
    if (after === undefined) return;
    const { sides } = rules();
    const isSpot = sides.classOf(after) === 'spot';
    const stands = isSpot && after.ready && sides.leavingCause(after) === undefined;
    if (stands) memory.standing(after.uid, poolOf(after));
    else memory.gone(after.uid, isSpot && isInUse(view, after), now);
  };

  view.onPod((before, after) => {
    noteCover(before, after);
    noteOnItsWay(before, after);
    noteLanding(before, after);
    noteGivenUp(before, after);
  });
  view.onNode(noteNode);
  view.onChange((change) => {
    if (change.kind === 'workload-deleted') memory.forgetWorkload(change.uid);
  });
  return {
    memory,
    waitingCovers(namespace) {
      const counts = coversByNamespace();
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const { maxConcurrent: limit } = rules().settings.fallback;
      const own = counts.get(namespace) ?? 0;
      const sharers = counts.has(namespace) ? counts.size : counts.size + 1;
      return own < Math.max(1, Math.floor(limit / sharers)) ? Math.min(total, limit - 1) : total;
    },
    askCover: (podUid, workloadUid) => void asked.set(podUid, { workloadUid, at: clock.now() }),
    withdrawCover: (podUid) => void asked.delete(podUid),
  };
}

/** An autoscaler takes back what is empty; every node has its DaemonSets' pods. */
function isInUse(view: LiveView, node: NodeRecord): boolean {
  return view
    .podsOnNode(node.name)
    .some((pod) => isLive(pod) && pod.owner !== undefined && pod.owner.kind !== 'DaemonSet');
}
