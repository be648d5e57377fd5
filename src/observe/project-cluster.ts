/** Namespace, PodDisruptionBudget, PersistentVolumeClaim and PersistentVolume -> records. */
import { isEnabled } from '../api/annotations-values.ts';
import type { Namespace, PersistentVolume, PersistentVolumeClaim, PodDisruptionBudget } from '../api/core.ts';
import type { NamespaceRecord, NodeSelectorTerm, PdbRecord, VolumeClaimRecord } from '../model/records.ts';
import { countOr, requireText, textMap, textOr, withPrefix } from './fields.ts';
import { projectRequiredTerms } from './project-template.ts';

/** @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read. */
export function projectNamespace(namespace: Namespace): NamespaceRecord {
  const { metadata = {}, status } = namespace;
  const labels = textMap(metadata.labels, 'metadata.labels');
  return {
    name: requireText(metadata.name, 'metadata.name'),
    labels,
    annotations: withPrefix(textMap(metadata.annotations, 'metadata.annotations'), 'spotalis.io/'),
    enabled: isEnabled(labels),
    terminating: metadata.deletionTimestamp !== undefined || status?.phase === 'Terminating',
  };
}

/**
 * `observed` says whether the disruption controller has seen the present spec: before that `disruptionsAllowed` is
 * about another budget.
 * @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read.
 */
export function projectPdb(pdb: PodDisruptionBudget): PdbRecord {
  const { metadata = {}, spec, status } = pdb;
  const generation = countOr(metadata.generation, 0, 'metadata.generation');
  return {
    namespace: textOr(metadata.namespace, 'default', 'metadata.namespace'),
    name: requireText(metadata.name, 'metadata.name'),
    uid: textOr(metadata.uid, '', 'metadata.uid'),
    selector: spec?.selector,
    disruptionsAllowed: countOr(status?.disruptionsAllowed, 0, 'status.disruptionsAllowed'),
    observed: countOr(status?.observedGeneration, 0, 'status.observedGeneration') >= generation,
    currentHealthy: countOr(status?.currentHealthy, 0, 'status.currentHealthy'),
    desiredHealthy: countOr(status?.desiredHealthy, 0, 'status.desiredHealthy'),
    alwaysAllowUnhealthy: policyOf(spec) === 'AlwaysAllow',
  };
}

/** A claim as the API knows it: what its volume requires of a node is known only from the volume. */
export interface ClaimRecord {
  readonly namespace: string;
  readonly name: string;
  readonly bound: boolean;
  /** Name of the bound volume. */
  readonly volumeName: string | undefined;
}

/** Undefined terms: the volume can be reached from every node. */
export interface VolumeRecord {
  readonly name: string;
  readonly requiredNodeTerms: readonly NodeSelectorTerm[] | undefined;
}

/** @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read. */
export function projectClaim(claim: PersistentVolumeClaim): ClaimRecord {
  const { metadata = {}, spec, status } = claim;
  return {
    namespace: textOr(metadata.namespace, 'default', 'metadata.namespace'),
    name: requireText(metadata.name, 'metadata.name'),
    bound: status?.phase === 'Bound',
    volumeName: spec?.volumeName === undefined || spec.volumeName === '' ? undefined : spec.volumeName,
  };
}

/** @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read. */
export function projectVolume(volume: PersistentVolume): VolumeRecord {
  return {
    name: requireText(volume.metadata?.name, 'metadata.name'),
    requiredNodeTerms: projectRequiredTerms(volume.spec?.nodeAffinity?.required?.nodeSelectorTerms),
  };
}

/**
 * The claim with the node affinity of its volume. Where a volume that is not known can be reached is not known either:
 * from no node, until it is (hazard H12: a volume of one zone).
 */
export function joinClaim(claim: ClaimRecord, volume: VolumeRecord | undefined): VolumeClaimRecord {
  return {
    namespace: claim.namespace,
    name: claim.name,
    bound: claim.bound && volume !== undefined,
    requiredNodeTerms: volume === undefined && claim.volumeName !== undefined ? [] : volume?.requiredNodeTerms,
  };
}

/** `spec.unhealthyPodEvictionPolicy` (KEP-3017). */
function policyOf(spec: object | undefined): unknown {
  const { unhealthyPodEvictionPolicy } = (spec ?? {}) as { readonly unhealthyPodEvictionPolicy?: unknown };
  return unhealthyPodEvictionPolicy;
}
