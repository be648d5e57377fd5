/**
 * OptimizationPolicy objects as records: each read on its own, so that a bad one is known as bad and stalls no other.
 * In OptiPod one duration of `7d`, straight from its documentation, stopped the operator for all namespaces (defect
 * B9a).
 */
import type { OptimizationPolicy, PolicyGroup } from '../api/optimization-policy.ts';
import { checkPolicySpec, type PolicySpecLimits } from '../api/optimization-policy-check.ts';
import type { OptimizationPolicyStatus } from '../api/optimization-policy-status.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { PolicySpec } from './policy-spec.ts';
import { readPolicySpec } from './policy-spec-reader.ts';
import { readPolicyStatus } from './policy-status.ts';

interface PolicyIdentity {
  /** The API group the object lives in; its status is written there. */
  readonly group: PolicyGroup;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly createdAt: EpochMillis;
  /** Being deleted: it no longer takes part in selection. */
  readonly deleting: boolean;
  /** As last read: history that outlives the process. Of its lists only the form is checked. */
  readonly status: OptimizationPolicyStatus;
}

/** May have the say over workloads, unless it is being deleted. */
export interface ValidPolicy extends PolicyIdentity {
  readonly spec: PolicySpec;
  readonly problems: readonly [];
}

/** Never has the say (defect B11); its status says why, and what is known in it stays. */
export interface InvalidPolicy extends PolicyIdentity {
  readonly spec: undefined;
  /** A sentence each: where, what, and what is accepted. Never empty; the first is the one OptiPod would have told. */
  readonly problems: readonly [string, ...string[]];
}

/** Told apart by `spec`. */
export type PolicyRecord = ValidPolicy | InvalidPolicy;

/** Reads one object. Never throws, whatever the object holds. */
export function parsePolicy(
  group: PolicyGroup,
  object: OptimizationPolicy,
  limits: PolicySpecLimits = {},
): PolicyRecord {
  const { metadata = {}, status } = object;
  const identity: PolicyIdentity = {
    group,
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation: metadata.generation ?? 0,
    createdAt: Date.parse(metadata.creationTimestamp ?? '') || 0,
    deleting: metadata.deletionTimestamp !== undefined,
    status: readPolicyStatus(status),
  };
  const checked = checkPolicySpec(object.spec, limits);
  return checked.ok
    ? { ...identity, spec: readPolicySpec(checked.spec, checked.window), problems: [] }
    : { ...identity, spec: undefined, problems: checked.problems };
}

/** What a policy is called; its uid changes when it is made anew. */
export type PolicyId = Pick<PolicyIdentity, 'group' | 'namespace' | 'name'>;

/** A text that names the policy across groups and namespaces. */
export function policyKey({ group, namespace, name }: PolicyId): string {
  return `${group}/${namespace}/${name}`;
}

export function isValidPolicy(policy: PolicyRecord): policy is ValidPolicy {
  return policy.spec !== undefined;
}
