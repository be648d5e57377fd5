/** HorizontalPodAutoscaler and VerticalPodAutoscaler -> records. */
import type { HorizontalPodAutoscaler, KubeObject } from '../../api/core.ts';
import type { ResourceType } from '../../api/resources.ts';
import type { HpaRecord, VpaRecord } from '../../model/sizing-records.ts';
import { countOr, listOf, requireText, textOr } from '../fields.ts';

/** Served only where the Vertical Pod Autoscaler is installed. */
export const verticalPodAutoscalers: ResourceType<VpaObject> = {
  group: 'autoscaling.k8s.io',
  version: 'v1',
  plural: 'verticalpodautoscalers',
  kind: 'VerticalPodAutoscaler',
  namespaced: true,
};

/** The part that is read; its schema is not in the published types. */
export interface VpaObject extends KubeObject {
  readonly spec?: {
    readonly targetRef?: { readonly apiVersion?: string; readonly kind?: string; readonly name?: string };
    readonly updatePolicy?: { readonly updateMode?: string };
  };
}

/**
 * Of metrics only those that divide usage by the request count: changing a request moves their scale
 * (kubernetes#142155).
 * @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read.
 */
export function projectHpa(hpa: HorizontalPodAutoscaler): HpaRecord {
  const { metadata = {}, spec, status } = hpa;
  const utilization: { cpu?: number; memory?: number } = {};
  const containerUtilization: HpaRecord['containerUtilization'][number][] = [];
  for (const { resource, containerResource } of listOf(spec?.metrics, 'spec.metrics')) {
    const percent = resource?.target.averageUtilization;
    if (isCompute(resource?.name) && percent !== undefined) utilization[resource.name] = percent;
    const ofContainer = containerResource?.target.averageUtilization;
    if (isCompute(containerResource?.name) && ofContainer !== undefined) {
      const { container, name } = containerResource;
      containerUtilization.push({ container, resource: name, percent: ofContainer });
    }
  }
  return {
    namespace: textOr(metadata.namespace, 'default', 'metadata.namespace'),
    name: requireText(metadata.name, 'metadata.name'),
    target: targetOf(spec?.scaleTargetRef),
    minReplicas: countOr(spec?.minReplicas, 1, 'spec.minReplicas'),
    maxReplicas: countOr(spec?.maxReplicas, 1, 'spec.maxReplicas'),
    currentReplicas: countOr(status?.currentReplicas, 0, 'status.currentReplicas'),
    desiredReplicas: countOr(status?.desiredReplicas, 0, 'status.desiredReplicas'),
    utilization,
    containerUtilization,
  };
}

/** @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read. */
export function projectVpa({ metadata = {}, spec }: VpaObject): VpaRecord {
  return {
    namespace: textOr(metadata.namespace, 'default', 'metadata.namespace'),
    name: requireText(metadata.name, 'metadata.name'),
    target: targetOf(spec?.targetRef),
    // Its own default: a VPA without a mode acts.
    updateMode: textOr(spec?.updatePolicy?.updateMode, 'Auto', 'spec.updatePolicy.updateMode'),
  };
}

function targetOf(ref: NonNullable<VpaObject['spec']>['targetRef']): HpaRecord['target'] {
  return {
    apiVersion: textOr(ref?.apiVersion, '', 'target apiVersion'),
    kind: textOr(ref?.kind, '', 'target kind'),
    name: textOr(ref?.name, '', 'target name'),
  };
}

function isCompute(name: string | undefined): name is 'cpu' | 'memory' {
  return name === 'cpu' || name === 'memory';
}
