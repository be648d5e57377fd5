/** Counts and prints the agent's metrics in the Prometheus text format, version 0.0.4. */
import type { MetricDefinition } from '../lib/metric-definition.ts';
import { agentMetrics } from '../lib/metrics-agent.ts';

type Table = typeof agentMetrics;
type NameOfType<Type extends MetricDefinition['type']> = {
  [Name in keyof Table]: Table[Name]['type'] extends Type ? Name : never;
}[keyof Table];
type LabelsOf<Name extends keyof Table> = Readonly<Record<Table[Name]['labels'][number], string>>;

/** As the operator's `Metrics`, without the library. */
export interface AgentMetrics {
  inc<Name extends NameOfType<'counter'>>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  /** Sets a gauge, or a counter that is kept elsewhere. Values that are no number are left out. */
  set<Name extends NameOfType<'gauge' | 'counter'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  observe<Name extends NameOfType<'histogram'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /** Drops all series of a gauge, before it is set anew. */
  clear(name: NameOfType<'gauge'>): void;
  /** Drops every series of a pod that is gone. */
  removePod(namespace: string, pod: string): void;
  /** `collect` runs before each {@link render}. */
  onRender(collect: () => void): void;
  render(): string;
}

interface Histogram {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** Of the text format that every Prometheus reads. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function createAgentMetrics(): AgentMetrics {
  /** By metric, then by labels as they are printed. */
  const values = new Map<string, Map<string, number>>();
  const histograms = new Map<string, Map<string, Histogram>>();
  const collectors: (() => void)[] = [];
  const definitions = Object.entries<MetricDefinition>(agentMetrics);
  const seriesOf = <Value>(all: Map<string, Map<string, Value>>, name: string): Map<string, Value> => {
    const known = all.get(name);
    if (known !== undefined) return known;
    const created = new Map<string, Value>();
    all.set(name, created);
    return created;
  };
  const add = (name: string, labels: Readonly<Record<string, string>>, by: number): void => {
    const series = seriesOf(values, name);
    const key = labelText(labels);
    series.set(key, (series.get(key) ?? 0) + by);
  };
  for (const [name, { type, initial = [] }] of definitions)
    if (type === 'counter') for (const labels of initial) add(name, labels, 0);

  return {
    inc: (name, labels, by = 1) => add(name, labels, by),
    set(name, labels, value) {
      if (!Number.isNaN(value)) seriesOf(values, name).set(labelText(labels), value);
    },
    observe(name, labels, value) {
      const { buckets } = agentMetrics[name];
      const series = seriesOf(histograms, name);
      const key = labelText(labels);
      const histogram = series.get(key) ?? { counts: buckets.map(() => 0), sum: 0, count: 0 };
      series.set(key, histogram);
      buckets.forEach((bound, index) => {
        if (value <= bound) histogram.counts[index] = (histogram.counts[index] ?? 0) + 1;
      });
      histogram.sum += value;
      histogram.count++;
    },
    clear: (name) => void values.delete(name),
    removePod(namespace, pod) {
      const key = labelText({ namespace, pod });
      for (const series of values.values())
        for (const labels of series.keys()) if (labels === key || labels.startsWith(`${key},`)) series.delete(labels);
    },
    onRender: (collect) => void collectors.push(collect),
    render() {
      for (const collect of collectors) collect();
      const lines: string[] = [];
      for (const [name, { type, help, buckets = [] }] of definitions) {
        lines.push(`# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`, `# TYPE ${name} ${type}`);
        for (const [labels, value] of values.get(name) ?? [])
          lines.push(`${name}${labels === '' ? '' : `{${labels}}`} ${numberText(value)}`);
        for (const [labels, histogram] of histograms.get(name) ?? [])
          lines.push(...histogramLines(name, labels, buckets, histogram));
      }
      // They are set anew for each scrape; kept, those of a full node would be half a megabyte.
      for (const [name, { type, labels }] of definitions)
        if (type === 'gauge' && labels.includes('pod')) values.delete(name);
      return `${lines.join('\n')}\n`;
    },
  };
}

function histogramLines(name: string, labels: string, buckets: readonly number[], histogram: Histogram): string[] {
  const with_ = (bound: string): string => `${labels === '' ? '' : `${labels},`}le="${bound}"`;
  const own = labels === '' ? '' : `{${labels}}`;
  return [
    ...buckets.map((bound, index) => `${name}_bucket{${with_(numberText(bound))}} ${histogram.counts[index] ?? 0}`),
    `${name}_bucket{${with_('+Inf')}} ${histogram.count}`,
    `${name}_sum${own} ${numberText(histogram.sum)}`,
    `${name}_count${own} ${histogram.count}`,
  ];
}

/** As it stands between the braces; values are escaped as the format says. */
function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}="${value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')}"`)
    .join(',');
}

/** As the text format writes numbers; NaN never gets here. */
function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
