/**
 * Keeps what is remembered of every workload's usage up to date: gives each its turn, and notes kills as pods tell of
 * them.
 */
import { type BackoffPolicy, backoffDelay } from '../../lib/backoff.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import { describeError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { replicaRef } from '../../model/replica.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { UsageBook } from '../../model/usage-book.ts';
import type { UsageTarget } from '../../model/usage-settings.ts';
import type { LiveSizingView } from '../sizing/live-sizing-view.ts';
import { type CollectContext, collectOne } from './collect-one.ts';
import { createCollectionLedger } from './collection-ledger.ts';
import type { UsageCollector } from './collector-port.ts';
import { isAboutSource } from './guarded-source.ts';
import { createOomKills } from './oom-kills.ts';
import { replicaPodsOf } from './replica-pods.ts';
import type { UsageSources } from './usage-providers.ts';
import type { ThrottlingAnswer } from './usage-source.ts';

export interface CollectSchedule {
  /** How often targets are looked through: the longest a new workload or a kill waits. */
  readonly tickMillis: Millis;
  /** Between two turns of a workload, for sources that know the past; */
  readonly rangeMillis: Millis;
  /** ...and for those that only know the present. */
  readonly instantMillis: Millis;
  /** Turns at a time. */
  readonly concurrency: number;
}

/** For whoever has no configuration; the operator gives its own. */
export const defaultCollectSchedule: CollectSchedule = {
  tickMillis: 5_000,
  rangeMillis: 300_000,
  instantMillis: 30_000,
  concurrency: 8,
};

/** One turn, for metrics. */
export interface FetchSample {
  /** Name of the source; the provider's where no source could be made. */
  readonly source: string;
  readonly millis: Millis;
  readonly ok: boolean;
  readonly samples: number;
}

export interface UsageCollectorOptions {
  /** Where it tells of changes of pods, kills are noted as they are told, and not only in turn. */
  readonly view: Pick<SizingView, 'podsOf' | 'pod' | 'workloadOf'> & Partial<Pick<LiveSizingView, 'onPod'>>;
  /** Workloads that a policy wins, with its settings; asked on every tick. */
  readonly targets: () => readonly UsageTarget[];
  readonly sources: UsageSources;
  readonly book: UsageBook;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly schedule?: Partial<CollectSchedule>;
  readonly onFetch?: (sample: FetchSample) => void;
}

/**
 * Of one workload. A source that is down as a whole is found out by one small question for all of them: see
 * `createGuardedSource`.
 */
const failurePolicy: BackoffPolicy = { initialMillis: 15_000, factor: 2, maxMillis: 300_000, jitter: 0.25 };
/** That question costs nobody much, and a source that is back is not to be waited for long. */
const outagePolicy: BackoffPolicy = { ...failurePolicy, maxMillis: 60_000 };
/**
 * Nothing is forgotten before: by then workloads, policies and replicas that are there have been seen, and a clock that
 * was wrong when the machine started has been set right, which ends the process.
 */
const SETTLED_MILLIS: Millis = 3_600_000;
/** Turns drift apart by this share, so that the workloads of one start do not come in one burst for ever. */
const SPREAD = 0.1;

/**
 * A namespace whose policies name addresses of their own has this part of the turns at a time before all others have
 * theirs, and as many are kept from all such namespaces together: a server that keeps everybody waiting may be the
 * tenant's.
 */
const TENANT_SHARE = 0.25;

/** Of one workload; at most one request of it is under way. */
interface Turn {
  target: UsageTarget;
  nextAt: EpochMillis;
  failures: number;
  isRunning: boolean;
}

