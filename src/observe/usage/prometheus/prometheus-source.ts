/**
 * Usage from Prometheus and what speaks its API (Thanos, VictoriaMetrics, Mimir): two range queries a workload, for all
 * its pods and containers at once.
 */
import type { Semaphore } from '../../../kube/transport/semaphore.ts';
import type { EpochMillis, Millis } from '../../../lib/units.ts';
import { workloadKey } from '../../../model/cluster-view.ts';
import type { UsagePoint, UsageSeries } from '../../../model/usage-series.ts';
import type { HttpExchange } from '../http-exchange.ts';
import type { CredentialsReader } from '../source-credentials.ts';
import {
  MOST_BYTES,
  MOST_MILLICORES,
  type SourceHealth,
  type UsageAnswer,
  type UsageProblem,
  type UsageRequest,
  type UsageSource,
} from '../usage-source.ts';
import { podPattern } from './pod-pattern.ts';
import { postForm } from './post-form.ts';
import {
  fillTemplate,
  type LabelNames,
  MAX_QUERY_BYTES,
  type QueryInput,
  type QueryPair,
  throttlingQuery,
  usageQueries,
} from './promql.ts';
import { planRanges, type RangePlan } from './range-plan.ts';
import { type MatrixAnswer, type MatrixSeries, readMatrix } from './read-matrix.ts';

/** The same for all Prometheus sources of the process. */
export interface PrometheusTuning {
  /** Distance of two points of an answer; longer where the budget demands it. */
  readonly stepMillis: Millis;
  /** How often kubelets are scraped. */
  readonly scrapeMillis: Millis;
  /**
   * Over which CPU usage is averaged. Undefined: four scrapes, or the step where that is longer, so that nothing falls
   * between.
   */
  readonly rateMillis: Millis | undefined;
  /**
   * Samples one answer may have; a longer step keeps within it. Prometheus refuses queries that load more than its own
   * `query.max-samples`, which are all samples read, not those answered.
   */
  readonly sampleBudget: number;
  readonly timeoutMillis: Millis;
  readonly names: LabelNames;
}

export interface PrometheusSourceOptions {
  readonly name: string;
  readonly url: URL;
  readonly labels: Readonly<Record<string, string>>;
  readonly tuning: PrometheusTuning;
  readonly credentials: CredentialsReader;
  readonly exchange: HttpExchange;
  /** Shared by all sources: what they ask for at a time. */
  readonly permits: Semaphore;
  /** PromQL to use instead of the built-in questions. */
  readonly templates?: QueryPair;
}

/** Fewer scrapes make a rate of noise, or none at all when one is missed. */
const SCRAPES_PER_RATE = 4;

type Resource = 'cpu' | 'memory';

interface ResourceReading {
  readonly series: readonly MatrixSeries[];
  readonly readTo: EpochMillis | undefined;
  readonly warnings: readonly string[];
}

type ResourceAnswer =
  | ({ readonly ok: true } & ResourceReading)
  | { readonly ok: false; readonly problem: UsageProblem };

