/**
 * Whether spot can be had, as far as pods have shown: a circuit breaker a workload, one a namespace and one for all.
 * Stranded pods close it, a growing pause later one probe may try again, a pod that lands opens it. No I/O; fed by
 * whoever sees the pods.
 */
import type { EpochMillis } from '../../lib/units.ts';
import { createSpotBreaker, type SpotBreaker, type SpotBreakerOptions } from './spot-breaker.ts';
import type { SpotOutlook, SpotState } from './spot-outlook.ts';

export interface SpotAvailability extends Pick<SpotOutlook, 'stateOf' | 'lastLanded'> {
  /**
   * Whether a pod of the workload may be sent to spot now: spot is open, or this is the probe.
   * @param requestUid of the pod's admission, which may be decided more than once.
   */
  mayClaim(workloadUid: string, requestUid: string, now: EpochMillis): boolean;
  /**
   * A pod of the workload is sent to spot. While probing, it is the probe, or the replacement the probe is made of,
   * unless another one is.
   */
  claim(workloadUid: string, requestUid: string, now: EpochMillis): void;
  /** A pod is about to be moved to spot: its replacement, whose admission follows, will be the probe. */
  startProbe(workloadUid: string, now: EpochMillis): void;
  /** That pod stays after all: another may be the probe, unless an admission has claimed it meanwhile. */
  cancelProbe(workloadUid: string): void;
  /**
   * A pod of the workload has waited for spot longer than is acceptable. Closes spot, for longer each time; no matter
   * while it is closed, so it may be told again and again.
   * @param since when the pod began to wait.
   * @param witness whose word it is that others would find no room either, as the pod asks for nothing but spot: its
   * namespace; undefined where the pod has wishes of its own.
   */
  recordStranded(workloadUid: string, since: EpochMillis, witness: string | undefined, now: EpochMillis): void;
  /** A pod of the workload found a place on spot. */
  recordLanded(workloadUid: string, now: EpochMillis): void;
  /**
   * What can be told of a workload nothing is remembered of (a process that just started) by its pods: with temporary
   * cover running, spot counts as closed at the time the newest of it was made.
   */
  introduce(workloadUid: string, namespace: string, newestCoverAt: EpochMillis | undefined): void;
  forgetWorkload(workloadUid: string): void;
}

/** An ordinary workload whose pods were stranded. */
interface Witness {
  readonly namespace: string;
  /** Its pod waits since then. */
  readonly since: EpochMillis;
  readonly toldAt: EpochMillis;
}

/**
 * One workload may be at fault itself; two that ask for nothing special are not, for their namespace. For everybody it
 * takes two namespaces: whoever owns one can strand as many pods as he likes, with requests no node has.
 */
const WITNESSES = 2;

