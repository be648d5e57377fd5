/** What records of placement say about a workload and a pod of it, by the names that Spotalis gives these fields. */
import type { EvictDecision, FallbackDecision } from '../../decide/decision.ts';

const names = {
  replicas: 'replicas',
  spot: 'current_spot',
  onDemand: 'current_on_demand',
  targetSpot: 'desired_spot',
  targetOnDemand: 'desired_on_demand',
  spotPercentage: 'spot_percentage',
  floor: 'min_on_demand',
} as const;

/** @param node where the pod runs; undefined where it waits for one. */
export function moveFields({ workload, pod, why }: EvictDecision | FallbackDecision, node: string | undefined) {
  const { kind, namespace, name } = workload;
  const type = kind.toLowerCase();
  const numbers = Object.entries(names).flatMap(([key, field]) =>
    why.numbers[key] === undefined ? [] : [[field, why.numbers[key]] as const],
  );
  return {
    controller: `${type}-controller`,
    namespace,
    name,
    kind,
    workload_type: type,
    ...Object.fromEntries(numbers),
    pod: pod.name,
    node,
    reason: why.summary,
  };
}
