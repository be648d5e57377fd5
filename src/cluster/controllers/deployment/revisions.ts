/** The ReplicaSets of a Deployment: which one is current, their revision numbers and annotations. Pure. */
import type { Deployment, ReplicaSet } from '../../../api/core.ts';
import { apiVersionOf, resources } from '../../../api/resources.ts';
import { ascending } from '../../../lib/ascending.ts';
import { controllerReference, nameOf, namespaceOf, timeOf } from '../../objects.ts';
import { isSameTemplate, TEMPLATE_HASH_LABEL, templateHash } from '../pod-template.ts';
import type { RollingBounds, SetSize } from './rolling-update.ts';

export const REVISION_ANNOTATION = 'deployment.kubernetes.io/revision';
const DESIRED_ANNOTATION = 'deployment.kubernetes.io/desired-replicas';
const MAX_ANNOTATION = 'deployment.kubernetes.io/max-replicas';
/** Not copied from the Deployment to its ReplicaSets. Source: pkg/controller/deployment/util. */
const OWN_ANNOTATIONS = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION_ANNOTATION,
  'deployment.kubernetes.io/revision-history',
  DESIRED_ANNOTATION,
  MAX_ANNOTATION,
  'deprecated.deployment.rollback.to',
]);

export function sizeOf(set: ReplicaSet): SetSize {
  const replicas = set.spec?.replicas ?? 0;
  const max = Number(set.metadata?.annotations?.[MAX_ANNOTATION]);
  return {
    name: nameOf(set),
    replicas,
    // A set that was just shrunk still reports the pods it is about to delete; counting them would shrink it again.
    available: Math.min(replicas, set.status?.availableReplicas ?? 0),
    createdAt: timeOf(set.metadata?.creationTimestamp) ?? 0,
    annotatedMaxReplicas: Number.isInteger(max) ? max : undefined,
  };
}

export function revisionOf(set: ReplicaSet): number {
  const revision = Number(set.metadata?.annotations?.[REVISION_ANNOTATION]);
  return Number.isInteger(revision) ? revision : 0;
}

/** The oldest set made from the Deployment's present template, so that a rollback finds its old set again. */
export function findNewSet(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  return [...sets].sort(byCreation).find((set) => isSameTemplate(set.spec?.template, deployment.spec?.template));
}

export function byCreation(left: ReplicaSet, right: ReplicaSet): number {
  const difference = (timeOf(left.metadata?.creationTimestamp) ?? 0) - (timeOf(right.metadata?.creationTimestamp) ?? 0);
  return difference || ascending(nameOf(left), nameOf(right));
}

/** Someone changed `spec.replicas` since the active sets were last sized. */
export function isScalingEvent(deployment: Deployment, sets: readonly ReplicaSet[]): boolean {
  return sets.some((set) => {
    const desired = set.metadata?.annotations?.[DESIRED_ANNOTATION];
    return (
      (set.spec?.replicas ?? 0) > 0 && desired !== undefined && Number(desired) !== (deployment.spec?.replicas ?? 1)
    );
  });
}

/** The set has every replica the Deployment wants, so the others are superfluous. */
export function isSaturated(deployment: Deployment, set: ReplicaSet | undefined): boolean {
  const replicas = deployment.spec?.replicas ?? 1;
  return (
    set?.spec?.replicas === replicas &&
    Number(set.metadata?.annotations?.[DESIRED_ANNOTATION]) === replicas &&
    set.status?.availableReplicas === replicas
  );
}

export function sizeAnnotations(bounds: RollingBounds): Record<string, string> {
  return { [DESIRED_ANNOTATION]: String(bounds.replicas), [MAX_ANNOTATION]: String(bounds.replicas + bounds.maxSurge) };
}

/** The Deployment's annotations that its sets carry as well, and the set's revision. */
export function setAnnotations(deployment: Deployment, revision: number): Record<string, string> {
  const copied = Object.entries(deployment.metadata?.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key));
  return { ...Object.fromEntries(copied), [REVISION_ANNOTATION]: String(revision) };
}

/** A new ReplicaSet for the Deployment's present template. */
export function newReplicaSet(
  deployment: Deployment,
  revision: number,
  replicas: number,
  bounds: RollingBounds,
): ReplicaSet {
  const { spec } = deployment;
  const template = spec?.template;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template?.metadata?.labels, [TEMPLATE_HASH_LABEL]: hash };
  const selector = spec?.selector ?? {};
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${nameOf(deployment)}-${hash}`,
      namespace: namespaceOf(deployment),
      labels,
      annotations: { ...setAnnotations(deployment, revision), ...sizeAnnotations(bounds) },
      ownerReferences: [controllerReference(deployment, apiVersionOf(resources.deployments), 'Deployment')],
    },
    spec: {
      replicas,
      minReadySeconds: spec?.minReadySeconds ?? 0,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [TEMPLATE_HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template?.metadata, labels } },
    },
  };
}
