/** Whether an autoscaler's target is a workload: one rule for VerticalPodAutoscalers and HorizontalPodAutoscalers, KEDA's included. */
import { groupOf } from './owners.ts';
import type { HpaRecord, SizedWorkload } from './sizing-records.ts';

/** What an autoscaler's targetRef says, and a workload is known by within its namespace. */
export type ScaleTarget = HpaRecord['target'];

/** What an autoscaler acts on. */
export type ScaledObject = Pick<SizedWorkload, 'apiVersion' | 'kind' | 'name' | 'owner'>;

/**
 * By API group, not version: an autoscaler written for another version of the same group acts as well. A targetRef has no
 * uid and no namespace, so both are to be of one namespace. What somebody else's controller has made is scaled through
 * that one's object; a VerticalPodAutoscaler takes no other (kubernetes/autoscaler
 * vertical-pod-autoscaler/pkg/target/controller_fetcher: the topmost that is well known or has a scale).
 */
export function isTarget(target: ScaleTarget, workload: ScaledObject): boolean {
  return isNamed(target, workload) || (workload.owner !== undefined && isNamed(target, workload.owner));
}

function isNamed({ apiVersion, kind, name }: ScaleTarget, object: ScaleTarget): boolean {
  return kind === object.kind && name === object.name && groupOf(apiVersion) === groupOf(object.apiVersion);
}
