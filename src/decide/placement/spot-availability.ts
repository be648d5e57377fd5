/**
 * Whether spot can be had, as far as pods have shown: a circuit breaker a workload, one a namespace and one for all.
 * Stranded pods close it, a growing pause later one probe may try again, a pod that lands opens it. No I/O; fed by
 * whoever sees the pods.
 */
import { type BackoffPolicy, backoffDelay } from '../../lib/backoff.ts';
import type { Random } from '../../lib/random.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { SpotOutlook, SpotState } from './spot-outlook.ts';

export interface SpotAvailability extends Pick<SpotOutlook, 'stateOf' | 'lastLanded'> {
  /**
   * Whether a pod of the workload may be sent to spot now: spot is open, or this is the probe.
   * @param requestUid of the pod's admission, which may be decided more than once.
   */
  mayClaim(workloadUid: string, requestUid: string, now: EpochMillis): boolean;
  /** A pod of the workload is sent to spot. While probing, it is the probe, or the replacement the probe is made of. */
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

export interface SpotAvailabilityOptions {
  readonly random: Random;
  /** Pauses before spot is tried again. */
  readonly backoff: () => BackoffPolicy;
  /** A probe that is neither seen to land nor to wait by then (denied by a quota) gives its turn back. */
  readonly probeLimitMillis: () => Millis;
}

interface Probe {
  readonly workloadUid: string;
  readonly at: EpochMillis;
  /** Uid of the admission of the pod; undefined while that is still to come. */
  readonly claimedBy: string | undefined;
}

/** Closed, then probing, then open or closed again for longer. Of one workload, of a namespace, or of all. */
interface Breaker {
  /** Closures in a row. */
  failures: number;
  closed: { readonly since: EpochMillis; readonly until: EpochMillis } | undefined;
  probe: Probe | undefined;
  /** When a pod last found a place; while open, the age of that is what failures are forgotten by. */
  landedAt: EpochMillis | undefined;
  /** Open for this long, failures are forgotten: twice the last pause. */
  memoryMillis: Millis;
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

export function createSpotAvailability(options: SpotAvailabilityOptions): SpotAvailability {
  const { random, backoff, probeLimitMillis } = options;
  const breakers = new Map<string, Breaker>();
  const namespaces = new Map<string, Breaker>();
  /** For every workload: closed when ordinary ones of several namespaces found no room. */
  const all = newBreaker();
  const stranded = new Map<string, Witness>();
  /** Of each workload that is known. */
  const namespaceOf = new Map<string, string>();

  const breakerIn = (known: Map<string, Breaker>, name: string): Breaker => {
    const breaker = known.get(name) ?? newBreaker();
    known.set(name, breaker);
    return breaker;
  };
  const probeOf = ({ probe }: Breaker, now: EpochMillis): Probe | undefined =>
    probe === undefined || probe.at + probeLimitMillis() <= now ? undefined : probe;
  const stateOfBreaker = (breaker: Breaker, now: EpochMillis): SpotState => {
    const { closed } = breaker;
    if (closed === undefined) return { kind: 'open' };
    if (now < closed.until) return { kind: 'closed', ...closed };
    return { kind: 'probing', since: closed.until, isTaken: probeOf(breaker, now) !== undefined };
  };
  const sharedBy = (workloadUid: string): Breaker[] => {
    const shared = namespaces.get(namespaceOf.get(workloadUid) ?? '');
    return shared === undefined ? [all] : [shared, all];
  };
  const involved = (workloadUid: string): Breaker[] => {
    const own = breakers.get(workloadUid);
    return own === undefined ? sharedBy(workloadUid) : [own, ...sharedBy(workloadUid)];
  };
  /**
   * Failures outlive a short opening: a pool that takes one pod and then none is tried ever more seldom (hysteresis,
   * hazard H6).
   */
  const close = (breaker: Breaker, now: EpochMillis): void => {
    const isForgotten = breaker.landedAt !== undefined && breaker.landedAt + breaker.memoryMillis <= now;
    breaker.failures = isForgotten && breaker.closed === undefined ? 1 : breaker.failures + 1;
    const pause = backoffDelay(backoff(), breaker.failures, random);
    breaker.memoryMillis = 2 * pause;
    breaker.closed = { since: now, until: now + pause };
    breaker.probe = undefined;
  };
  const open = (breaker: Breaker, now: EpochMillis): void => {
    breaker.closed = undefined;
    breaker.probe = undefined;
    breaker.landedAt = now;
  };
  /** Workloads that found no room since a pod last landed. */
  const agreeing = ({ landedAt = Number.NEGATIVE_INFINITY }: Breaker): Witness[] =>
    [...stranded.values()].filter(({ since }) => since > landedAt);
  const setProbe = (workloadUid: string, now: EpochMillis, claimedBy: string | undefined): void => {
    for (const breaker of involved(workloadUid)) {
      if (stateOfBreaker(breaker, now).kind === 'probing') breaker.probe = { workloadUid, at: now, claimedBy };
    }
  };

  return {
    stateOf(workloadUid, now) {
      return involved(workloadUid)
        .map((breaker) => stateOfBreaker(breaker, now))
        .reduce(stricter);
    },
    lastLanded: (workloadUid) => breakers.get(workloadUid)?.landedAt,
    mayClaim(workloadUid, requestUid, now) {
      return involved(workloadUid).every((breaker) => {
        const state = stateOfBreaker(breaker, now);
        if (state.kind !== 'probing') return state.kind === 'open';
        const probe = probeOf(breaker, now);
        if (probe === undefined || probe.claimedBy === requestUid) return true;
        return probe.workloadUid === workloadUid && probe.claimedBy === undefined;
      });
    },
    claim: (workloadUid, requestUid, now) => setProbe(workloadUid, now, requestUid),
    startProbe: (workloadUid, now) => setProbe(workloadUid, now, undefined),
    cancelProbe(workloadUid) {
      for (const breaker of involved(workloadUid)) {
        const { probe } = breaker;
        if (probe?.workloadUid === workloadUid && probe.claimedBy === undefined) breaker.probe = undefined;
      }
    },
    recordStranded(workloadUid, since, witness, now) {
      const own = breakerIn(breakers, workloadUid);
      if (stateOfBreaker(own, now).kind !== 'closed') close(own, now);
      if (witness === undefined) return;
      namespaceOf.set(workloadUid, witness);
      stranded.set(workloadUid, { namespace: witness, since, toldAt: now });
      const shared = breakerIn(namespaces, witness);
      const ofNamespace = agreeing(shared).filter(({ namespace }) => namespace === witness);
      if (ofNamespace.length >= WITNESSES && stateOfBreaker(shared, now).kind !== 'closed') close(shared, now);
      const state = stateOfBreaker(all, now);
      if (state.kind === 'closed') return;
      // What was said before the pause is over is no witness against what is found out now.
      const anew = agreeing(all).filter(({ toldAt }) => state.kind === 'open' || toldAt >= state.since);
      if (new Set(anew.map(({ namespace }) => namespace)).size >= WITNESSES) close(all, now);
      // Alone it says nothing about the others: one of them may try.
      else if (all.probe?.workloadUid === workloadUid) all.probe = undefined;
    },
    recordLanded(workloadUid, now) {
      open(breakerIn(breakers, workloadUid), now);
      stranded.delete(workloadUid);
      // Whatever one pod was given, others may be given too.
      for (const shared of sharedBy(workloadUid)) open(shared, now);
    },
    introduce(workloadUid, namespace, newestCoverAt) {
      namespaceOf.set(workloadUid, namespace);
      if (breakers.has(workloadUid)) return;
      const breaker = breakerIn(breakers, workloadUid);
      if (newestCoverAt !== undefined) close(breaker, newestCoverAt);
    },
    forgetWorkload(workloadUid) {
      for (const shared of sharedBy(workloadUid)) {
        if (shared.probe?.workloadUid === workloadUid) shared.probe = undefined;
      }
      breakers.delete(workloadUid);
      stranded.delete(workloadUid);
      const namespace = namespaceOf.get(workloadUid) ?? '';
      namespaceOf.delete(workloadUid);
      // The last of its namespace.
      if (namespaces.has(namespace) && ![...namespaceOf.values()].includes(namespace)) namespaces.delete(namespace);
    },
  };
}

function newBreaker(): Breaker {
  return { failures: 0, closed: undefined, probe: undefined, landedAt: undefined, memoryMillis: 0 };
}

/** Closed over probing over open; of two closed ones the longer, of two probing ones the one that is taken. */
function stricter(a: SpotState, b: SpotState): SpotState {
  const ranks = { open: 0, probing: 1, closed: 2 } as const;
  if (ranks[a.kind] !== ranks[b.kind]) return ranks[a.kind] > ranks[b.kind] ? a : b;
  if (a.kind === 'closed' && b.kind === 'closed') return a.until >= b.until ? a : b;
  if (a.kind === 'probing' && b.kind === 'probing') return a.isTaken ? a : b;
  return a;
}
