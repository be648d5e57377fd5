/** Asks the API server to evict one pod, by uid, for an approved decision. */
import type { Eviction } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { resources } from '../api/resources.ts';
import type { EvictDecision, FallbackDecision } from '../decide/decision.ts';
import type { EvictToResizeDecision } from '../decide/size-decision.ts';
import type { Approved } from '../guard/guard.ts';
import { type EvictionOutcome, outcomeOfEvictionError } from './eviction-outcome.ts';

/**
 * Asks once, without trying again: whoever decides looks anew at what there is then. Never rejects: every answer, a
 * broken connection and an aborted signal included, is an outcome. Case 68 and case 72; hazard H22.
 */
export type Evict = (
  approved: Approved<EvictDecision | FallbackDecision | EvictToResizeDecision>,
  signal: AbortSignal,
) => Promise<EvictionOutcome>;

export function createEvict(api: KubeApi): Evict {
  return async ({ decision }, signal) => {
    const { namespace, name, uid } = decision.pod;
    // A pod that waits may be bound at any moment; then it must stay.
    const resourceVersion = decision.kind === 'evict-to-resize' ? undefined : decision.resourceVersion;
    const eviction: Eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace, name },
      // Without it a StatefulSet's next pod of the same name could be hit. The grace period stays the pod's own.
      deleteOptions: { preconditions: { uid, ...(resourceVersion !== undefined && { resourceVersion }) } },
    };
    try {
      await api.createSubresource(resources.pods, name, 'eviction', eviction, { namespace, signal, lane: 'control' });
      return { result: 'evicted' };
    } catch (error) {
      return outcomeOfEvictionError(error);
    }
  };
}
