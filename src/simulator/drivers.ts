/** What goes on by itself while a scenario runs: load that comes and goes, and clouds that take machines back. */
import { resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Clock } from '../lib/clock.ts';
import type { FleetWatch } from './fleet-watch.ts';
import { driveInterruptions } from './interruptions.ts';
import { driveLoad } from './load-driver.ts';
import { type SimulatedPool, workloadsOf, workloadType } from './objects.ts';
import { randomStream } from './random-stream.ts';
import type { Scenario } from './scenario/schema.ts';
import { shareLoad } from './shared-load.ts';

export interface DriversOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly fleet: FleetWatch;
  readonly scenario: Scenario;
  readonly pools: readonly SimulatedPool[];
  readonly seed: number;
}

/** Starts all of it; the returned function ends it. */
export function startDrivers({ cluster, clock, fleet, scenario, pools, seed }: DriversOptions): () => void {
  const { api, autoscaler, caches } = cluster;
  const workloads = workloadsOf(scenario).map((workload) => ({
    ...workload,
    key: `${workload.namespace}/${workload.name}`,
  }));
  const zoneOf = (node: string): string | undefined =>
    caches.of(resources.nodes).get(node)?.metadata?.labels?.['topology.kubernetes.io/zone'];
  const ends = [
    driveLoad({
      clock,
      random: randomStream(seed, 'load'),
      workloads: workloads.flatMap(({ key, curve }) => (curve === undefined ? [] : [{ key, curve }])),
      replicasOf: (key) => fleet.workload(key)?.replicas,
      async scale(key, replicas) {
        const [namespace = '', name = ''] = key.split('/');
        const type = workloadType(fleet.workload(key)?.kind);
        await api.patch(type, name, { type: 'merge', body: { spec: { replicas } } }, { namespace });
      },
    }),
    driveInterruptions({
      clock,
      random: randomStream(seed, 'cloud'),
      pools,
      correlation: scenario.correlation,
      nodesIn: (pool, zone) => autoscaler.nodesOf(pool).filter((node) => zoneOf(node) === zone),
      interrupt: (node) => void autoscaler.interrupt(node),
    }),
    shareLoad({
      api,
      clock,
      fleet,
      workloads: workloads.flatMap(({ key, use }) =>
        use.shared === undefined ? [] : [{ key, millicores: use.shared }],
      ),
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
