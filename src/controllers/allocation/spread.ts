/**
 * How evenly the replicas of a workload lie over the domains they are to be spread over, and what they have in the
 * middle.
 */

import { sizeOf } from '../../decide/allocation/allocation-pod.ts';
import type { SpreadFact } from '../../decide/allocation/integrations/topology-spread.ts';
import type { AllocationRules } from '../../decide/allocation/rules.ts';
import { shareIn } from '../../decide/allocation/seat.ts';
import { ownMember } from '../../lib/own-member.ts';
import type { Millicores } from '../../lib/units.ts';
import { isRunning } from '../../model/owners.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';

/** One fact for each constraint of the pod whose key its node has. */
export function spreadFactsOf(view: SizingView, { pod }: SizedPod, workload: SizedWorkload): SpreadFact[] {
  const keys = pod.template.preferences?.spreadKeys ?? [];
  if (keys.length === 0) return [];
  const nodes = [...view.nodes()];
  const replicas = runningReplicas(view, workload);
  return keys.flatMap((key): SpreadFact[] => {
    const domainOf = (nodeName: string | undefined): string | undefined =>
      nodeName === undefined ? undefined : ownMember(view.node(nodeName)?.labels, key);
    const here = domainOf(pod.nodeName);
    const domains = new Set(nodes.flatMap(({ labels }) => ownMember(labels, key) ?? []));
    if (here === undefined || domains.size === 0) return [];
    const domainsOfReplicas = replicas.flatMap(({ pod: each }) => domainOf(each.nodeName) ?? []);
    // Three replicas on a hundred nodes are well spread where each has its own: they cannot be on more.
    const reachable = Math.min(domains.size, domainsOfReplicas.length);
    return [
      {
        replicasHere: domainsOfReplicas.filter((domain) => domain === here).length,
        averageReplicas: reachable === 0 ? 0 : domainsOfReplicas.length / reachable,
      },
    ];
  });
}

/** Of one or two replicas the middle is what they have themselves: it says nothing. */
const LEAST_REPLICAS = 3;

/**
 * What the running replicas of a workload have in the middle of what is bargained for, to two digits: it is told to the
 * agents of all of them, and every millicore would be a write each. Undefined where they are too few.
 */
export function medianShareOf(
  view: SizingView,
  workload: SizedWorkload,
  rules: Pick<AllocationRules, 'apply'>,
): Millicores | undefined {
  const shares = runningReplicas(view, workload)
    .map(({ sizing }) => shareIn(sizeOf(sizing), rules))
    .sort((left, right) => left - right);
  if (shares.length < LEAST_REPLICAS) return undefined;
  const median = ((shares[(shares.length - 1) >> 1] ?? 0) + (shares[shares.length >> 1] ?? 0)) / 2;
  return Number(median.toPrecision(2));
}

function runningReplicas(view: SizingView, workload: SizedWorkload): readonly SizedPod[] {
  return view.podsOf(workload).filter(({ pod }) => isRunning(pod));
}
