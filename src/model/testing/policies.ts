/** Policies for tests: the least a policy has to say, changed part by part. */
import type { OptimizationPolicy, PolicyGroup } from '../../api/optimization-policy.ts';
import { isValidPolicy, type PolicyRecord, parsePolicy, type ValidPolicy } from '../optimization-policy.ts';

/** What a policy must say. */
export const leastPolicySpec = {
  mode: 'Auto',
  selector: { namespaces: {} },
  metricsConfig: { provider: 'prometheus' },
  resourceBounds: { cpu: { min: '100m', max: '4000m' }, memory: { min: '128Mi', max: '8Gi' } },
  updateStrategy: {},
};

export interface TestPolicy {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly group?: PolicyGroup;
  readonly deleting?: boolean;
  /** Laid over {@link leastPolicySpec}, key by key. */
  readonly spec?: object;
  readonly status?: OptimizationPolicy['status'];
}

export function policyObject(input: TestPolicy = {}): OptimizationPolicy {
  const { name = 'policy', namespace = 'stowage-system', uid = `${namespace}/${name}`, spec, status, deleting } = input;
  return {
    apiVersion: `${input.group ?? 'optipod.io'}/v1alpha1`,
    kind: 'OptimizationPolicy',
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-31T00:00:00Z',
      ...(deleting === true && { deletionTimestamp: '2026-01-31T01:00:00Z' }),
    },
    spec: { ...leastPolicySpec, ...spec },
    ...(status !== undefined && { status }),
  };
}

export function policyRecord(input: TestPolicy = {}): PolicyRecord {
  return parsePolicy(input.group ?? 'optipod.io', policyObject(input));
}

/** @throws Error with the problems when it is not valid. */
export function validPolicy(input: TestPolicy = {}): ValidPolicy {
  const policy = policyRecord(input);
  if (!isValidPolicy(policy)) throw new Error(policy.problems.join('\n'));
  return policy;
}
