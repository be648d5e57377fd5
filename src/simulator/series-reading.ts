/** What a simulation's series are read from: the judge's counters and the cluster as it is. Reading changes neither. */
import type { Node, Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { amountsOf, effectiveRequests } from '../cluster/pod-requests.ts';
import { isFinished } from '../cluster/pod-state.ts';
import type { Millicores } from '../lib/units.ts';
import type { Judge } from './judge.ts';
import type { SimulatedPool } from './objects.ts';
import { poolReports } from './report.ts';
import type { SeriesReading } from './series-recorder.ts';

const HOUR_MILLIS = 3_600_000;

export interface SeriesReaderOptions {
  readonly cluster: Cluster;
  readonly judge: Pick<Judge, 'fleet' | 'accounts' | 'tally'>;
  readonly pools: readonly SimulatedPool[];
}

/**
 * Integrals and counts only grow, so that a span is the difference of two readings; levels are of the moment.
 * @returns a reading each time it is called; its cost goes by the number of objects that changed.
 */
export function createSeriesReader({ cluster, judge, pools }: SeriesReaderOptions): () => SeriesReading {
  const [pods, nodes] = [cluster.caches.of(resources.pods), cluster.caches.of(resources.nodes)];
  // Objects are replaced when they change, and most do not between two readings.
  const requested = remembered((pod: Pod): Millicores => {
    if ((pod.spec?.nodeName ?? '') === '' || isFinished(pod)) return 0;
    return effectiveRequests(pod).get('cpu') ?? 0;
  });
  const allocatable = remembered((node: Node): Millicores => amountsOf(node.status?.allocatable).get('cpu') ?? 0);

  return () => {
    const { fleet, accounts, tally } = judge;
    const workloads = [...fleet.workloads()];
    const total = (of: (facts: (typeof workloads)[number]) => number): number =>
      workloads.reduce((sum, facts) => sum + of(facts), 0);
    const paid = poolReports(pools, cluster.autoscaler.nodeHours());
    const counts = tally(0);
    return {
      levels: {
        replicas: total(({ replicas }) => replicas),
        readySpot: total(({ counts: { ready, readyOnDemand } }) => ready - readyOnDemand),
        readyOnDemand: total(({ counts: { readyOnDemand } }) => readyOnDemand),
        cpuAllocatable: sumOf(nodes.all(), allocatable),
        cpuRequested: sumOf(pods.all(), requested),
        cpuUsed: knownSum(nodes.all(), (node) => cluster.kubelet.cpuInUse(node.metadata?.name ?? '')),
      },
      integrals: {
        unavailable: accounts.sumsWith(workloads).waiting / HOUR_MILLIS,
        costPerHour: sumOf(paid, ({ cost }) => cost),
        costPerHourOnDemand: sumOf(paid, ({ costOnDemand }) => costOnDemand),
      },
      counts,
    };
  };
}

/** Pure functions of objects that are never changed in place; an object that is gone is forgotten with it. */
function remembered<T extends object>(compute: (from: T) => number): (from: T) => number {
  const known = new WeakMap<T, number>();
  return (from) => {
    const value = known.get(from) ?? compute(from);
    known.set(from, value);
    return value;
  };
}

function sumOf<T>(all: Iterable<T>, of: (each: T) => number): number {
  let sum = 0;
  for (const each of all) sum += of(each);
  return sum;
}

/** Undefined where no part is known. */
function knownSum<T>(all: Iterable<T>, of: (each: T) => number | undefined): number | undefined {
  let sum: number | undefined;
  for (const each of all) {
    const part = of(each);
    if (part !== undefined) sum = (sum ?? 0) + part;
  }
  return sum;
}
