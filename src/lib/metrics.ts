/** Prometheus metrics behind typed names: a metric that is not in the tables, or a missing label, does not compile. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { MetricDefinition } from './metric-definition.ts';
import { allocationMetrics } from './metrics-allocation.ts';
import { placementMetrics } from './metrics-placement.ts';
import { rightsizingMetrics } from './metrics-rightsizing.ts';
import { runtimeMetrics } from './metrics-runtime.ts';
import { seriesText } from './series-text.ts';

/** By whose they are. */
const tables = {
  placement: placementMetrics,
  rightsizing: rightsizingMetrics,
  allocation: allocationMetrics,
  runtime: runtimeMetrics,
} as const;

/** Every metric. To add one, add a row to one of these tables. */
export const metricTable = {
  ...tables.placement,
  ...tables.rightsizing,
  ...tables.allocation,
  ...tables.runtime,
} as const satisfies Record<string, MetricDefinition>;

type Table = typeof metricTable;
type MetricName = keyof Table;
type NameOfType<Type extends MetricDefinition['type']> = {
  [Name in MetricName]: Table[Name]['type'] extends Type ? Name : never;
}[MetricName];
type CounterName = NameOfType<'counter'>;
type GaugeName = NameOfType<'gauge'>;
type HistogramName = NameOfType<'histogram'>;
/** One value for each label of the metric. */
type MetricLabels<Name extends MetricName> = Readonly<Record<Table[Name]['labels'][number], string>>;

/** Names and labels are those of the tables. Nothing in here throws for a value: what is no number is left out. */
export interface Metrics {
  /** Counts up by 1, or by a positive amount. */
  inc<Name extends CounterName>(name: Name, labels: MetricLabels<Name>, by?: number): void;
  set<Name extends GaugeName>(name: Name, labels: MetricLabels<Name>, value: number): void;
  observe<Name extends HistogramName>(name: Name, labels: MetricLabels<Name>, value: number): void;
  /** Drops every series of a gauge, for gauges that are set anew before each {@link render}. */
  clear(name: GaugeName): void;
  /**
   * Drops every series of a workload that is gone; those that name its policy, too.
   * @param of only those of this engine, which manages it no longer: the others go on.
   */
  removeWorkload(workload: NamedWorkload, of?: 'placement' | 'rightsizing'): void;
  /** Drops every series with this value of the label `policy`: the policy is gone. */
  removePolicy(policy: string): void;
  /** `collect` runs before each {@link render}, to set gauges that are cheaper to read than to keep up to date. */
  onRender(collect: () => void): void;
  /**
   * `series` is asked at each {@link render} for all series of a gauge, which is never {@link set}: none is kept in
   * between. For gauges with a series a pod.
   */
  onRead<Name extends GaugeName>(name: Name, series: () => Iterable<readonly [MetricLabels<Name>, number]>): void;
  /** The text of a scrape, in pieces that are made as they are asked for: the whole is megabytes in a large cluster. */
  pieces(): AsyncIterable<string>;
  /** The text of a scrape. */
  render(): Promise<string>;
  /** The Content-Type of {@link render}. */
  readonly contentType: string;
}

/** Which workload, by what is in its series. */
export interface NamedWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export interface MetricsOptions {
  /** Adds the standard `process_*` and `nodejs_*` metrics. */
  readonly processMetrics?: boolean;
}

type Instrument = Counter | Gauge | Histogram;
type LabelValues = Readonly<Record<string, string>>;
interface Series {
  readonly instrument: Instrument;
  readonly labels: LabelValues;
}

