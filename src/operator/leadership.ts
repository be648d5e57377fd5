/** Which replica acts: the elected one, or this one where election is switched off. */
import type { KubeApi } from '../api/kube-api.ts';
import { leaseNamespaceOf } from '../config/checks.ts';
import type { Config } from '../config/schema.ts';
import type { Leadership } from '../guard/context.ts';
import { createLeaderElector, type LeadingEnd, type ObservedLeader } from '../kube/leader.ts';
import { type Clock, pause } from '../lib/clock.ts';
import { StowageError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Random } from '../lib/random.ts';

export interface LeadershipOptions {
  readonly api: KubeApi;
  readonly config: Config;
  readonly identity: string;
  /** Published on the lease while leading. */
  readonly annotations: () => Readonly<Record<string, string>>;
  readonly loopDelayMillis?: (() => number) | undefined;
  /** The leader's work, until the signal fires. */
  readonly lead: (signal: AbortSignal) => Promise<void>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** One election in the life of the process: whoever has led once ends and starts afresh. */
export interface LeadershipLoop {
  /** Right at this moment. */
  current(): Leadership;
  /** Who leads, as last seen; undefined when nobody does or election is off. */
  leader(): ObservedLeader | undefined;
  /** Whether the loop runs; readiness needs it. */
  isAlive(): boolean;
  /** @returns other than `stopped`: the process should end, so that another acts on fresh data. */
  run(signal: AbortSignal): Promise<LeadingEnd>;
}

/** Why the process ends though nobody has asked it to. */
export function unaskedEnd(end: Exclude<LeadingEnd, 'stopped'> | 'set'): StowageError {
  switch (end) {
    case 'lost':
      return new StowageError('LEASE_LOST', 'The lease was lost; the process ends so that it starts on fresh data.');
    case 'failed':
      return new StowageError(
        'LEADER_FAILED',
        'The leader’s work failed, as logged before; the process ends so that another leads.',
      );
    case 'set':
      return new StowageError(
        'CLOCK_SET',
        'The clock of this machine was set by more than half a minute; the process ends so that no pause is cut short or drawn out by it.',
      );
  }
}

/** Spotalis's value of the label. */
const CONTROLLER = { controller_name: 'spotalis-controller' } as const;
const HEARTBEAT_MILLIS = 30_000;

/** The process tells that it lives, whoever leads, until `signal` aborts. */
export async function tellAlive(metrics: Metrics, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    metrics.set('spotalis_controller_last_seen_timestamp', CONTROLLER, clock.now() / 1000);
    await pause(clock, HEARTBEAT_MILLIS, signal);
  }
}

/** Without election this replica leads from the start of `run` on, and nothing is written to any Lease. */
export function createLeadershipLoop(options: LeadershipOptions): LeadershipLoop {
  const { api, config, clock, random, metrics, log } = options;
  const { enabled, id, leaseDuration, renewDeadline, retryPeriod } = config.operator.leaderElection;
  let sinceMillis = 0;
  let isAlive = false;
  const lead = async (signal: AbortSignal): Promise<void> => {
    sinceMillis = clock.now();
    metrics.set('spotalis_leader_election_status', CONTROLLER, 1);
    try {
      await options.lead(signal);
    } finally {
      metrics.set('spotalis_leader_election_status', CONTROLLER, 0);
    }
  };
  const alive = async <T>(work: Promise<T>): Promise<T> => {
    isAlive = true;
    try {
      return await work;
    } finally {
      isAlive = false;
    }
  };

  if (!enabled) {
    return {
      current: () => ({ leader: isAlive, sinceMillis }),
      leader: () => undefined,
      isAlive: () => isAlive,
      run: (signal) =>
        alive(
          lead(signal).then(
            () => 'stopped',
            (error: unknown): LeadingEnd => {
              if (signal.aborted) return 'stopped';
              log.error({ error }, 'The operator’s work failed; the process ends');
              return 'failed';
            },
          ),
        ),
    };
  }
  const elector = createLeaderElector({
    api,
    clock,
    random,
    log: log.child('leader'),
    namespace: leaseNamespaceOf(config),
    name: id,
    identity: options.identity,
    leaseDurationMillis: leaseDuration,
    renewDeadlineMillis: renewDeadline,
    retryPeriodMillis: retryPeriod,
    annotations: options.annotations,
    onStarted: lead,
    ...(options.loopDelayMillis !== undefined && { loopDelayMillis: options.loopDelayMillis }),
  });
  return {
    current: () => ({ leader: elector.isLeader(), sinceMillis }),
    leader: () => elector.leader(),
    isAlive: () => isAlive,
    run: (signal) => alive(elector.run(signal)),
  };
}
