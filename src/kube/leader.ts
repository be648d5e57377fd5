/** Leader election over a Lease: at most one of several processes leads, judged by local time only. */
import type { KubeApi } from '../api/kube-api.ts';
import { type Clock, pause } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { createLeaseKeeper } from './lease-keeper.ts';
import { holderOf } from './lease-record.ts';

export interface LeaderElectionOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly namespace: string;
  readonly name: string;
  /** Unique to this process; `<host>_<uuid>` by convention. */
  readonly identity: string;
  /** How long others wait for a silent leader, milliseconds, whole seconds. Default 15,000. */
  readonly leaseDurationMillis?: number;
  /** How long the leader tries to renew before it stops leading. Below the lease duration. Default 10,000. */
  readonly renewDeadlineMillis?: number;
  /** Time between attempts to acquire or renew. Below the renew deadline. Default 2,000. */
  readonly retryPeriodMillis?: number;
  /** Put on the lease while leading. Asked at each renewal. */
  readonly annotations?: () => Readonly<Record<string, string>>;
  /**
   * How late callbacks ran lately, milliseconds (see createLoopDelayMeter): counted against the renew deadline, because
   * a process that stalls finds out about its lost lease late, too. Default: none.
   */
  readonly loopDelayMillis?: () => number;
  /**
   * Leads until `signal` aborts; should then end soon. The lease is released only after it has. A rejection ends
   * leading: nobody may hold the lease who does not do the work.
   */
  readonly onStarted: (signal: AbortSignal) => Promise<void> | void;
}

