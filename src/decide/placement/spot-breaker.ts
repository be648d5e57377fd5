/**
 * A circuit breaker on spot: closed when pods find no room there, after a pause open for one pod that probes, and open
 * again when one lands. Who shares one is for spot-availability.ts to say.
 */
import { type BackoffPolicy, backoffDelay } from '../../lib/backoff.ts';
import type { Random } from '../../lib/random.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { SpotState } from './spot-outlook.ts';

export interface SpotBreakerOptions {
  readonly random: Random;
  /** Pauses before spot is tried again; asked at each closure. */
  readonly backoff: () => BackoffPolicy;
  /** A probe that is neither seen to land nor to wait by then (denied by a quota) gives its turn back. */
  readonly probeLimitMillis: () => Millis;
}

export interface SpotBreaker {
  stateAt(now: EpochMillis): SpotState;
  /** Whether a pod of the workload may pass: it is open, or this is the probe, decided on once more. */
  lets(workloadUid: string, requestUid: string, now: EpochMillis): boolean;
  /**
   * Takes the turn to probe, where there is one to take.
   * @param claimedBy uid of the admission of the pod; undefined while that is still to come.
   */
  probe(workloadUid: string, claimedBy: string | undefined, now: EpochMillis): void;
  /** Gives the turn of this workload back. @param isClaimedToo false: only while its admission is still to come. */
  endProbe(workloadUid: string, isClaimedToo: boolean): void;
  /** A pod found no room. */
  close(now: EpochMillis): void;
  /** A pod found its place. */
  open(now: EpochMillis): void;
  /** When it was last opened; undefined: never. */
  landedAt(): EpochMillis | undefined;
}

interface Probe {
  readonly workloadUid: string;
  readonly at: EpochMillis;
  readonly claimedBy: string | undefined;
}

/** Open to begin with. */
export function createSpotBreaker({ random, backoff, probeLimitMillis }: SpotBreakerOptions): SpotBreaker {
  /** Closures in a row. */
  let failures = 0;
  let closed: { readonly since: EpochMillis; readonly until: EpochMillis } | undefined;
  let taken: Probe | undefined;
  let landedAt: EpochMillis | undefined;
  /** Open for this long, failures are forgotten: twice the last pause. */
  let memoryMillis: Millis = 0;

  const probeAt = (now: EpochMillis): Probe | undefined =>
    taken === undefined || taken.at + probeLimitMillis() <= now ? undefined : taken;
  const stateAt = (now: EpochMillis): SpotState => {
    if (closed === undefined) return { kind: 'open' };
    if (now < closed.until) return { kind: 'closed', ...closed };
    return { kind: 'probing', since: closed.until, isTaken: probeAt(now) !== undefined };
  };
  return {
    stateAt,
    lets(workloadUid, requestUid, now) {
      const { kind } = stateAt(now);
      if (kind !== 'probing') return kind === 'open';
      const probe = probeAt(now);
      if (probe === undefined || probe.claimedBy === requestUid) return true;
      return probe.workloadUid === workloadUid && probe.claimedBy === undefined;
    },
    probe(workloadUid, claimedBy, now) {
      if (stateAt(now).kind === 'probing') taken = { workloadUid, at: now, claimedBy };
    },
    endProbe(workloadUid, isClaimedToo) {
      if (taken?.workloadUid !== workloadUid) return;
      if (isClaimedToo || taken.claimedBy === undefined) taken = undefined;
    },
    close(now) {
      // Failures outlive a short opening: a pool that takes one pod and then none is tried ever more seldom
      // (hysteresis, hazard H6).
      const isForgotten = closed === undefined && landedAt !== undefined && landedAt + memoryMillis <= now;
      failures = isForgotten ? 1 : failures + 1;
      const pause = backoffDelay(backoff(), failures, random);
      memoryMillis = 2 * pause;
      closed = { since: now, until: now + pause };
      taken = undefined;
    },
    open(now) {
      closed = undefined;
      taken = undefined;
      landedAt = now;
    },
    landedAt: () => landedAt,
  };
}