export function createSpotAvailability(options: SpotBreakerOptions): SpotAvailability {
  const workloads = new Map<string, SpotBreaker>();
  const namespaces = new Map<string, SpotBreaker>();
  /** For every workload: closed when ordinary ones of several namespaces found no room. */
  const all = createSpotBreaker(options);
  const stranded = new Map<string, Witness>();
  /** Of each workload that is known. */
  const namespaceOf = new Map<string, string>();

  const breakerIn = (known: Map<string, SpotBreaker>, name: string): SpotBreaker => {
    const breaker = known.get(name) ?? createSpotBreaker(options);
    known.set(name, breaker);
    return breaker;
  };
  const sharedBy = (workloadUid: string): SpotBreaker[] => {
    const shared = namespaces.get(namespaceOf.get(workloadUid) ?? '');
    return shared === undefined ? [all] : [shared, all];
  };
  const involved = (workloadUid: string): SpotBreaker[] => {
    const own = workloads.get(workloadUid);
    return own === undefined ? sharedBy(workloadUid) : [own, ...sharedBy(workloadUid)];
  };
  /** Workloads that found no room since a pod last landed. */
  const agreeing = (breaker: SpotBreaker): Witness[] => {
    const landedAt = breaker.landedAt() ?? Number.NEGATIVE_INFINITY;
    return [...stranded.values()].filter(({ since }) => since > landedAt);
  };
  const setProbe = (workloadUid: string, claimedBy: string | undefined, now: EpochMillis): void => {
    for (const breaker of involved(workloadUid)) breaker.probe(workloadUid, claimedBy, now);
  };

  return {
    stateOf: (workloadUid, now) =>
      involved(workloadUid)
        .map((breaker) => breaker.stateAt(now))
        .reduce(stricter),
    lastLanded: (workloadUid) => workloads.get(workloadUid)?.landedAt(),
    mayClaim: (workloadUid, requestUid, now) =>
      involved(workloadUid).every((breaker) => breaker.lets(workloadUid, requestUid, now)),
    claim: (workloadUid, requestUid, now) => setProbe(workloadUid, requestUid, now),
    startProbe: (workloadUid, now) => setProbe(workloadUid, undefined, now),
    cancelProbe(workloadUid) {
      for (const breaker of involved(workloadUid)) breaker.endProbe(workloadUid, false);
    },
    recordStranded(workloadUid, since, witness, now) {
      closeUnlessClosed(breakerIn(workloads, workloadUid), now);
      if (witness === undefined) return;
      namespaceOf.set(workloadUid, witness);
      stranded.set(workloadUid, { namespace: witness, since, toldAt: now });
      const shared = breakerIn(namespaces, witness);
      const ofNamespace = agreeing(shared).filter(({ namespace }) => namespace === witness);
      if (ofNamespace.length >= WITNESSES) closeUnlessClosed(shared, now);
      const state = all.stateAt(now);
      if (state.kind === 'closed') return;
      // What was said before the pause is over is no witness against what is found out now.
      const anew = agreeing(all).filter(({ toldAt }) => state.kind === 'open' || toldAt >= state.since);
      if (new Set(anew.map(({ namespace }) => namespace)).size >= WITNESSES) all.close(now);
      // Alone it says nothing about the others: one of them may try.
      else all.endProbe(workloadUid, true);
    },
    recordLanded(workloadUid, now) {
      breakerIn(workloads, workloadUid).open(now);
      stranded.delete(workloadUid);
      // Whatever one pod was given, others may be given too.
      for (const shared of sharedBy(workloadUid)) shared.open(now);
    },
    introduce(workloadUid, namespace, newestCoverAt) {
      namespaceOf.set(workloadUid, namespace);
      if (workloads.has(workloadUid)) return;
      const breaker = breakerIn(workloads, workloadUid);
      if (newestCoverAt !== undefined) breaker.close(newestCoverAt);
    },
    forgetWorkload(workloadUid) {
      for (const shared of sharedBy(workloadUid)) shared.endProbe(workloadUid, true);
      workloads.delete(workloadUid);
      stranded.delete(workloadUid);
      const namespace = namespaceOf.get(workloadUid) ?? '';
      namespaceOf.delete(workloadUid);
      // The last of its namespace.
      if (namespaces.has(namespace) && ![...namespaceOf.values()].includes(namespace)) namespaces.delete(namespace);
    },
  };
}

function closeUnlessClosed(breaker: SpotBreaker, now: EpochMillis): void {
  if (breaker.stateAt(now).kind !== 'closed') breaker.close(now);
}

/** Closed over probing over open; of two closed ones the longer, of two probing ones the one that is taken. */
function stricter(a: SpotState, b: SpotState): SpotState {
  const ranks = { open: 0, probing: 1, closed: 2 } as const;
  if (ranks[a.kind] !== ranks[b.kind]) return ranks[a.kind] > ranks[b.kind] ? a : b;
  if (a.kind === 'closed' && b.kind === 'closed') return a.until >= b.until ? a : b;
  if (a.kind === 'probing' && b.kind === 'probing') return a.isTaken ? a : b;
  return a;
}
