/** Stand-in of metrics-server: looks at the simulated kubelets' counters now and then and tells the rates between as metrics.k8s.io. */
import { resources } from '../../api/resources.ts';
import { sleep } from '../../lib/clock.ts';
import { formatDuration } from '../../lib/duration.ts';
import { formatQuantity, fromBytes } from '../../lib/quantity.ts';
import type { Millis } from '../../lib/units.ts';
import type { NodeMetrics, PodMetrics, ServedUsage, UsageAmounts } from '../apiserver/usage-metrics.ts';
import { type NodeUsage, type PodUsage, podsOf } from '../kubelet/node-usage.ts';
import type { ContainerUsage } from '../load/container-usage.ts';
import { nameOf, namespaceOf, timestampOf } from '../objects.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';

export interface MetricsServerOptions {
  /** From one look at the kubelets to the next. Default 15 s, as metrics-server's own. */
  readonly resolutionMillis?: Millis;
  /** While false it knows nothing, as after a restart without kubelets to ask. Default: always up. */
  readonly isUp?: () => boolean;
  /** What is told in place of the truth. Default: the truth. */
  readonly told?: (truth: ServedUsage) => ServedUsage;
}

export interface MetricsServer extends StandIn {
  /** What the API server answers from. */
  readonly source: ServedUsage;
}

/** The counters of one thing at one moment. */
interface Point {
  readonly atMillis: number;
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

interface Scrape {
  readonly nodes: ReadonlyMap<string, Point>;
  /** Restarted containers are others. */
  readonly containers: ReadonlyMap<ContainerUsage, Point>;
}

const NOTHING: Scrape = { nodes: new Map(), containers: new Map() };
/** A container younger than one look but older than this is measured from its start. Source: metrics-server pkg/storage/pod.go. */
const FRESH_MILLIS: Millis = 10_000;

/** @param usageOf what a node uses now; undefined for one that does not answer. */
export function createMetricsServer(
  { caches, clock }: StandInContext,
  usageOf: (node: string) => NodeUsage | undefined,
  { resolutionMillis = 15_000, isUp = () => true, told = (truth) => truth }: MetricsServerOptions = {},
): MetricsServer {
  const nodes = caches.of(resources.nodes);
  let previous = NOTHING;
  let latest = NOTHING;

  const scrape = (): void => {
    previous = isUp() ? latest : NOTHING;
    if (!isUp()) {
      latest = NOTHING;
      return;
    }
    const found = { nodes: new Map<string, Point>(), containers: new Map<ContainerUsage, Point>() };
    for (const node of nodes.all()) {
      const usage = usageOf(nameOf(node));
      if (usage === undefined) continue;
      found.nodes.set(usage.node, pointOf(usage, usage.at));
      for (const container of usage.containers) found.containers.set(container, pointOf(container, usage.at));
    }
    latest = found;
  };

  const metricsOf = ({ pod, containers }: PodUsage): PodMetrics | undefined => {
    let span: { readonly from: number; readonly to: number } | undefined;
    const told: { name: string; usage: UsageAmounts }[] = [];
    for (const usage of containers) {
      const to = latest.containers.get(usage);
      if (to === undefined) return undefined;
      const from = previous.containers.get(usage) ?? freshStart(usage.startedAtMillis, to, resolutionMillis);
      // As the real one: figures of a pod are given whole or not at all.
      if (from === undefined || from.atMillis >= to.atMillis) return undefined;
      span = { from: from.atMillis, to: to.atMillis };
      told.push({ name: usage.container.name, usage: between(from, to) });
    }
    if (span === undefined) return undefined;
    const { labels = {} } = pod.metadata ?? {};
    return {
      name: nameOf(pod),
      namespace: namespaceOf(pod),
      labels,
      ...windowOf(span.from, span.to),
      containers: told,
    };
  };

  return {
    name: 'metrics-server',
    async run(signal) {
      while (!signal.aborted) {
        scrape();
        await sleep(clock, resolutionMillis, signal).catch(() => undefined);
      }
    },
    source: told({
      nodes: () =>
        [...latest.nodes].flatMap(([name, point]): NodeMetrics[] => {
          const from = previous.nodes.get(name);
          if (from === undefined) return [];
          return [{ name, ...windowOf(from.atMillis, point.atMillis), usage: between(from, point) }];
        }),
      pods: (namespace) =>
        podsOf({ containers: [...latest.containers.keys()] })
          .filter(({ pod }) => namespace === undefined || namespaceOf(pod) === namespace)
          .flatMap((usage) => metricsOf(usage) ?? []),
    }),
  };
}

function pointOf({ cpuSeconds, memoryBytes }: Omit<Point, 'atMillis'>, atMillis: number): Point {
  return { atMillis, cpuSeconds, memoryBytes };
}

function freshStart(startedAtMillis: number, point: Point, resolutionMillis: Millis): Point | undefined {
  const age = point.atMillis - startedAtMillis;
  return age >= FRESH_MILLIS && age < resolutionMillis
    ? { atMillis: startedAtMillis, cpuSeconds: 0, memoryBytes: 0 }
    : undefined;
}

function windowOf(fromMillis: number, toMillis: number): { readonly timestamp: string; readonly window: string } {
  return { timestamp: timestampOf(toMillis), window: formatDuration(Math.round(toMillis - fromMillis)) };
}

function between(from: Point, to: Point): UsageAmounts {
  const seconds = (to.atMillis - from.atMillis) / 1000;
  const nanocores = Math.round(((to.cpuSeconds - from.cpuSeconds) / seconds) * 1e9);
  return {
    cpu: formatQuantity({ nanos: BigInt(Math.max(0, nanocores)), format: 'DecimalSI' }),
    memory: formatQuantity(fromBytes(Math.round(to.memoryBytes / 1024) * 1024)),
  };
}
