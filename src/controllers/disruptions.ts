/**
 * Every disruption of every engine: what is under way, what was done, and whether one more is allowed. One budget for
 * all.
 */
import { createEvict, type Evict } from '../act/evict.ts';
import { isEnding, mayBeGone } from '../act/eviction-outcome.ts';
import type { KubeApi } from '../api/kube-api.ts';
import type { PodRef } from '../decide/decision.ts';
import type { PlacementPolicy } from '../decide/placement/policy.ts';
import type { GuardContext, InFlightEviction, Leadership } from '../guard/context.ts';
import { createDisruptionLog, type DisruptionLog } from '../guard/history.ts';
import type { DisruptionState } from '../guard/size/disruption-state.ts';
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { ClusterView } from '../model/cluster-view.ts';
import type { PodRecord, WorkloadRecord } from '../model/records.ts';
import { createAwaitedReplacements } from './awaited-replacements.ts';
import { createDisruptionTurns, type DisruptionTurns } from './disruption-turns.ts';
import { createEvictionsInFlight, type EvictionsInFlight } from './evictions-in-flight.ts';
import type { PlacementRules } from './placement/rules.ts';
import type { SpotWatch } from './spot-watch.ts';

export interface DisruptionsOptions {
  readonly api: KubeApi;
  readonly view: ClusterView;
  readonly rules: () => PlacementRules;
  readonly spot: SpotWatch;
  readonly leadership: () => Leadership;
  /** A resize of the pod was asked for and is not over: it is not evicted meanwhile. Left out, no engine resizes. */
  readonly isResizing?: ((podUid: string) => boolean) | undefined;
  readonly clock: Clock;
}

/** Where the window of a workload is told. */
type Annotated = Pick<WorkloadRecord, 'namespace' | 'annotations'>;

export interface Disruptions {
  /** What has been done; in memory only, so a new leader waits one cooldown before its first move (hazard H28). */
  readonly history: DisruptionLog;
  /** What is being done, of all engines: it counts against `placement.maxConcurrentEvictions`. */
  readonly inFlight: EvictionsInFlight;
  /** Who goes next where places are few; every engine asks it last. */
  readonly turns: DisruptionTurns;
  /** Recreates a pod that never ran: nothing is disrupted by that, so it takes no place and begins no cooldown. */
  readonly evict: Evict;
  /**
   * Evicts a pod that serves. It takes a place of the budget before it is asked for, as other workloads decide while
   * the answer is waited for, and keeps it until the pod is seen gone.
   */
  readonly disrupt: Evict;
  list(): readonly InFlightEviction[];
  /** Pods of the workload are ending as this replica begins to lead: the room of those to come is promised. */
  adoptReplacements(workloadUid: string): void;
  /** For the guard of decisions about a workload with this policy. */
  contextWith(policy: PlacementPolicy, workload: Annotated): GuardContext;
  /** The same, by the workload; undefined for one whose pods placement does not follow, such as a DaemonSet. */
  contextOf(workloadUid: string): GuardContext | undefined;
  /**
   * The same budget and windows as the guard of sizes sees them: an eviction and a restart for a size draw on one of
   * each (DESIGN 1, rule 1 between engines). Answers for any workload, also one that placement does not follow.
   * @param workload undefined where it is gone.
   */
  stateOf(workloadUid: string, workload: Annotated | undefined): DisruptionState;
  /**
   * The template of the workload is about to be changed: a rollout follows. It takes one place, under the workload's
   * uid, however many pods it replaces, as the workload's own strategy paces those.
   */
  beginRollout(workloadUid: string): void;
  /** It does not follow, or is over. */
  endRollout(workloadUid: string): void;
}

/** A pod that was evicted is seen to end well before this. */
const UNSURE_MILLIS: Millis = 60_000;

