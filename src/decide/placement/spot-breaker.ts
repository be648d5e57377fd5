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
   * Takes the turn to probe, where there is one to take: a pod may be sent to spot although another one probes, as no
   * cover is allowed for it, or its owner wants it there.
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
export function createSpotBreaker(options: SpotBreakerOptions): SpotBreaker {
  return new Breaker(options);
}

/** A class, because there is one of each workload: eight closures would take three times as much. */
class Breaker implements SpotBreaker {
  readonly #options: SpotBreakerOptions;
  /** Closures in a row. */
  #failures = 0;
  #closed: { readonly since: EpochMillis; readonly until: EpochMillis } | undefined;
  #taken: Probe | undefined;
  #landedAt: EpochMillis | undefined;
  /** Open for this long, failures are forgotten: twice the last pause. */
  #memoryMillis: Millis = 0;

  constructor(options: SpotBreakerOptions) {
    this.#options = options;
  }

  stateAt(now: EpochMillis): SpotState {
    const closed = this.#closed;
    if (closed === undefined) return { kind: 'open' };
    if (now < closed.until) return { kind: 'closed', ...closed };
    return { kind: 'probing', since: closed.until, isTaken: this.#probeAt(now) !== undefined };
  }

  lets(workloadUid: string, requestUid: string | undefined, now: EpochMillis): boolean {
    const { kind } = this.stateAt(now);
    if (kind !== 'probing') return kind === 'open';
    const probe = this.#probeAt(now);
    if (probe === undefined) return true;
    return probe.claimedBy === undefined ? probe.workloadUid === workloadUid : probe.claimedBy === requestUid;
  }

  probe(workloadUid: string, claimedBy: string | undefined, now: EpochMillis): void {
    if (this.stateAt(now).kind !== 'probing' || !this.lets(workloadUid, claimedBy, now)) return;
    this.#taken = { workloadUid, at: now, claimedBy };
  }

  endProbe(workloadUid: string, isClaimedToo: boolean): void {
    if (this.#taken?.workloadUid !== workloadUid) return;
    if (isClaimedToo || this.#taken.claimedBy === undefined) this.#taken = undefined;
  }

  close(now: EpochMillis): void {
    const { random, backoff } = this.#options;
    // Failures outlive a short opening: a pool that takes one pod and then none is tried ever more seldom
    // (hysteresis, hazard H6).
    const isForgotten =
      this.#closed === undefined && this.#landedAt !== undefined && this.#landedAt + this.#memoryMillis <= now;
    this.#failures = isForgotten ? 1 : this.#failures + 1;
    const pause = backoffDelay(backoff(), this.#failures, random);
    this.#memoryMillis = 2 * pause;
    this.#closed = { since: now, until: now + pause };
    this.#taken = undefined;
  }

  open(now: EpochMillis): void {
    this.#closed = undefined;
    this.#taken = undefined;
    this.#landedAt = now;
  }

  landedAt(): EpochMillis | undefined {
    return this.#landedAt;
  }

  #probeAt(now: EpochMillis): Probe | undefined {
    const taken = this.#taken;
    return taken === undefined || taken.at + this.#options.probeLimitMillis() <= now ? undefined : taken;
  }
}
