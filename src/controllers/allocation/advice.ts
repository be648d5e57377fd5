/** What rightsizing advises for a pod's CPU, as one figure: the claim with which the pod bargains. */
import { goesItsOwnWay } from '../../decide/rightsizing/replica-text.ts';
import type { Millicores } from '../../lib/units.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import { replicaOf } from '../../model/replica.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { WorkloadResult } from '../rightsizing/result.ts';

/**
 * By the advice for its replica where that goes its own way, else by that for all.
 * @returns undefined unless every container of the pod has advice: a part of it would be too low a claim.
 */
export function cpuAdviceOf(
  pod: SizedPod,
  workload: Pick<WorkloadRef, 'kind' | 'name'>,
  result: Pick<WorkloadResult, 'advice' | 'replicas'> | undefined,
): Millicores | undefined {
  if (result === undefined) return undefined;
  const replica = replicaOf(workload, pod.pod);
  const own = result.replicas?.find((each) => each.replica === replica);
  const ofOwn = own !== undefined && goesItsOwnWay(own) ? sumFor(pod, own.advice) : undefined;
  return ofOwn ?? sumFor(pod, result.advice);
}

function sumFor({ sizing }: SizedPod, advice: WorkloadResult['advice']): Millicores | undefined {
  const advised = sizing.containers.map(({ name }) => advice.find(({ container }) => container === name)?.cpu.target);
  if (advised.length === 0 || advised.some((each) => each === undefined)) return undefined;
  return advised.reduce<Millicores>((sum, each) => sum + (each ?? 0), 0);
}
