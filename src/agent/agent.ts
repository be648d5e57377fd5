/** The node agent: samples, plans, writes, and answers for it. Killed or cut off it leaves nothing behind that changes a pod. */
import type { ConfigMap } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isNotFound } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import type { NodeMemory } from '../decide/allocation/node-input.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Millis } from '../lib/units.ts';
import { countTick, reportTick } from './agent-report.ts';
import { createAllocationWriter } from './allocation-writer.ts';
import { createFileReader } from './cgroup/file-reader.ts';
import { createDemandMetrics } from './demand-metrics.ts';
import type { AgentHealth } from './health.ts';
import { createLiveSettings } from './live-settings.ts';
import type { AgentMetrics } from './metrics-text.ts';
import { createNodeStores } from './node-stores.ts';
import { type IntendedWrite, planTick, type Tick, withoutFailed } from './planner.ts';
import { queryPrometheus } from './prometheus-query.ts';
import { createRenewal } from './renewal.ts';
import { createSampler } from './sampler.ts';
import { createSteadyTime } from './steady-time.ts';

export interface AgentOptions {
  readonly api: KubeApi;
  readonly nodeName: string;
  /** Of the ConfigMaps. */
  readonly namespace: string;
  /** Where control groups and `/proc` of the host are mounted. */
  readonly cgroupRoot: string;
  readonly procRoot: string;
  readonly isObserving: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly monotonic: () => Millis;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: AgentMetrics;
}

export interface Agent {
  run(signal: AbortSignal): Promise<void>;
  health(): AgentHealth;
  /** Undefined when it has sampled and knows all it needs; else what is missing. */
  unready(): string | undefined;
}

const LONGEST_WINDOW: Millis = 60_000;
const LEAST_WRITE_DEADLINE: Millis = 5000;