/** Who leads, as last seen on the lease. */
export interface ObservedLeader {
  readonly identity: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface LeaderElector {
  /**
   * Whether this process may act as leader at this very moment: also false when the deadline passed unnoticed in a
   * stall.
   */
  isLeader(): boolean;
  leader(): ObservedLeader | undefined;
  /**
   * Stands for election and leads once, until `signal` aborts or leading ended otherwise: then the process should end
   * and start afresh.
   */
  run(signal: AbortSignal): Promise<LeadingEnd>;
}

/** `stopped`: as asked. `lost`: the lease was not renewed in time, or taken. `failed`: the leader's work rejected. */
export type LeadingEnd = 'stopped' | 'lost' | 'failed';

/** Attempts to acquire are spread by this factor, as client-go (JitterFactor). */
const ACQUIRE_JITTER = 1.2;

/** @throws RangeError for an empty identity, and for times that do not leave room for another attempt, or a duration that is no whole seconds. */
export function createLeaderElector(options: LeaderElectionOptions): LeaderElector {
  const {
    api,
    clock,
    random,
    log,
    namespace,
    name,
    identity,
    annotations = () => ({}),
    loopDelayMillis = () => 0,
  } = options;
  const { leaseDurationMillis = 15_000, renewDeadlineMillis = 10_000, retryPeriodMillis = 2_000 } = options;
  validate(leaseDurationMillis, renewDeadlineMillis, retryPeriodMillis, identity);
  const lease = `${namespace}/${name}`;

  const keeper = createLeaseKeeper({
    api,
    clock,
    log,
    terms: { namespace, name, identity, leaseDurationSeconds: leaseDurationMillis / 1000 },
    annotations,
    attemptMillis: renewDeadlineMillis / 2,
  });
  let isLeading = false;

  /** Empty where nobody holds it; undefined while it has not been seen. */
  const holder = (): string | undefined => {
    const seen = keeper.seen();
    return seen && holderOf(seen);
  };

  /**
   * Callbacks that ran late lately will run late again. At most half the deadline, or one long pause would make leading
   * impossible for as long as it is remembered.
   */
  const marginMillis = (): number => Math.min(loopDelayMillis(), renewDeadlineMillis / 2);
  const isWithinDeadline = (): boolean => clock.now() - keeper.lastRenewMillis() + marginMillis() < renewDeadlineMillis;

  /**
   * Runs out when the lease was not renewed in time; a timer, so also when the machine's clock was set back meanwhile.
   */
  const startRenewDeadline = (signal: AbortSignal): Deadline => {
    const remaining = renewDeadlineMillis - Math.max(0, clock.now() - keeper.lastRenewMillis()) - marginMillis();
    return startDeadline(clock, Math.max(0, remaining), `lease ${lease}`, signal);
  };

  /** Renews until `signal` aborts or the lease is lost. */
  const renewWhileHeld = async (signal: AbortSignal): Promise<void> => {
    let deadline = startRenewDeadline(signal);
    try {
      for (;;) {
        await pause(clock, retryPeriodMillis, deadline.signal);
        if (deadline.signal.aborted || !isWithinDeadline()) return;
        if (await keeper.renew(deadline.signal)) {
          deadline.end();
          deadline = startRenewDeadline(signal);
        } else if (holder() !== undefined && holder() !== identity) return;
      }
    } finally {
      deadline.end();
    }
  };

  const lead = async (signal: AbortSignal): Promise<LeadingEnd> => {
    isLeading = true;
    log.info({ lease, identity }, 'Leading');
    const leadership = new AbortController();
    const failing = new AbortController();
    const work = Promise.resolve()
      .then(() => options.onStarted(leadership.signal))
      .catch((error: unknown) => {
        if (leadership.signal.aborted) return;
        log.error({ lease, error }, 'The leader’s work failed; another has to take over');
        failing.abort(error);
      });
    await renewWhileHeld(AbortSignal.any([signal, failing.signal]));
    const end = signal.aborted ? 'stopped' : failing.signal.aborted ? 'failed' : 'lost';
    isLeading = false;
    leadership.abort(new Error(end === 'stopped' ? 'Stopping.' : `Leading under ${lease} ended: ${end}.`));
    if (end === 'lost') log.error({ lease }, 'Leadership lost: the lease could not be renewed in time');
    // While the work winds down the lease still protects it; work that takes longer keeps the lease until it runs out.
    const protectedMillis = Math.max(0, leaseDurationMillis - Math.max(0, clock.now() - keeper.lastRenewMillis()));
    const windDown = startDeadline(clock, protectedMillis, `work of ${lease}`);
    const hasEnded = await Promise.race([
      work.then(() => true),
      new Promise<false>((resolve) => windDown.signal.addEventListener('abort', () => resolve(false), { once: true })),
    ]);
    windDown.end();
    // Work that failed may have parts that still run: its lease is left to run out.
    if (end === 'stopped' && hasEnded) await keeper.release();
    return end;
  };

  return {
    isLeader: () => isLeading && isWithinDeadline(),
    leader() {
      const leading = holder();
      return leading ? { identity: leading, annotations: keeper.seen()?.metadata?.annotations ?? {} } : undefined;
    },
    async run(signal) {
      try {
        while (!signal.aborted) {
          if (await keeper.acquire(signal)) return await lead(signal);
          await pause(clock, retryPeriodMillis * (1 + ACQUIRE_JITTER * random.next()), signal);
        }
        return 'stopped';
      } finally {
        keeper.close();
      }
    },
  };
}

function validate(leaseDuration: number, renewDeadline: number, retryPeriod: number, identity: string): void {
  if (identity === '') throw new RangeError('Leader election needs an identity.');
  if (!(leaseDuration > renewDeadline && renewDeadline > retryPeriod * ACQUIRE_JITTER && retryPeriod > 0)) {
    throw new RangeError(
      `Leader election needs lease duration > renew deadline > ${ACQUIRE_JITTER} x retry period > 0, got ${leaseDuration}, ${renewDeadline}, ${retryPeriod} ms.`,
    );
  }
  if (leaseDuration % 1000 !== 0)
    throw new RangeError(`The lease duration must be whole seconds, got ${leaseDuration} ms.`);
}
