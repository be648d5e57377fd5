/**
 * Usage from the Metrics API (metrics.k8s.io): one list a namespace and interval, whatever the number of workloads in
 * it.
 */
import type { KubeObject } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { isForbidden, isNotFound, isUnauthorized } from '../../api/kube-error.ts';
import { apiVersionOf, type ResourceType } from '../../api/resources.ts';
import { readPage } from '../../kube/listing.ts';
import type { Clock } from '../../lib/clock.ts';
import { describeError } from '../../lib/errors.ts';
import { type Quantity, toBytes, toMillicores, tryParseQuantity } from '../../lib/quantity.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { type ContainerUsage, createInstantUsage, type InstantUsage } from './instant-usage.ts';
import { MOST_AHEAD_MILLIS, MOST_BYTES, MOST_MILLICORES, type UsageProblem, type UsageSource } from './usage-source.ts';

/** Checked as it is read: another server may stand behind the API. */
export interface PodMetrics extends KubeObject {
  timestamp?: unknown;
  containers?: unknown;
}

/** Served by whatever APIService is registered, metrics-server as a rule. */
export const podMetricsType: ResourceType<PodMetrics> = {
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  plural: 'pods',
  kind: 'PodMetrics',
  namespaced: true,
};

export interface MetricsServerOptions {
  readonly api: Pick<KubeApi, 'list' | 'listEach' | 'discover'>;
  readonly clock: Clock;
  /** A namespace is listed no more often. */
  readonly intervalMillis: Millis;
  /** The same text as it is kept elsewhere: a reading then keeps no names of its own. Left out, it does. */
  readonly podName?: PodName | undefined;
}

/** The text that the pod's record has, or `name` itself. */
export type PodName = (namespace: string, name: string) => string;

type NamespaceReading =
  | { readonly ok: true; readonly usage: InstantUsage; readonly unreadable: number }
  | { readonly ok: false; readonly problem: UsageProblem };

export function createMetricsServerSource(options: MetricsServerOptions): UsageSource {
  const { api, clock, intervalMillis, podName = (_, name) => name } = options;
  const readings = new Map<string, { readonly at: EpochMillis; readonly reading: Promise<NamespaceReading> }>();

  const list = async (namespace: string, signal: AbortSignal): Promise<NamespaceReading> => {
    try {
      const { add, reading } = createReader((name) => podName(namespace, name), clock);
      await readPage(api, podMetricsType, { namespace, signal }, add);
      return reading();
    } catch (error) {
      signal.throwIfAborted();
      return { ok: false, problem: problemOf(error) };
    }
  };

  /** All workloads of a namespace share a reading for most of an interval, also while it is on its way. */
  const read = (namespace: string, signal: AbortSignal): Promise<NamespaceReading> => {
    const now = clock.now();
    const known = readings.get(namespace);
    if (known !== undefined && now - known.at < intervalMillis) return known.reading;
    for (const [other, { at }] of readings) if (now - at >= intervalMillis) readings.delete(other);
    const reading = list(namespace, signal);
    readings.set(namespace, { at: now, reading });
    const drop = (): void => {
      if (readings.get(namespace)?.reading === reading) readings.delete(namespace);
    };
    // What failed is asked again by whoever comes next; the collector spaces its failures.
    reading.then((result) => result.ok || drop(), drop);
    return reading;
  };

  return {
    name: 'metrics-server',
    kind: 'instant',
    async fetch({ workload, pods }, signal) {
      const reading = await read(workload.namespace, signal);
      if (!reading.ok) return reading;
      const series = pods.flatMap((pod) => reading.usage.of(pod));
      const { unreadable } = reading;
      const warnings =
        unreadable === 0 ? [] : [`${unreadable} entries of the Metrics API could not be read and were left out`];
      return { ok: true, series, readTo: {}, warnings };
    },
    async health(signal) {
      try {
        // Costs nothing, and everybody may ask; a server that is down is told by the API server (503).
        const served = await api.discover?.(apiVersionOf(podMetricsType), { signal });
        const isServed = served === undefined || served.some(({ plural }) => plural === podMetricsType.plural);
        return isServed ? { ok: true } : { ok: false, problem: notServed };
      } catch (error) {
        signal.throwIfAborted();
        return { ok: false, problem: problemOf(error) };
      }
    },
  };
}

/**
 * Takes one item at a time: those of a large namespace, held together, would be the most the process ever has in
 * memory.
 */
function createReader(podName: (name: string) => string, clock: Clock) {
  const usage = createInstantUsage();
  let unreadable = 0;
  return {
    add(item: PodMetrics): void {
      const pod = item.metadata?.name;
      const at = typeof item.timestamp === 'string' ? timeOf(item.timestamp, clock.now()) : Number.NaN;
      if (pod === undefined || !Number.isFinite(at) || !Array.isArray(item.containers)) {
        unreadable++;
        return;
      }
      const containers: ContainerUsage[] = [];
      for (const container of item.containers) {
        const read = readContainer(container);
        if (read === undefined) unreadable++;
        else containers.push(read);
      }
      usage.add(podName(pod), at, containers);
    },
    reading: (): NamespaceReading => ({ ok: true, usage, unreadable }),
  };
}

/**
 * Of a node whose clock is ahead what is told is of now: taken at its word, all that other pods use until then would be
 * known already, also after a restart.
 */
function timeOf(timestamp: string, now: EpochMillis): EpochMillis {
  const at = Date.parse(timestamp);
  return at > now + MOST_AHEAD_MILLIS ? now : at;
}

/** Undefined where neither amount can be read. */
function readContainer(container: unknown): ContainerUsage | undefined {
  if (typeof container !== 'object' || container === null || !('name' in container)) return undefined;
  const { name } = container;
  const usage = 'usage' in container ? container.usage : undefined;
  if (typeof name !== 'string' || typeof usage !== 'object' || usage === null) return undefined;
  // Rounded up: what OptiPod makes of them.
  const cpu = amountIn(usage, 'cpu', toMillicores, MOST_MILLICORES);
  const memory = amountIn(usage, 'memory', toBytes, MOST_BYTES);
  return cpu === undefined && memory === undefined ? undefined : { container: name, cpu, memory };
}

function amountIn(
  usage: object,
  key: 'cpu' | 'memory',
  convert: (quantity: Quantity) => number,
  most: number,
): number | undefined {
  const text: unknown = Object.getOwnPropertyDescriptor(usage, key)?.value;
  const quantity = typeof text === 'string' ? tryParseQuantity(text) : undefined;
  const amount = quantity && convert(quantity);
  return amount !== undefined && amount >= 0 && amount <= most ? amount : undefined;
}

const notServed: UsageProblem = {
  reason: 'Misconfigured',
  message: 'the Metrics API (metrics.k8s.io) is not served: install metrics-server, or choose another provider',
};

function problemOf(error: unknown): UsageProblem {
  if (isNotFound(error)) return notServed;
  if (isForbidden(error) || isUnauthorized(error)) {
    const message = `the operator may not read the Metrics API: allow it get and list on pods of metrics.k8s.io (${error.message})`;
    return { reason: 'Unauthorized', message };
  }
  const message = `the Metrics API does not answer: ${describeError(error)}; look at the pods of metrics-server and at the APIService v1beta1.metrics.k8s.io`;
  return { reason: 'Unreachable', message };
}
