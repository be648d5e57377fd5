/** What rightsizing advises for a pod's CPU, as one figure: the claim with which the pod bargains. */
import type { Millicores } from '../lib/units.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import type { WorkloadResult } from './rightsizing-result.ts';

/** @returns undefined unless every container of the pod has advice: a part of it would be too low a claim. */
export function cpuAdviceOf(
  { sizing }: SizedPod,
  result: Pick<WorkloadResult, 'advice'> | undefined,
): Millicores | undefined {
  if (result === undefined) return undefined;
  const advised = sizing.containers.map(
    ({ name }) => result.advice.find(({ container }) => container === name)?.cpu.target,
  );
  if (advised.length === 0 || advised.some((each) => each === undefined)) return undefined;
  return advised.reduce<Millicores>((sum, each) => sum + (each ?? 0), 0);
}
