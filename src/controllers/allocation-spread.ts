/** How evenly the replicas of a workload lie over the domains they are to be spread over. */
import type { SpreadFact } from '../decide/allocation/integrations/topology-spread.ts';
import type { SizedWorkload } from '../model/sizing-records.ts';
import type { SizedPod, SizingView } from '../model/sizing-view.ts';

/** One fact for each constraint of the pod whose key its node has. */
export function spreadFactsOf(view: SizingView, { pod }: SizedPod, workload: SizedWorkload): SpreadFact[] {
  const keys = pod.template.preferences?.spreadKeys ?? [];
  if (keys.length === 0) return [];
  const nodes = [...view.nodes()];
  const replicas = view
    .podsOf(workload)
    .filter(({ pod: each }) => each.deletingAt === undefined && each.phase === 'Running');
  return keys.flatMap((key): SpreadFact[] => {
    const domainOf = (nodeName: string | undefined): string | undefined =>
      nodeName === undefined ? undefined : view.node(nodeName)?.labels[key];
    const here = domainOf(pod.nodeName);
    const domains = new Set(nodes.flatMap(({ labels }) => labels[key] ?? []));
    if (here === undefined || domains.size === 0) return [];
    const domainsOfReplicas = replicas.flatMap(({ pod: each }) => domainOf(each.nodeName) ?? []);
    return [
      {
        replicasHere: domainsOfReplicas.filter((domain) => domain === here).length,
        averageReplicas: domainsOfReplicas.length / domains.size,
      },
    ];
  });
}