export function createAgent(options: AgentOptions): Agent {
  const { api, nodeName, namespace, clock, monotonic, random, log, metrics } = options;
  const settings = createLiveSettings({ ...options, log: log.child('settings') });
  const stores = createNodeStores({ api, nodeName, clock, random, log: log.child('stores') });
  const sampler = createSampler({
    mount: options.cgroupRoot,
    proc: options.procRoot,
    files: createFileReader(),
    monotonic,
    log: log.child('sampler'),
    intervalMillis: settings.current().samplingMillis,
    longestWindowMillis: LONGEST_WINDOW,
  });
  const writer = createAllocationWriter({
    api,
    clock,
    monotonic,
    log: log.child('writer'),
    deadlineMillis: Math.max(LEAST_WRITE_DEADLINE, 2 * settings.current().tickMillis),
  });
  const steady = createSteadyTime(clock, monotonic);
  const demand = createDemandMetrics({
    queries: async () => await readQueries(api, namespace),
    query: (text, signal) => {
      const { prometheus } = settings.current();
      return prometheus === undefined ? undefined : queryPrometheus(prometheus, text, signal);
    },
    nodeName,
    clock,
    monotonic,
    steady: steady.now,
    onResult: (result) => metrics.inc('mbcas_demand_query_total', { result }),
    log: log.child('demand'),
  });
  const renewal = createRenewal({ nodeName, stores });
  const startedAt = clock.now();
  let memory: NodeMemory = new Map();
  let last: Tick | undefined;
  let lastPlanMillis = Number.NEGATIVE_INFINITY;
  let lastWriteMillis = monotonic();
  let lastSampleAt: number | undefined;
  let lastWriteAt: number | undefined;
  let writesSinceStart = 0;
  let isWriting = false;
  let havePodsChanged = true;
  let lastStale = '';
  stores.onPodsChange(() => {
    havePodsChanged = true;
  });
  metrics.onRender(() => {
    if (last === undefined) return;
    const known = new Map(stores.pods().map(({ pod }) => [pod.uid, pod]));
    reportTick(metrics, last, {
      nodeName,
      systemUse: sampler.node(settings.current().tickMillis).system,
      metricOf: (uid) => {
        const pod = known.get(uid);
        return pod === undefined ? undefined : demand.of(pod);
      },
    });
    metrics.set('mbcas_agent_unread_groups', {}, sampler.problems().length);
  });

  const timed = <Value>(loop: 'sample' | 'plan', work: () => Value): Value => {
    const before = monotonic();
    const value = work();
    const seconds = (monotonic() - before) / 1000;
    metrics.observe('mbcas_agent_step_duration_seconds', { loop }, seconds);
    if (loop === 'sample') metrics.observe('mbcas_cgroup_read_duration_seconds', {}, seconds);
    else metrics.observe('mbcas_allocation_compute_duration_seconds', {}, seconds);
    return value;
  };
  const sampleOnce = (): void => {
    if (havePodsChanged) {
      havePodsChanged = false;
      const before = monotonic();
      sampler.track(stores.pods().map(({ tracked }) => tracked));
      metrics.observe('mbcas_pod_discovery_duration_seconds', {}, (monotonic() - before) / 1000);
    }
    timed('sample', () => sampler.sample());
    lastSampleAt = clock.now();
    metrics.inc('mbcas_agent_samples_total', {});
  };
  /** Why nothing may be decided now. */
  const blockedBecause = (): string | undefined =>
    settings.isKnown() ? stores.staleBecause() : `the ConfigMap ${namespace}/mbcas-agent-config cannot be read`;

  const plan = (): Tick | undefined => {
    const blocked = blockedBecause();
    if (blocked !== undefined && blocked !== lastStale) log.info({}, `No plan for now: ${blocked}`);
    lastStale = blocked ?? '';
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
    const tick = planTick({
      node,
      pods,
      stores,
      sampler,
      metricOf: demand.of,
      rules,
      tickMillis,
      samplingMillis,
      memory,
      time,
    });
    forgetGone(last, tick);
    last = tick;
    countTick(metrics, tick);
    return tick;
  };
  const forgetGone = (before: Tick | undefined, now: Tick): void => {
    const present = new Set(now.plan.pods.map(({ uid }) => uid));
    for (const { uid, namespace: ns, name } of before?.plan.pods ?? [])
      if (!present.has(uid)) metrics.removePod(ns, name);
  };
  const write = async (tick: Tick, signal: AbortSignal): Promise<void> => {
    const plannedMillis = monotonic();
    const isDue = plannedMillis - lastWriteMillis >= settings.current().renewMillis;
    const isObserving = settings.current().rules.apply === 'observe';
    const renewed = tick.writes.length === 0 && isDue && !isObserving ? renewal.next(tick, clock.now()) : undefined;
    const writes: readonly IntendedWrite[] = renewed === undefined ? tick.writes : [renewed];
    const results = await writer.write(writes, signal);
    const failed = new Set<string>();
    results.forEach((result, index) => {
      const intended = writes[index];
      if (intended === undefined) return;
      if (result !== undefined) metrics.inc('mbcas_agent_writes_total', { result });
      if (result !== 'ok') return void failed.add(intended.podUid);
      const { namespace: ns = '', podName: pod = '' } = intended.object.spec ?? {};
      const direction = intended.growth > 0 ? 'up' : intended.growth < 0 ? 'down' : 'same';
      if (intended.why === 'changed') {
        metrics.inc('mbcas_allocation_changes_total', { namespace: ns, pod, direction });
        metrics.observe('mbcas_allocation_latency_seconds', {}, (monotonic() - plannedMillis) / 1000);
      }
      writesSinceStart++;
      lastWriteMillis = monotonic();
      lastWriteAt = clock.now();
    });
    memory = withoutFailed(tick.plan, memory, failed);
  };
  const tickOnce = (signal: AbortSignal): void => {
    void demand.refresh(
      stores.pods().map(({ pod }) => pod),
      signal,
    );
    // A tick behind a slow server would plan on what has not arrived yet.
    if (isWriting) return;
    const tick = timed('plan', plan);
    if (tick === undefined) return;
    isWriting = true;
    void write(tick, signal)
      .catch((error: unknown) => log.error({ error }, 'A plan could not be written'))
      .finally(() => {
        isWriting = false;
      });
  };

  const loop = async (signal: AbortSignal): Promise<void> => {
    let dueMillis = monotonic();
    while (!signal.aborted) {
      const { samplingMillis, tickMillis } = settings.current();
      try {
        sampleOnce();
        // Timers are a little early or late; half a sample decides which tick it is.
        if (monotonic() - lastPlanMillis >= tickMillis - samplingMillis / 2) {
          lastPlanMillis = monotonic();
          tickOnce(signal);
        }
      } catch (error) {
        log.error({ error }, 'A tick failed; the next one starts from what is known then');
      }
      // What was missed, by a suspended machine say, is not made up for.
      dueMillis = Math.max(dueMillis + samplingMillis, monotonic());
      await sleep(clock, dueMillis - monotonic(), signal).catch(() => {});
    }
  };

  return {
    async run(signal) {
      await Promise.all([settings.run(signal), stores.run(signal), loop(signal)]);
      sampler.close();
    },
    health: () => ({
      cgroupDetection: sampler.describe(),
      podsTracked: stores.pods().length,
      podsManaged: last?.plan.pods.length ?? 0,
      lastSampleAt,
      lastWriteAt,
      samplesSinceStart: sampler.samples,
      writesSinceStart,
      startedAt,
      now: clock.now(),
      gracePeriodMillis: settings.current().rules.startupGraceMillis,
      blockedBecause: blockedBecause(),
      isWriterWaiting: writer.isWaiting(),
      problems: sampler.problems(),
    }),
    unready: () => (sampler.samples === 0 ? 'no sample was taken yet' : blockedBecause()),
  };
}

/** Administrators' queries by name; none where there is no such ConfigMap. */
async function readQueries(api: KubeApi, namespace: string): Promise<Readonly<Record<string, string>>> {
  try {
    const { data }: ConfigMap = await api.get(resources.configMaps, 'mbcas-demand-queries', { namespace });
    return data ?? {};
  } catch (error) {
    if (isNotFound(error)) return {};
    throw error;
  }
}
