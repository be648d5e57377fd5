/** What one candidate does with the Lease object: looks at it, takes it where nobody holds it, renews it, gives it up. */
import type { Lease } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { startDeadline } from './deadline.ts';
import { heartbeatOf, heldLease, holderOf, type LeaseTerms, releasedLease } from './lease-record.ts';

export interface LeaseKeeperOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly terms: Omit<LeaseTerms, 'annotations'>;
  /** Put on the lease while it is ours. Asked at each write. */
  readonly annotations: () => LeaseTerms['annotations'];
  /** An attempt ends after this time, so that a hanging request leaves time for another. */
  readonly attemptMillis: Millis;
}

/** What goes wrong is logged, and never thrown. */
export interface LeaseKeeper {
  /** Takes the lease where nobody holds it, or its holder gave no sign of life for its duration. @returns whether it is ours now */
  acquire(signal: AbortSignal): Promise<boolean>;
  /** The same for one that is ours as far as is known: writes first and looks only where that is refused. */
  renew(signal: AbortSignal): Promise<boolean>;
  /** Gives it up. At worst others wait until it runs out. */
  release(): Promise<void>;
  /** As last seen, whoever wrote it. */
  seen(): Lease | undefined;
  /** When the last write began that made it ours; negative infinity before the first. */
  lastRenewMillis(): EpochMillis;
  /** No timer is left. */
  close(): void;
}

export function createLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  const { api, clock, log, attemptMillis } = options;
  const { namespace, name, identity, leaseDurationSeconds } = options.terms;
  const lease = `${namespace}/${name}`;
  const terms = (): LeaseTerms => ({ ...options.terms, annotations: options.annotations() });

  let seen: Lease | undefined;
  /**
   * Runs out when the holder gave no sign of life for the lease's duration. A timer and not a comparison of times:
   * timers do not move when somebody sets the machine's clock.
   */
  let patience: Timer | undefined;
  let isHolderSilent = false;
  let lastRenewMillis = Number.NEGATIVE_INFINITY;

  /** Every sight of the lease, our own writes too. Patience begins anew only with a heartbeat. */
  const observe = (next: Lease): void => {
    if (seen === undefined || heartbeatOf(seen) !== heartbeatOf(next)) {
      patience?.cancel();
      isHolderSilent = false;
      // The holder's own duration counts: it may be configured differently from ours.
      patience = clock.setTimer((next.spec?.leaseDurationSeconds ?? leaseDurationSeconds) * 1000, () => {
        isHolderSilent = true;
      });
      if (seen === undefined || holderOf(seen) !== holderOf(next)) {
        log.info({ lease, holder: holderOf(next) }, 'Leader changed');
      }
    }
    seen = next;
  };

  /** One attempt, bounded so that a hanging request leaves time for another before the deadline. */
  const bounded = async <T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const deadline = startDeadline(clock, attemptMillis, `lease ${lease}`, signal);
    try {
      return await work(deadline.signal);
    } finally {
      deadline.end();
    }
  };

  const write = async (known: Lease | undefined, signal: AbortSignal): Promise<void> => {
    // Taken before sending: others count from when they see it, which is later.
    const startedMillis = clock.now();
    const next = heldLease(terms(), known, startedMillis);
    const call = { namespace, signal, lane: 'lease' } as const;
    observe(
      known === undefined
        ? await api.create(resources.leases, next, call)
        : await api.replace(resources.leases, next, call),
    );
    lastRenewMillis = startedMillis;
  };

  /** @returns whether the lease is ours now. */
  const acquireOrRenew = async (isOurs: boolean, signal: AbortSignal): Promise<boolean> => {
    if (isOurs && seen !== undefined) {
      try {
        await write(seen, signal);
        return true;
      } catch (error) {
        // Somebody else wrote: look who, below.
        if (!isConflict(error) && !isNotFound(error)) throw error;
      }
    }
    let current: Lease | undefined;
    try {
      current = await api.get(resources.leases, name, { namespace, signal, lane: 'lease' });
      observe(current);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    if (current !== undefined) {
      const holder = holderOf(current);
      if (holder !== '' && holder !== identity && !isHolderSilent) return false;
    }
    await write(current, signal);
    return true;
  };

  const attempt = async (isOurs: boolean, signal: AbortSignal): Promise<boolean> => {
    try {
      return await bounded((limited) => acquireOrRenew(isOurs, limited), signal);
    } catch (error) {
      // Losing the race for a free lease is the normal end of an election.
      const isRace = isConflict(error) || isAlreadyExists(error);
      if (!signal.aborted)
        log[isRace ? 'debug' : 'warn']({ lease, error }, 'The lease could not be acquired or renewed; trying again');
      return false;
    }
  };

  const release = async (): Promise<void> => {
    try {
      await bounded(async (signal) => {
        const call = { namespace, signal, lane: 'lease' } as const;
        // Read anew: the last renewal may have been cut off after the server had stored it.
        const current = await api.get(resources.leases, name, call);
        if (holderOf(current) === identity)
          observe(await api.replace(resources.leases, releasedLease(terms(), current, clock.now()), call));
      });
      log.info({ lease }, 'Leadership released');
    } catch (error) {
      log.warn({ lease, error }, 'The lease could not be released; others take over when it runs out');
    }
  };

  return {
    acquire: (signal) => attempt(false, signal),
    renew: (signal) => attempt(true, signal),
    release,
    seen: () => seen,
    lastRenewMillis: () => lastRenewMillis,
    close: () => patience?.cancel(),
  };
}
