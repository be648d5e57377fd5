/** The template as pods are made of it: with the sizes that admission gives them. */
import { rightsizingKeys } from '../api/annotations-rightsizing.ts';
import { readAppliedSizes, withAppliedSizes } from './applied-sizes.ts';
import { type SizeKey, sumOf } from './pod-size.ts';
import type { PodTemplate, WorkloadRecord } from './records.ts';
import { mostOfAll, type ReplicaStates, readReplicaSizes, sizesOf } from './replica-sizes.ts';
import { withRequests } from './shared-template.ts';
import type { ContainerSpecRecord, SizedWorkload } from './sizing-records.ts';

/**
 * To prove room for the next pod of a workload. Sizes below the template's are not counted on: without the webhook, or
 * once nobody sizes the workload, a pod is made as the template says.
 */
export function bornTemplate({ template, sized }: Pick<WorkloadRecord, 'template' | 'sized'>): PodTemplate {
  const text = sized?.annotations[rightsizingKeys.appliedSizes];
  const ofReplicas = sized?.annotations[rightsizingKeys.replicaSizes];
  if (sized === undefined || (text === undefined && ofReplicas === undefined)) return template;
  // Whichever replica comes next: there is room for the largest.
  const applied = appliedSizes(sized, readReplicaSizes(ofReplicas, sized.containers));
  const more = (key: SizeKey): number => Math.max(0, sumOf(applied, key) - sumOf(sized.containers, key));
  const { cpuMillis, memoryBytes } = template.requests;
  const requests = { cpuMillis: cpuMillis + more('cpuRequest'), memoryBytes: memoryBytes + more('memoryRequest') };
  return withRequests(template, requests);
}

/** The same by container, and for limits, too. @param replicas those of which one comes next. */
export function bornSizes(
  sized: Pick<SizedWorkload, 'containers' | 'annotations'>,
  replicas: ReplicaStates,
): readonly ContainerSpecRecord[] {
  return mostOfAll(appliedSizes(sized, replicas), new Map([['', { sizes: sizesOf(sized.containers) }]]));
}

function appliedSizes(
  { containers, annotations }: Pick<SizedWorkload, 'containers' | 'annotations'>,
  replicas: ReplicaStates,
): readonly ContainerSpecRecord[] {
  return mostOfAll(withAppliedSizes(containers, readAppliedSizes(annotations[rightsizingKeys.appliedSizes])), replicas);
}