/** A registry of its own; nothing is shared between two of them. */
export function createMetrics({ processMetrics = false }: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();
  const collectors: (() => void)[] = [];
  const readers = new Map<string, () => Iterable<readonly [LabelValues, number]>>();
  /** The series of each workload, so that they can be removed. */
  const byWorkload = new Map<string, Series[]>();
  const byPolicy = new Map<string, Series[]>();

  /**
   * The labels to hand to the instrument. For a series of a workload always the same object, which the instrument keeps
   * too: there are about ten such series a workload, and a copy or a key for each would cost megabytes.
   */
  const labelsOf = (instrument: Instrument, labels: LabelValues): LabelValues => {
    const { policy } = labels;
    const workload = workloadOf(labels);
    const own = workload === undefined ? undefined : seriesOf(byWorkload, workload, instrument, labels);
    if (policy === undefined) return own?.series.labels ?? { ...labels };
    // Of a workload and of a policy: it goes with whichever goes first.
    if (own?.isNew === false) return own.series.labels;
    return seriesOf(byPolicy, policy, instrument, labels, own?.series).series.labels;
  };
  const forget = (index: Map<string, Series[]>, owner: string, of?: keyof typeof tables): void => {
    const names = Object.keys(of === undefined ? metricTable : tables[of]);
    const own = new Set<unknown>(names.map((name) => counters.get(name) ?? gauges.get(name) ?? histograms.get(name)));
    const all = index.get(owner) ?? [];
    const kept = all.filter(({ instrument }) => !own.has(instrument));
    if (kept.length === 0) index.delete(owner);
    else index.set(owner, kept);
    for (const series of all.filter(({ instrument }) => own.has(instrument))) {
      const { instrument, labels } = series;
      instrument.remove(labels);
      const [policy, workload] = [labels['policy'], workloadOf(labels)];
      if (index !== byPolicy && policy !== undefined) drop(byPolicy, policy, series);
      if (index !== byWorkload && workload !== undefined) drop(byWorkload, workload, series);
    }
  };

  for (const [name, definition] of Object.entries<MetricDefinition>(metricTable)) {
    const { type, help, labels, buckets, initial = [] } = definition;
    const settings = { name, help, labelNames: [...labels], registers: [registry] };
    if (type === 'counter') {
      const counter = new Counter(settings);
      counters.set(name, counter);
      for (const row of initial) counter.inc({ ...row }, 0);
    } else if (type === 'gauge') {
      const gauge = new Gauge(settings);
      gauges.set(name, gauge);
      for (const row of initial) gauge.set({ ...row }, 0);
    } else {
      const histogram = new Histogram(buckets === undefined ? settings : { ...settings, buckets: [...buckets] });
      histograms.set(name, histogram);
      for (const row of initial) histogram.zero({ ...row });
    }
  }
  if (processMetrics) {
    collectDefaultMetrics({ register: registry });
    // They are NaN until sampled, and stowage_event_loop_delay_seconds tells the same.
    for (const { name } of registry.getMetricsAsArray()) {
      if (name.startsWith('nodejs_eventloop_lag_')) registry.removeSingleMetric(name);
    }
  }

  async function* written(): AsyncGenerator<string> {
    let separator = '';
    for (const { name } of registry.getMetricsAsArray()) {
      yield `${separator}${await registry.getSingleMetricAsString(name)}`;
      separator = '\n\n';
      const series = readers.get(name);
      if (series !== undefined) yield* inChunks(seriesText(name, series()));
    }
    yield '\n';
  }
  const pieces = (): AsyncGenerator<string> => {
    for (const collect of collectors) collect();
    return written();
  };

  return {
    inc(name, labels, by = 1) {
      const counter = counters.get(name);
      if (counter === undefined) return;
      counter.inc(labelsOf(counter, labels), by);
    },
    set(name, labels, value) {
      const gauge = gauges.get(name);
      // Prometheus takes NaN, people and alerts do not.
      if (gauge === undefined || Number.isNaN(value)) return;
      gauge.set(labelsOf(gauge, labels), value);
    },
    observe(name, labels, value) {
      const histogram = histograms.get(name);
      if (histogram === undefined || Number.isNaN(value)) return;
      histogram.observe(labelsOf(histogram, labels), value);
    },
    clear(name) {
      gauges.get(name)?.reset();
    },
    removeWorkload({ kind, namespace, name }, of) {
      forget(byWorkload, ownerOf(kind, namespace, name), of);
    },
    removePolicy(policy) {
      forget(byPolicy, policy);
    },
    onRender(collect) {
      collectors.push(collect);
    },
    onRead(name, series) {
      readers.set(name, series);
    },
    pieces,
    async render() {
      let text = '';
      for await (const piece of pieces()) text += piece;
      return text;
    },
    contentType: registry.contentType,
  };
}

/** The series as it is kept with its owner. @param made where it is kept with another owner already. */
function seriesOf(
  index: Map<string, Series[]>,
  owner: string,
  instrument: Instrument,
  labels: LabelValues,
  made?: Series,
): { readonly series: Series; readonly isNew: boolean } {
  const all = index.get(owner);
  const known = all?.find((one) => one.instrument === instrument && hasSameValues(one.labels, labels));
  if (known !== undefined) return { series: known, isNew: false };
  const series = made ?? { instrument, labels: { ...labels } };
  if (all === undefined) index.set(owner, [series]);
  else all.push(series);
  return { series, isNew: true };
}

function drop(index: Map<string, Series[]>, owner: string, series: Series): void {
  const left = index.get(owner)?.filter((each) => each !== series) ?? [];
  if (left.length === 0) index.delete(owner);
  else index.set(owner, left);
}

/** Owner of a workload's series; undefined for others. Where a series has both, `kind` says what of it is told. */
function workloadOf({ namespace, workload, kind, workload_type }: LabelValues): string | undefined {
  if (namespace === undefined || workload === undefined) return undefined;
  return ownerOf(workload_type ?? kind ?? '', namespace, workload);
}

/**
 * Pieces of a size worth sending, and no larger: what lives through two small collections while it is sent is old, and
 * stays until a large one.
 */
function* inChunks(lines: Iterable<string>): Generator<string> {
  let chunk: string[] = [];
  let length = 0;
  for (const line of lines) {
    chunk.push(line);
    length += line.length;
    if (length < CHUNK_LENGTH) continue;
    yield chunk.join('');
    chunk = [];
    length = 0;
  }
  yield chunk.join('');
}

/** Characters. */
const CHUNK_LENGTH = 4096;

function hasSameValues(a: LabelValues, b: LabelValues): boolean {
  for (const name in a) if (a[name] !== b[name]) return false;
  return true;
}

/** @param kind the labels of Spotalis have it in lower case. */
function ownerOf(kind: string, namespace: string, name: string): string {
  return `${kind.toLowerCase()}/${namespace}/${name}`;
}
