/** Corrects the stamps of one pod for an approved decision: annotations only, nothing restarts. */

import { placementKeys } from '../api/annotations.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isConflict, isInvalid, isNotFound } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import type { RestampDecision } from '../decide/decision.ts';
import type { Approved } from '../guard/guard.ts';
import { describeError } from '../lib/errors.ts';

export type RestampOutcome =
  | { readonly result: 'restamped' }
  /** The pod is gone or changed meanwhile: it is decided anew from what the watch brings. */
  | { readonly result: 'changed' }
  | { readonly result: 'failed'; readonly message: string };

/** Never rejects. */
export type Restamp = (approved: Approved<RestampDecision>, signal: AbortSignal) => Promise<RestampOutcome>;

/** Owner of the written fields in managedFields. */
const FIELD_MANAGER = 'stowage';

export function createRestamp(api: KubeApi): Restamp {
  return async ({ decision }, signal) => {
    const { pod, resourceVersion, slot, capacity, deletionCost } = decision;
    const annotations = {
      [placementKeys.slot]: String(slot),
      [placementKeys.capacity]: capacity,
      // The leader has looked at it now.
      [placementKeys.unconfirmed]: null,
      // On the side of its slot, it covers for nobody.
      [placementKeys.fallback]: null,
      ...(deletionCost !== undefined && { [placementKeys.podDeletionCost]: String(deletionCost) }),
    };
    // uid and resourceVersion in the body make the patch conditional on both.
    const body = { metadata: { uid: pod.uid, resourceVersion, annotations } };
    const { namespace, name } = pod;
    try {
      const options = { namespace, signal, fieldManager: FIELD_MANAGER };
      await api.patch(resources.pods, name, { type: 'merge', body }, options);
      return { result: 'restamped' };
    } catch (error) {
      if (isNotFound(error) || isConflict(error) || isOtherPod(error)) return { result: 'changed' };
      return { result: 'failed', message: describeError(error) };
    }
  };
}

/**
 * A uid in a patch that is not the object's own is refused as a change of an immutable field (422), not as a conflict.
 */
function isOtherPod(error: unknown): boolean {
  return isInvalid(error) && (error.status?.details?.causes ?? []).some(({ field }) => field === 'metadata.uid');
}
