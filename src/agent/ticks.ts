/**
 * The steps of the agent's loop: sample; and each tick, plan on what is known for certain, write, remember what got
 * through.
 */
import type { NodeMemory } from '../decide/allocation/node-input.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { countTick } from './agent-report.ts';
import type { AllocationWriter, WriteResult } from './allocation-writer.ts';
import type { DemandMetrics } from './demand-metrics.ts';
import type { LiveSettings } from './live-settings.ts';
import type { AgentMetrics } from './metrics-text.ts';
import type { NodeStores } from './node-stores.ts';
import { type IntendedWrite, planTick, type Tick, withoutFailed } from './planner.ts';
import type { QuotaCheck } from './quota-check.ts';
import type { Renewal } from './renewal.ts';
import type { Sampler } from './sampler.ts';
import type { SteadyTime } from './steady-time.ts';

/** The parts of one agent, each made once. */
export interface TickParts {
  readonly settings: LiveSettings;
  readonly stores: NodeStores;
  readonly sampler: Sampler;
  readonly demand: DemandMetrics;
  readonly writer: AllocationWriter;
  readonly renewal: Renewal;
  readonly quotas: QuotaCheck;
  readonly steady: SteadyTime;
  readonly clock: Clock;
  readonly monotonic: () => Millis;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
}

/** The loop's own memory: the last plan, and what got through of it. */
export interface Ticks {
  sample(): void;
  /** Plans, and writes behind the caller's back; skipped while the writes of the tick before are under way. */
  tick(signal: AbortSignal): void;
  /** Why nothing may be decided now. */
  blockedBecause(): string | undefined;
  /** The newest plan. */
  last(): Tick | undefined;
  readonly writes: number;
  readonly lastSampleAt: EpochMillis | undefined;
  readonly lastWriteAt: EpochMillis | undefined;
}

export function createTicks(parts: TickParts): Ticks {
  const { settings, stores, sampler, demand, writer, renewal, quotas, steady, clock, monotonic, metrics, log } = parts;
  let memory: NodeMemory = new Map();
  let last: Tick | undefined;
  let lastBlocked = '';
  let lastWriteMillis = monotonic();
  let lastWriteAt: EpochMillis | undefined;
  let lastSampleAt: EpochMillis | undefined;
  let writesMade = 0;
  let isWriting = false;
  let havePodsChanged = true;
  stores.onPodsChange(() => {
    havePodsChanged = true;
  });

  const timed = <Value>(work: () => Value, told: (seconds: number) => void): Value => {
    const before = monotonic();
    const value = work();
    told((monotonic() - before) / 1000);
    return value;
  };
  const blockedBecause = (): string | undefined =>
    settings.isKnown() ? stores.staleBecause() : 'the ConfigMap mbcas-agent-config has not been read yet';
  const tellBlocked = (blocked: string | undefined): void => {
    if (blocked !== undefined && blocked !== lastBlocked) log.info({}, `No plan for now: ${blocked}`);
    lastBlocked = blocked ?? '';
  };
  /** Series of pods that are gone would be told for ever. */
  const forgetGone = (now: Tick): void => {
    const present = new Set(now.plan.pods.map(({ uid }) => uid));
    for (const { uid, namespace, name } of last?.plan.pods ?? [])
      if (!present.has(uid)) metrics.removePod(namespace, name);
  };
  /** Undefined while anything it is made of is not known for certain. */
  const plan = (): Tick | undefined => {
    const blocked = blockedBecause();
    tellBlocked(blocked);
    const node = stores.node();
    if (blocked !== undefined || node === undefined) return undefined;
    const jump = steady.correct();
    if (jump !== undefined) {
      log.warn({ seconds: Math.round(jump / 1000) }, 'The clock of the machine was set; the plan starts anew');
      memory = new Map();
    }
    const { rules, tickMillis, samplingMillis } = settings.current();
    const time = { steady: steady.now(), wall: clock.now(), monotonic: monotonic() };
    const pods = stores.pods();
    const unenforced = quotas.look(pods, time.monotonic);
    const input = { node, pods, stores, sampler, metricOf: demand.of, memory, unenforced, time };
    const tick = planTick({ ...input, rules, tickMillis, samplingMillis });
    forgetGone(tick);
    last = tick;
    countTick(metrics, tick);
    return tick;
  };
  /** A sign of life only where nothing else is written: any write is one. */
  const intended = (tick: Tick): readonly IntendedWrite[] => {
    const { renewMillis, rules } = settings.current();
    const isDue = monotonic() - lastWriteMillis >= renewMillis && rules.apply !== 'observe';
    const renewed = tick.writes.length === 0 && isDue ? renewal.next(tick, clock.now()) : undefined;
    return renewed === undefined ? tick.writes : [renewed];
  };
  const count = ({ object, growth, why }: IntendedWrite, result: WriteResult, seconds: number): void => {
    metrics.inc('mbcas_agent_writes_total', { result });
    if (result !== 'ok') return;
    writesMade++;
    lastWriteMillis = monotonic();
    lastWriteAt = clock.now();
    if (why !== 'changed') return;
    const { namespace = '', podName: pod = '' } = object.spec ?? {};
    const direction = growth > 0 ? 'up' : growth < 0 ? 'down' : 'same';
    metrics.inc('mbcas_allocation_changes_total', { namespace, pod, direction });
    metrics.observe('mbcas_allocation_latency_seconds', {}, seconds);
  };
  /** What did not get through counts as not made, so the next plan wants it again. */
  const write = async (tick: Tick, signal: AbortSignal): Promise<void> => {
    const planned = monotonic();
    const writes = intended(tick);
    const results = await writer.write(writes, signal);
    const failed = new Set<string>();
    writes.forEach((each, index) => {
      const result = results[index];
      if (result !== undefined) count(each, result, (monotonic() - planned) / 1000);
      if (result !== 'ok') failed.add(each.podUid);
    });
    memory = withoutFailed(tick.plan, memory, failed);
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
        .refresh(
          stores.pods().map(({ pod }) => pod),
          signal,
        )
        .catch((error: unknown) => log.error({ error }, 'Demand metrics could not be refreshed'));
      // Behind a slow server a plan would stand on what has not arrived yet.
      if (isWriting) return;
      const tick = timed(plan, (seconds) => {
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
    blockedBecause,
    last: () => last,
    get writes() {
      return writesMade;
    },
    get lastSampleAt() {
      return lastSampleAt;
    },
    get lastWriteAt() {
      return lastWriteAt;
    },
  };
}
