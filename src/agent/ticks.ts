/**
 * The steps of the agent's loop: sample; and each tick, plan on what is known for certain, write, remember what got
 * through.
 */
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { AllocationWriter } from './allocation-writer.ts';
import type { IntendedWrite, Tick } from './planner.ts';
import type { Renewal } from './renewal.ts';
import { createTickPlanning, type PlanningParts, type TickPlanning } from './tick-planning.ts';
import type { WriteResult } from './write-refusals.ts';

/** The parts of one agent, each made once. */
export interface TickParts extends PlanningParts {
  readonly writer: AllocationWriter;
  readonly renewal: Renewal;
}

export interface Ticks extends Pick<TickPlanning, 'blockedBecause' | 'last'> {
  sample(): void;
  /** Plans, and writes behind the caller's back; skipped while the writes of the tick before are under way. */
  tick(signal: AbortSignal): void;
  readonly writes: number;
  readonly lastSampleAt: EpochMillis | undefined;
  readonly lastWriteAt: EpochMillis | undefined;
}

/** How many writes got through, and when the last one did: by the monotonic clock (before the first: since the start), and by the other. */
interface Written {
  readonly count: number;
  readonly millis: Millis;
  readonly at: EpochMillis | undefined;
}

/**
 * How long the first word about a pod may take to be seen, once it got through. A server under load tells late, and a
 * watch that has stalled not before its end: said again at each tick, all new pods of a cluster would add to that.
 */
const SEEN_WITHIN: Millis = 30_000;

export function createTicks(parts: TickParts): Ticks {
  const { settings, stores, sampler, demand, writer, renewal, clock, monotonic, metrics, log } = parts;
  const planning = createTickPlanning(parts);
  let written: Written = { count: 0, millis: monotonic(), at: undefined };
  let lastSampleAt: EpochMillis | undefined;
  let isWriting = false;
  let havePodsChanged = true;
  stores.onPodsChange(() => {
    havePodsChanged = true;
  });
  /** By uid of the pod, when its first word got through, of the last {@link SEEN_WITHIN}. */
  const registered = new Map<string, Millis>();

  const timed = <Value>(work: () => Value, told: (seconds: number) => void): Value => {
    const before = monotonic();
    const value = work();
    told((monotonic() - before) / 1000);
    return value;
  };
  const count = ({ podUid, object, growth, why }: IntendedWrite, result: WriteResult, seconds: number): void => {
    metrics.inc('mbcas_agent_writes_total', { result });
    if (result !== 'ok') return;
    written = { count: written.count + 1, millis: monotonic(), at: clock.now() };
    if (why === 'registered') registered.set(podUid, monotonic());
    if (why !== 'changed') return;
    const { namespace = '', podName: pod = '' } = object.spec ?? {};
    const direction = growth > 0 ? 'up' : growth < 0 ? 'down' : 'same';
    metrics.inc('mbcas_allocation_changes_total', { namespace, pod, direction });
    metrics.observe('mbcas_allocation_latency_seconds', {}, seconds);
  };
  /** @returns uids of pods whose change got through. */
  const send = async (writes: readonly IntendedWrite[], signal: AbortSignal): Promise<ReadonlySet<string>> => {
    const begun = monotonic();
    const results = await writer.write(writes, signal);
    const sent = new Set<string>();
    writes.forEach((each, index) => {
      const result = results[index];
      if (result !== undefined) count(each, result, (monotonic() - begun) / 1000);
      if (result === 'ok' && each.why === 'changed') sent.add(each.podUid);
    });
    return sent;
  };
  /** A sign of life only where nothing else gets through: any write is one. */
  const giveSign = async (tick: Tick, signal: AbortSignal): Promise<void> => {
    const { renewMillis, rules } = settings.current();
    const isDue = monotonic() - written.millis >= renewMillis && rules.apply !== 'observe';
    const sign = isDue ? renewal.next(tick, clock.now(), (namespace) => !writer.isWaiting(namespace)) : undefined;
    if (sign !== undefined) await send([sign], signal);
  };
  const isNews = ({ podUid, why }: IntendedWrite): boolean => why !== 'registered' || !registered.has(podUid);
  const write = async (tick: Tick, signal: AbortSignal): Promise<void> => {
    for (const [uid, at] of registered) if (monotonic() - at >= SEEN_WITHIN) registered.delete(uid);
    const sent = await send(tick.writes.filter(isNews), signal);
    planning.settle(tick, sent);
    await giveSign(tick, signal);
  };

  return {
    sample() {
      if (havePodsChanged) {
        havePodsChanged = false;
        timed(
          () => sampler.track(stores.pods().map(({ tracked }) => tracked)),
          (seconds) => metrics.observe('mbcas_pod_discovery_duration_seconds', {}, seconds),
        );
      }
      timed(sampler.sample, (seconds) => {
        metrics.observe('mbcas_agent_step_duration_seconds', { loop: 'sample' }, seconds);
        metrics.observe('mbcas_cgroup_read_duration_seconds', {}, seconds);
      });
      lastSampleAt = clock.now();
      metrics.inc('mbcas_agent_samples_total', {});
    },
    tick(signal) {
      demand
        .refresh(stores.pods(), signal)
        .catch((error: unknown) => log.error({ error }, 'Demand metrics could not be refreshed'));
      // Behind a slow server a plan would stand on what has not arrived yet.
      if (isWriting) return;
      const tick = timed(planning.plan, (seconds) => {
        metrics.observe('mbcas_agent_step_duration_seconds', { loop: 'plan' }, seconds);
        metrics.observe('mbcas_allocation_compute_duration_seconds', {}, seconds);
      });
      if (tick === undefined) return;
      isWriting = true;
      write(tick, signal)
        .catch((error: unknown) => log.error({ error }, 'A plan could not be written'))
        .finally(() => {
          isWriting = false;
        });
    },
    blockedBecause: planning.blockedBecause,
    last: planning.last,
    get writes() {
      return written.count;
    },
    get lastSampleAt() {
      return lastSampleAt;
    },
    get lastWriteAt() {
      return written.at;
    },
  };
}