export function createUsageCollector(options: UsageCollectorOptions): UsageCollector {
  const { view, sources, book, clock, random, log, onFetch } = options;
  const schedule = { ...defaultCollectSchedule, ...options.schedule };
  const ledger = createCollectionLedger(log);
  const context: CollectContext = { view, book, takenOfPods: new Map() };
  const kills = createOomKills();
  const turns = new Map<string, Turn>();
  const running = new Set<Promise<void>>();
  const runningOf = new Map<string, number>();
  const mostOfTenant = Math.max(1, Math.floor(TENANT_SHARE * schedule.concurrency));
  const mostOfTenants = Math.max(1, schedule.concurrency - mostOfTenant);
  let due: Turn[] = [];

  const noteKills = (target: UsageTarget, now: EpochMillis): boolean => {
    const { workload, settings } = target;
    const pods = view.podsOf(workload);
    const replicas = replicaPodsOf(target, pods);
    let isNew = false;
    for (const pod of pods) {
      const replica = replicas.replicaOf(pod.pod.name);
      for (const kill of kills.of(pod, now)) {
        const ofReplica =
          replica !== undefined &&
          replicas.present.has(replica) &&
          book.noteKill(replicaRef(workload, replica), kill.container, settings, kill);
        if (!book.noteKill(workload, kill.container, settings, kill) && !ofReplica) continue;
        isNew = true;
        const { container, limit } = kill;
        log.info(
          { workload: workloadKey(workload), container, limit, pod: pod.pod.name },
          'A container was killed for want of memory',
        );
      }
    }
    return isNew;
  };

  /**
   * What is to be done now: new targets, targets that are gone, kills, and turns that are due, the longest due first.
   */
  const look = (beganAt: EpochMillis): void => {
    const now = clock.now();
    const seen = new Set<string>();
    for (const target of options.targets()) {
      const key = workloadKey(target.workload);
      seen.add(key);
      book.see(target.workload, target.settings, now);
      if (noteKills(target, now)) ledger.changed(target.workload);
      const turn = turns.get(key);
      if (turn === undefined) turns.set(key, { target, nextAt: now, failures: 0, isRunning: false });
      else turn.target = target;
    }
    kills.forgetBefore(now);
    for (const key of turns.keys()) {
      if (seen.has(key)) continue;
      turns.delete(key);
      ledger.forget(key);
      context.takenOfPods.delete(key);
    }
    for (const forgotten of now - beganAt < SETTLED_MILLIS ? [] : book.forget(now))
      log.info({ ...forgotten }, 'Usage was forgotten: what used it was not seen for long');
    due = [...turns.values()]
      .filter((turn) => !turn.isRunning && turn.nextAt <= now)
      .sort((a, b) => a.nextAt - b.nextAt);
  };

  /** One turn, to its end. */
  const take = async (turn: Turn, signal: AbortSignal): Promise<void> => {
    const { target } = turn;
    const startedAt = clock.now();
    const chosen = sources.sourceFor(target.settings);
    const name = chosen.ok ? chosen.source.name : target.settings.provider;
    const result = chosen.ok
      ? await collectOne(context, { target, source: chosen.source, now: startedAt }, signal)
      : { problem: chosen.problem, warnings: [], isNew: false, missing: [], samples: 0 };
    const now = clock.now();
    onFetch?.({ source: name, millis: now - startedAt, ok: result.problem === undefined, samples: result.samples });
    turn.failures = result.problem === undefined ? 0 : turn.failures + 1;
    const interval = chosen.ok && chosen.source.kind === 'instant' ? schedule.instantMillis : schedule.rangeMillis;
    turn.nextAt =
      turn.failures > 0
        ? now + backoffDelay(isAboutSource(result.problem) ? outagePolicy : failurePolicy, turn.failures, random)
        : startedAt + interval * (1 - SPREAD * random.next());
    const key = workloadKey(target.workload);
    if (turns.get(key) === turn) ledger.note(target, chosen, result, now);
    // Not a target any more: what this turn has just entered nobody would forget.
    else if (!turns.has(key)) context.takenOfPods.delete(key);
  };

  const nextDue = (): Turn | undefined => {
    const ofTenants = [...runningOf.values()].reduce((sum, number) => sum + number, 0);
    const isLeft = ofTenants < mostOfTenants;
    const at = due.findIndex(({ target }) => {
      const tenant = tenantOf(target);
      return tenant === undefined || (isLeft && (runningOf.get(tenant) ?? 0) < mostOfTenant);
    });
    return at >= 0 || isLeft ? due.splice(Math.max(0, at), 1)[0] : undefined;
  };
  const count = (tenant: string | undefined, by: number): void => {
    if (tenant === undefined) return;
    const number = (runningOf.get(tenant) ?? 0) + by;
    if (number > 0) runningOf.set(tenant, number);
    else runningOf.delete(tenant);
  };

  /** Starts turns as long as there is room; each that ends starts the next. */
  const pump = (signal: AbortSignal): void => {
    while (!signal.aborted && running.size < schedule.concurrency) {
      const turn = nextDue();
      if (turn === undefined) return;
      turn.isRunning = true;
      const tenant = tenantOf(turn.target);
      count(tenant, 1);
      const work = take(turn, signal)
        .catch((error: unknown) => {
          if (signal.aborted) return;
          turn.failures++;
          turn.nextAt = clock.now() + backoffDelay(failurePolicy, turn.failures, random);
          log.error({ workload: workloadKey(turn.target.workload), error }, 'Usage could not be collected');
          const message = `collecting failed: ${describeError(error)}`;
          ledger.fail(turn.target, { reason: 'Malformed', message });
        })
        .finally(() => {
          turn.isRunning = false;
          count(tenant, -1);
          running.delete(work);
          pump(signal);
        });
      running.add(work);
    }
  };

  return {
    profileOf: (workload, container) => book.profileOf(workload, container),
    windowOf: (workload, container) => book.windowOf(workload, container, clock.now()),
    stateOf: ledger.stateOf,
    async throttlingOf(request, signal) {
      const key = workloadKey(request.workload);
      const settings = turns.get(key)?.target.settings;
      const chosen = settings && sources.sourceFor(settings);
      if (chosen === undefined) return noThrottling(`no usage is collected of ${key}`);
      if (!chosen.ok) return chosen;
      const { name: source, throttling } = chosen.source;
      return throttling?.(request, signal) ?? noThrottling(`${source} does not count throttled periods`);
    },
    healthOf: ledger.healthOf,
    onChange: ledger.onChange,
    async run(signal) {
      // Before anybody resizes the pod: until the next look what is in force may be another size.
      const end = view.onPod?.((_, after) => {
        const found = after && view.pod(after.namespace, after.name);
        if (found !== undefined) kills.of(found, clock.now());
      });
      const beganAt = clock.now();
      while (!signal.aborted) {
        look(beganAt);
        pump(signal);
        await pause(clock, schedule.tickMillis, signal);
      }
      end?.();
      await Promise.all(running);
    },
  };
}

/** The namespace whose policy has another server asked than the operator's own. */
function tenantOf({ settings }: UsageTarget): string | undefined {
  return settings.prometheus?.url === undefined ? undefined : settings.policy.namespace;
}

function noThrottling(message: string): ThrottlingAnswer {
  return { ok: false, problem: { reason: 'NoData', message } };
}