export function createPrometheusSource(options: PrometheusSourceOptions): UsageSource {
  const { name, url, labels, tuning, templates } = options;

  const ask = async (path: string, form: Readonly<Record<string, string>>, signal: AbortSignal) => {
    const release = await options.permits.acquire(signal);
    try {
      return await postForm({ ...options, path, form }, signal);
    } finally {
      release();
    }
  };

  /** All ranges of one resource in order; the first that fails ends it, as a gap would look like no usage. */
  const read = async (request: UsageRequest, resource: Resource, signal: AbortSignal): Promise<ResourceAnswer> => {
    const plan = planFor(request, resource, tuning);
    const query = queryFor(request, plan.stepMillis)[resource];
    if (Buffer.byteLength(query) > MAX_QUERY_BYTES) {
      const message = `the query for ${workloadKey(request.workload)} is longer than ${MAX_QUERY_BYTES} bytes: name fewer labels in the policy`;
      return { ok: false, problem: { reason: 'Misconfigured', message } };
    }
    const series: MatrixSeries[] = [];
    const warnings = new Set<string>();
    for (const { start, end } of plan.ranges) {
      const form = {
        query,
        start: String(start / 1000),
        end: String(end / 1000),
        step: String(plan.stepMillis / 1000),
        timeout: `${Math.ceil(tuning.timeoutMillis / 1000)}s`,
      };
      const answer = await ask('api/v1/query_range', form, signal);
      if (!answer.ok) return answer;
      const matrix = readMatrix(answer.value, tuning.names);
      if (!matrix.ok) return { ok: false, problem: problemOf(matrix) };
      series.push(...matrix.series);
      for (const warning of matrix.warnings) warnings.add(warning);
    }
    const instants = series.flatMap(({ points }) => points.at(-1)?.at ?? []);
    return { ok: true, series, readTo: instants.length === 0 ? undefined : maxOf(instants), warnings: [...warnings] };
  };

  const problemOf = ({ kind, message }: Extract<MatrixAnswer, { ok: false }>): UsageProblem => {
    const isMalformed = kind === 'malformed';
    const advice = isMalformed ? 'check that the address is that of a Prometheus API' : 'the query was refused';
    const text = `${url.origin}${url.pathname}: ${message}; ${advice}`;
    return { reason: isMalformed ? 'Malformed' : 'Rejected', message: text };
  };

  return {
    name,
    kind: 'range',
    async throttling({ agoMillis, windowMillis, ...request }, signal) {
      const query = throttlingQuery({ ...inputFor(request, windowMillis), rateMillis: windowMillis }, agoMillis);
      const answer = await ask('api/v1/query', { query }, signal);
      if (!answer.ok) return answer;
      const vector = readMatrix(answer.value, tuning.names);
      if (!vector.ok) return { ok: false, problem: problemOf(vector) };
      const shares = new Map<string, number>();
      for (const { container, points } of vector.series) {
        for (const { value } of points) shares.set(container, Math.min(1, Math.max(value, shares.get(container) ?? 0)));
      }
      return { ok: true, shares };
    },
    async fetch(request, signal) {
      const cpu = await read(request, 'cpu', signal);
      // What keeps one question from being answered keeps the other, too, unless it is about the question itself.
      if (!cpu.ok && !isAboutQuestion(cpu.problem)) return cpu;
      const memory = await read(request, 'memory', signal);
      return join(cpu, memory);
    },
    async health(signal): Promise<SourceHealth> {
      const answer = await ask('api/v1/query', { query: 'vector(1)' }, signal);
      if (!answer.ok) return answer;
      const isAnswered = typeof answer.value === 'object' && answer.value !== null && 'data' in answer.value;
      if (isAnswered) return { ok: true };
      const message = `${url.origin}${url.pathname} does not answer as Prometheus does: check the address and its path`;
      return { ok: false, problem: { reason: 'Malformed', message } };
    },
  };

  function inputFor(
    { workload, pods, containers }: Pick<UsageRequest, 'workload' | 'pods' | 'containers'>,
    stepMillis: Millis,
  ): QueryInput {
    return {
      namespace: workload.namespace,
      podPattern: podPattern(workload, pods),
      containers,
      labels,
      names: tuning.names,
      rateMillis: tuning.rateMillis ?? Math.max(SCRAPES_PER_RATE * tuning.scrapeMillis, stepMillis),
      stepMillis,
      scrapeMillis: tuning.scrapeMillis,
    };
  }

  function queryFor(request: UsageRequest, stepMillis: Millis): QueryPair {
    const input = inputFor(request, stepMillis);
    if (templates === undefined) return usageQueries(input);
    return { cpu: fillTemplate(templates.cpu, input), memory: fillTemplate(templates.memory, input) };
  }
}

function planFor(request: UsageRequest, resource: Resource, tuning: PrometheusTuning): RangePlan {
  const { stepMillis, scrapeMillis, sampleBudget } = tuning;
  return planRanges({
    from: request.from[resource],
    // The latest scrape may still be on its way.
    to: request.to - scrapeMillis,
    stepMillis,
    // As many pods may have come and gone as there are.
    series: 2 * Math.max(1, request.pods.length) * Math.max(1, request.containers.length),
    sampleBudget,
  });
}

/** What another question may well be answered in spite of. */
function isAboutQuestion({ reason }: UsageProblem): boolean {
  return reason === 'Rejected' || reason === 'TooLarge' || reason === 'Malformed' || reason === 'TimedOut';
}

/** Either resource may be missing: partial data is data, with a warning. */
function join(cpu: ResourceAnswer, memory: ResourceAnswer): UsageAnswer {
  if (!cpu.ok && !memory.ok) return cpu;
  const warnings: string[] = [];
  const parts = new Map<
    string,
    { pod: string; container: string; cpu: UsagePoint<number>[]; memory: UsagePoint<number>[] }
  >();
  const put = (answer: ResourceAnswer, resource: Resource, most: number, convert: (value: number) => number): void => {
    if (!answer.ok) {
      warnings.push(`no ${resource} usage: ${answer.problem.message}`);
      return;
    }
    warnings.push(...answer.warnings);
    let absurd = 0;
    for (const { pod, container, points } of answer.series) {
      const key = `${pod}/${container}`;
      const part = parts.get(key) ?? { pod, container, cpu: [], memory: [] };
      parts.set(key, part);
      for (const { at, value } of points) {
        if (value <= most) part[resource].push({ at, value: convert(value) });
        else absurd++;
      }
    }
    if (absurd > 0) warnings.push(`${absurd} samples of ${resource} are beyond any machine and were left out`);
  };
  // Cut, not rounded: what OptiPod makes of them.
  put(cpu, 'cpu', MOST_MILLICORES / 1000, (cores) => Math.trunc(cores * 1000));
  put(memory, 'memory', MOST_BYTES, Math.trunc);
  const series: readonly UsageSeries[] = [...parts.values()];
  const readTo = {
    ...(cpu.ok && cpu.readTo !== undefined && { cpu: cpu.readTo }),
    ...(memory.ok && memory.readTo !== undefined && { memory: memory.readTo }),
  };
  return { ok: true, series, readTo, warnings: [...new Set(warnings)] };
}

/** Of lists too long to be spread into a call. */
const maxOf = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value));
