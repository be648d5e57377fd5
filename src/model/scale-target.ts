/** Whether an autoscaler's target is a workload: one rule for VerticalPodAutoscalers and HorizontalPodAutoscalers, KEDA's included. */
import { groupOf } from './owners.ts';
import type { HpaRecord, SizedWorkload } from './sizing-records.ts';

/** What an autoscaler's targetRef says, and a workload is known by within its namespace. */
export type ScaleTarget = HpaRecord['target'];

/**
 * By API group, not version: an autoscaler written for another version of the same group acts as well. A targetRef has no
 * uid and no namespace, so both are to be of one namespace.
 */
export function isTarget(
  { apiVersion, kind, name }: ScaleTarget,
  workload: Pick<SizedWorkload, 'apiVersion' | 'kind' | 'name'>,
): boolean {
  return kind === workload.kind && name === workload.name && groupOf(apiVersion) === groupOf(workload.apiVersion);
}
