/**
 * What others are promised of a quota in a namespace of 2,000 workloads that all grow, asked by one after the other, of
 * which each changes after it has asked. The baseline of the same run is the first, which goes over all pods.
 */
import { createPromisedBeside } from '../src/controllers/rightsizing/promised-beside.ts';
import type { Watches } from '../src/controllers/rightsizing/watches.ts';
import { anOngoingChange } from '../src/controllers/testing/ongoing-change.ts';
import { createSystemClock } from '../src/lib/clock.ts';
import { createManualSizingView } from '../src/observe/sizing/testing/manual-sizing-view.ts';
import { benchNamespace, deploymentObject, replicaSetObject, runningPodObject } from './bench-world.ts';

const WORKLOADS = 2000;
const PODS_PER_WORKLOAD = 5;
const LATER = 200;

interface QuotaPromisesFigures {
  readonly quota_first_ms: number;
  readonly quota_later_ms: number;
  readonly quota_later_to_first_ratio: number;
}

export function measureQuotaPromises(): QuotaPromisesFigures {
  const { stores, view } = createManualSizingView();
  for (let workload = 0; workload < WORKLOADS; workload++) {
    stores.deployments.put(deploymentObject(workload, PODS_PER_WORKLOAD));
    stores.replicaSets.put(replicaSetObject(workload, PODS_PER_WORKLOAD));
    for (let slot = 1; slot <= PODS_PER_WORKLOAD; slot++) stores.pods.put(runningPodObject(workload, slot, slot));
  }
  const ongoing = [anOngoingChange([{ container: 'proxy', to: { cpuRequest: 80 } }], [])];
  const memory = { watches: { ongoing } as unknown as Watches };
  const beside = createPromisedBeside({
    view,
    actingOn: () => memory,
    isAllocated: () => false,
    resizes: () => [],
    clock: createSystemClock(),
  });
  const ask = (workload: number): number => {
    const startedAt = performance.now();
    const { promised } = beside({ namespace: benchNamespace, uid: `deployment-${workload}` });
    const took = performance.now() - startedAt;
    if (!promised.some(({ growth }) => growth.cpuRequest > 0)) throw new Error('no workload of this benchmark grows');
    const pod = runningPodObject(workload, 1, 1);
    stores.pods.put({ ...pod, metadata: { ...pod.metadata, resourceVersion: String(WORKLOADS * 1000 + workload) } });
    return took;
  };
  const first = ask(0);
  const later = Array.from({ length: LATER }, (_, index) => ask(index + 1)).sort((a, b) => a - b);
  const median = later[LATER >> 1] ?? Number.NaN;
  return { quota_first_ms: first, quota_later_ms: median, quota_later_to_first_ratio: median / first };
}