export function createDisruptions(options: DisruptionsOptions): Disruptions {
  const { view, rules, spot, clock } = options;
  // Both are asked each time: the configuration may change while the process runs.
  const history = createDisruptionLog({
    get initial() {
      return rules().settings.moveBackoffMillis.initial;
    },
    get max() {
      return rules().settings.moveBackoffMillis.max;
    },
  });
  const inFlight = createEvictionsInFlight(() => rules().settings.stuckRolloutMillis);
  const replacements = createAwaitedReplacements(view);
  /** Pods of which nobody knows whether they were evicted, and since when. */
  const unsure = new Map<string, { readonly pod: PodRef; readonly since: EpochMillis }>();
  /** What turns out not to have been made gives its place back: waiting for its end would be waiting for nothing. */
  const forgetUnmade = (): void => {
    const { synced, stale } = view.freshness();
    for (const [uid, { pod, since }] of unsure) {
      if (clock.now() - since < UNSURE_MILLIS || !synced || stale.length > 0) continue;
      unsure.delete(uid);
      const seen = view.pod(pod.namespace, pod.name);
      if (seen?.uid === uid && seen.deletingAt === undefined) inFlight.remove(uid);
    }
  };
  const list = (): readonly InFlightEviction[] => {
    forgetUnmade();
    return inFlight.list(clock.now());
  };

  const turns = createDisruptionTurns({
    history,
    free: () => rules().settings.maxConcurrentEvictions - list().length,
    clock,
  });
  inFlight.onFreed(turns.offer);

  const contextWith = (policy: PlacementPolicy, workload: Annotated): GuardContext => {
    const { settings, sides, readTimes } = rules();
    let covers: number | undefined;
    return {
      view,
      sides,
      settings,
      policy,
      history,
      inFlight: list(),
      leadership: options.leadership(),
      spot: spot.memory,
      // Few rules ask, and in a storm there are many to count.
      get waitingCovers() {
        covers ??= spot.waitingCovers(workload.namespace);
        return covers;
      },
      ...replacements.look(clock.now()),
      times: readTimes(view, workload),
      isResizing: options.isResizing,
      now: clock.now(),
    };
  };

  const contextOf = (workloadUid: string): GuardContext | undefined => {
    const workload = view.workloadByUid(workloadUid);
    return workload && contextWith(rules().readPolicy(view, workload), workload);
  };

  const evict = createEvict(options.api);
  const disrupt: Evict = async (approved, signal) => {
    const { workloadUid, pod } = approved.decision;
    const graceMillis = graceOf(view.pod(pod.namespace, pod.name));
    inFlight.add({ workloadUid, podUid: pod.uid, since: clock.now(), graceMillis });
    replacements.expect(approved.decision, rules().sides, clock.now());
    const outcome = await evict(approved, signal);
    // From the answer on: when within the call the pod went is not known, and the pause must not be shorter for it.
    if (mayBeGone(outcome)) history.recordDisruption(workloadUid, clock.now());
    else replacements.withdraw(pod.uid);
    if (outcome.result === 'unknown') unsure.set(pod.uid, { pod, since: clock.now() });
    if (!isEnding(outcome)) inFlight.remove(pod.uid);
    return outcome;
  };

  return {
    history,
    inFlight,
    turns,
    evict,
    disrupt,
    list,
    adoptReplacements: (workloadUid) => replacements.adopt(workloadUid, rules().sides, clock.now()),
    contextWith,
    contextOf,
    stateOf(workloadUid, workload) {
      const { settings, readTimes } = rules();
      return {
        ...readTimes(view, view.workloadByUid(workloadUid) ?? workload),
        last: history.lastDisruption(workloadUid),
        cooldownMillis: settings.cooldownMillis,
        allowSingleReplica: settings.allowSingleReplica,
        stuckMillis: settings.stuckRolloutMillis,
        storm: spot.memory.storm(clock.now()),
        inFlight: list().length,
        limit: settings.maxConcurrentEvictions,
      };
    },
    beginRollout(workloadUid) {
      inFlight.add({ workloadUid, podUid: workloadUid, since: clock.now(), isRollout: true });
    },
    endRollout: (workloadUid) => void inFlight.remove(workloadUid),
  };
}

/** What the eviction API gives a pod, as no eviction of ours asks for less. */
function graceOf(pod: PodRecord | undefined): Millis {
  return (pod?.template.terminationGraceSeconds ?? 0) * 1000;
}
