/** The two questions asked of Prometheus, as PromQL. */
import type { Millis } from '../../../lib/units.ts';
import { escapeRegex } from './pod-pattern.ts';

/** What the labels of the kubelet's container metrics are called where they were renamed. */
export interface LabelNames {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** As the kubelet writes them (cAdvisor's metrics since Kubernetes 1.16). */
export const defaultLabelNames: LabelNames = { namespace: 'namespace', pod: 'pod', container: 'container' };

/** What is put into a query; every text is escaped here. */
export interface QueryInput {
  readonly namespace: string;
  /** RE2, see pod-pattern.ts. */
  readonly podPattern: string;
  readonly containers: readonly string[];
  /** Labels every series must have. */
  readonly labels: Readonly<Record<string, string>>;
  readonly names: LabelNames;
  /** Over which usage is averaged; several scrapes long. */
  readonly rateMillis: Millis;
  readonly stepMillis: Millis;
  readonly scrapeMillis: Millis;
}

/** PromQL whose answers are matrices with the labels of pod and container. */
export interface QueryPair {
  /** Cores. */
  readonly cpu: string;
  /** Bytes. */
  readonly memory: string;
}

/** Longer ones are refused by proxies, although they are sent as a form. */
export const MAX_QUERY_BYTES = 8 * 1024;
/** Prometheus' grammar of label names. */
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * One question each for all pods and containers of a workload. `max` makes one of what is there twice: two scrapes of a
 * kubelet, two replicas of Prometheus, the series of a container before and after its restart.
 */
export function usageQueries(input: QueryInput): QueryPair {
  const { names, rateMillis, stepMillis, scrapeMillis } = input;
  const by = `max by (${names.pod}, ${names.container})`;
  // cAdvisor without per-core series has cpu="total" or no such label; with them, the cores would be taken for the
  // whole.
  const cpu = `${by} (rate(container_cpu_usage_seconds_total${matchers(input, ['cpu=~"total|"'])}[${seconds(rateMillis)}]))`;
  const bytes = `container_memory_working_set_bytes${matchers(input, [])}`;
  // With steps longer than scrapes, peaks between two steps must not be lost (robusta krr#379).
  const memory =
    stepMillis > scrapeMillis ? `${by} (max_over_time(${bytes}[${seconds(stepMillis)}]))` : `${by} (${bytes})`;
  return { cpu, memory };
}

/**
 * In which share of the periods of its CPU quota each container was held back. Containers without a limit have no
 * periods, and are not in the answer.
 * @param agoMillis since the end of the time that is asked for.
 */
export function throttlingQuery(input: QueryInput, agoMillis: Millis): string {
  const offset = agoMillis >= 1000 ? ` offset ${seconds(agoMillis)}` : '';
  const rate = (metric: string): string =>
    `rate(${metric}${matchers(input, [])}[${seconds(input.rateMillis)}]${offset})`;
  const share = `${rate('container_cpu_cfs_throttled_periods_total')} / (${rate('container_cpu_cfs_periods_total')} > 0)`;
  return `max by (${input.names.pod}, ${input.names.container}) (${share})`;
}

/**
 * Fills the placeholders of a template: `$namespace`, `$pods` and `$containers` (regular expressions), `$rate` and
 * `$step` (durations). The first three belong between double quotes; what is put in is escaped for that.
 */
export function fillTemplate(template: string, input: QueryInput): string {
  const inner = (text: string): string => quote(text).slice(1, -1);
  const values: Readonly<Record<string, string>> = {
    namespace: inner(input.namespace),
    pods: inner(input.podPattern),
    containers: inner(input.containers.map(escapeRegex).join('|')),
    rate: seconds(input.rateMillis),
    step: seconds(input.stepMillis),
  };
  return template.replace(/\$(namespace|pods|containers|rate|step)\b/g, (_, name: string) => values[name] ?? '');
}

/** The selector of all series asked for. Texts are quoted, patterns are anchored by Prometheus itself. */
function matchers({ namespace, podPattern, containers, labels, names }: QueryInput, more: readonly string[]): string {
  const listed = containers.map(escapeRegex).join('|');
  // A pod with very many containers: all but the pause container and the pod's own total are asked for.
  const container =
    listed.length > 0 && listed.length <= MAX_QUERY_BYTES / 4
      ? [`${names.container}=~${quote(listed)}`]
      : [`${names.container}!=""`, `${names.container}!="POD"`];
  const own = Object.entries(labels).map(([name, value]) => `${name}=${quote(value)}`);
  return `{${[`${names.namespace}=${quote(namespace)}`, `${names.pod}=~${quote(podPattern)}`, ...container, ...more, ...own].join(',')}}`;
}

/** A PromQL string: the escapes of JSON are among those of Go. Lone surrogates are not, and no label has them. */
export const quote = (text: string): string => JSON.stringify(text.toWellFormed());

const seconds = (millis: Millis): string => `${Math.max(1, Math.round(millis / 1000))}s`;

/** @returns a sentence for a label that cannot be matched by, or undefined. */
export function checkLabels(labels: Readonly<Record<string, string>>): string | undefined {
  const bad = Object.keys(labels).find((name) => !LABEL_NAME.test(name));
  return bad === undefined
    ? undefined
    : `the label ${JSON.stringify(bad)} is not a name Prometheus knows: letters, digits and underscores, not beginning with a digit`;
}
