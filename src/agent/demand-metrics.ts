/**
 * Figures of applications (queue length, latency) for the pods that ask for them by annotation. The queries are the
 * administrator's, named in a ConfigMap: tenants choose among them and never write one. One query a metric for the
 * whole node.
 */

import type { AllocationPod } from '../decide/allocation/allocation-pod.ts';
import type { MetricFact } from '../decide/allocation/integrations/custom-metrics.ts';
import { LATENCY_METRIC } from '../decide/allocation/marks.ts';
import type { Clock } from '../lib/clock.ts';
import { describeError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { ownMember } from '../lib/own-member.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { AgentPod } from './node-stores.ts';
import type { MetricSample } from './prometheus-query.ts';

type AskingPod = Pick<AgentPod, 'pod' | 'marks'>;

/** Figures are advice: without them the pod's own CPU use counts. */
export interface DemandMetrics {
  /** Asks for what the pods want and is due. Never rejects. */
  refresh(pods: readonly AskingPod[], signal: AbortSignal): Promise<void>;
  /** The newest value that is fit to be used. */
  of(pod: AskingPod): MetricFact | undefined;
}

export interface DemandMetricsOptions {
  /** By name; with `$pods` for the pods' names as a regular expression, and `$node`. */
  readonly queries: () => Promise<Readonly<Record<string, string>>>;
  /** Undefined: there is no Prometheus, and nothing is asked. */
  readonly query: (text: string, signal: AbortSignal) => Promise<readonly MetricSample[]> | undefined;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly monotonic: () => Millis;
  /** Time in which the plan is made; facts carry it. */
  readonly steady: () => EpochMillis;
  readonly onResult: (result: 'ok' | 'failed' | 'skipped') => void;
  readonly log: Logger;
}

/** Of one query: a tick must not wait for longer than itself. */
const TIMEOUT: Millis = 2000;
const CACHE: Millis = 5000;
const QUERIES_CACHE: Millis = 30_000;
/** The value itself may be so old by the server's clock. */
const STALE: Millis = 60_000;
const FAILURES_TO_BREAK = 5;
const BREAK: Millis = 60_000;

/** Beside those of the ConfigMap, which may hold others of these names. MBCAS's query, of one namespace's pods each. */
const BUILT_IN: Readonly<Record<string, string>> = {
  [LATENCY_METRIC]:
    '1000 * histogram_quantile(0.99, sum by (namespace, pod, le) (rate(http_request_duration_seconds_bucket{pod=~"$pods"}[1m])))',
};

/** What may be the matter: with all metrics, or with one. */
const [QUERIES, PROMETHEUS] = ['queries', 'Prometheus'];
const about = (name: string): string => `metric ${name}`;

interface Metric {
  values: Map<string, MetricSample>;
  fetchedAt: EpochMillis;
  askedMillis: Millis;
}

export function createDemandMetrics(options: DemandMetricsOptions): DemandMetrics {
  const { clock, monotonic, steady, log, nodeName, onResult } = options;
  const metrics = new Map<string, Metric>();
  /** Undefined until they have been read: what is not among them is not known then. */
  let queries: Readonly<Record<string, string>> | undefined;
  let queriesMillis = Number.NEGATIVE_INFINITY;
  let failures = 0;
  let brokenUntilMillis = Number.NEGATIVE_INFINITY;
  /** What is the matter with a metric, or with what all of them need: told once as long as it is so. */
  const told = new Map<string, string>();

  const tell = (matter: string, sentence: string): void => {
    if (told.get(matter) !== sentence) log.warn({}, sentence);
    told.set(matter, sentence);
  };
  const withTimeout = async <Value>(
    signal: AbortSignal,
    work: (limited: AbortSignal) => Promise<Value>,
  ): Promise<Value> => {
    const timeout = new AbortController();
    const timer = clock.setTimer(TIMEOUT, () => timeout.abort(new Error('no answer in 2 s')));
    try {
      return await work(AbortSignal.any([signal, timeout.signal]));
    } finally {
      timer.cancel();
    }
  };
  const loadQueries = async (): Promise<void> => {
    if (monotonic() - queriesMillis < QUERIES_CACHE) return;
    queriesMillis = monotonic();
    queries = await options.queries();
    told.delete(QUERIES);
  };
  /** One query for all pods of this node that want the metric, at most every five seconds. */
  const ask = async (name: string, pods: readonly AllocationPod[], signal: AbortSignal): Promise<void> => {
    const text = ownMember(queries, name) ?? ownMember(BUILT_IN, name);
    const metric = metrics.get(name) ?? { values: new Map(), fetchedAt: 0, askedMillis: Number.NEGATIVE_INFINITY };
    metrics.set(name, metric);
    if (monotonic() - metric.askedMillis < CACHE) return;
    metric.askedMillis = monotonic();
    if (text === undefined) {
      onResult('skipped');
      if (queries === undefined) return;
      tell(
        about(name),
        `mbcas.io/demand-metric: "${name}" is not among the queries of the ConfigMap mbcas-demand-queries`,
      );
      return;
    }
    if (monotonic() < brokenUntilMillis) return onResult('skipped');
    try {
      const filled = fill(text, pods, nodeName);
      const samples = await withTimeout(signal, async (limited) => options.query(filled, limited));
      if (samples === undefined) {
        onResult('skipped');
        tell(PROMETHEUS, 'Pods ask for demand metrics, but prometheusURL is not set; their CPU alone counts');
        return;
      }
      metric.values = new Map(samples.map((sample) => [`${sample.namespace}/${sample.pod}`, sample]));
      metric.fetchedAt = steady();
      failures = 0;
      for (const matter of [about(name), PROMETHEUS]) told.delete(matter);
      onResult('ok');
    } catch (error) {
      if (signal.aborted) return;
      failures++;
      onResult('failed');
      tell(about(name), `Demand metric "${name}" cannot be read: ${describeError(error)}`);
      if (failures < FAILURES_TO_BREAK) return;
      brokenUntilMillis = monotonic() + BREAK;
      failures = 0;
      tell(PROMETHEUS, 'Demand metrics failed five times in a row; they are left alone for a minute');
    }
  };

  return {
    async refresh(pods, signal) {
      const wanted = new Map<string, AllocationPod[]>();
      for (const { pod, marks } of pods) {
        const name = marks.metric?.name;
        if (name !== undefined) wanted.set(name, [...(wanted.get(name) ?? []), pod]);
      }
      for (const name of metrics.keys()) {
        if (wanted.has(name)) continue;
        metrics.delete(name);
        told.delete(about(name));
      }
      if (wanted.size === 0) return;
      try {
        await loadQueries();
      } catch (error) {
        if (!signal.aborted)
          tell(QUERIES, `The ConfigMap mbcas-demand-queries cannot be read: ${describeError(error)}`);
      }
      await Promise.all([...wanted].map(([name, own]) => ask(name, own, signal)));
    },
    of({ pod, marks: { metric: wish } }) {
      const metric = wish === undefined ? undefined : metrics.get(wish.name);
      const sample = metric?.values.get(`${pod.namespace}/${pod.name}`);
      if (wish === undefined || metric === undefined || sample === undefined) return undefined;
      // Both by wall clocks, which may differ a little and must not differ much.
      if (Math.abs(clock.now() - sample.atSeconds * 1000) > STALE) return undefined;
      return { value: sample.value, target: wish.target, at: metric.fetchedAt, isAuthoritative: wish.isAuthoritative };
    },
  };
}

/** Names of pods are letters, digits, dashes and dots: only the dot means something in a regular expression. */
function fill(text: string, pods: readonly AllocationPod[], nodeName: string): string {
  const pattern = pods.map(({ name }) => name.replaceAll('.', '\\\\.')).join('|');
  return text.replaceAll('$pods', () => pattern).replaceAll('$node', () => nodeName);
}
