/** Writes the status of a policy, to the API group its object lives in. */
import type { KubeApi } from '../api/kube-api.ts';
import { policyType } from '../api/optimization-policy.ts';
import type { OptimizationPolicyStatus } from '../api/optimization-policy-status.ts';
import type { PolicyRecord } from '../model/optimization-policy.ts';
import { outcomeOfWrite, outcomeOfWriteError, type WriteOutcome } from './write-outcome.ts';

/**
 * Replaces the status as a whole, whatever was in it. Writes each time it is called: whoever calls compares first.
 * Never rejects.
 */
export type WritePolicyStatus = (
  policy: Pick<PolicyRecord, 'group' | 'namespace' | 'name' | 'uid'>,
  status: OptimizationPolicyStatus,
  signal: AbortSignal,
) => Promise<WriteOutcome>;

/** All keys of the status: a merge patch only takes away what it names. */
const noStatus: { readonly [Key in keyof Required<OptimizationPolicyStatus>]: null } = {
  observedGeneration: null,
  conditions: null,
  workloadsDiscovered: null,
  workloadsProcessed: null,
  lastReconciliation: null,
  workloadsByType: null,
  workloads: null,
  workloadsOmitted: null,
};

export function createWritePolicyStatus(api: KubeApi): WritePolicyStatus {
  return async ({ group, namespace, name, uid }, status, signal) => {
    // The uid makes the patch conditional: a policy created anew under the same name has a status of its own.
    const body = { metadata: { uid }, status: { ...noStatus, ...status } };
    try {
      const options = { namespace, signal, subresource: 'status', fieldManager: 'stowage', lane: 'control' } as const;
      const stored = await api.patch(policyType(group), name, { type: 'merge', body }, options);
      return outcomeOfWrite({ status }, stored);
    } catch (error) {
      return outcomeOfWriteError(error);
    }
  };
}
