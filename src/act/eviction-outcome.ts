/** What an attempt to evict a pod led to: every answer of the eviction API by meaning. */
import { isBlockedByPdb, isConflict, isForbidden, isNotFound, isThrottled, KubeError } from '../api/kube-error.ts';
import { describeError } from '../lib/errors.ts';
import type { Millis } from '../lib/units.ts';

export type EvictionOutcome =
  /** Accepted: the pod is terminating. */
  | { readonly result: 'evicted' }
  /** The pod no longer exists: nothing is left to do. */
  | { readonly result: 'gone' }
  /** A pod of this name exists, but not the one that was decided about. */
  | { readonly result: 'changed' }
  /** A PodDisruptionBudget does not allow it now. An expected answer, not an error. */
  | { readonly result: 'blocked-by-pdb'; readonly message: string }
  /** Several budgets select the pod; the API can never evict it. */
  | { readonly result: 'multiple-pdbs'; readonly message: string }
  /** The API server is busy. */
  | { readonly result: 'throttled'; readonly retryAfterMillis: Millis }
  /** RBAC or an admission rule forbids it. */
  | { readonly result: 'forbidden'; readonly message: string }
  | { readonly result: 'failed'; readonly message: string }
  /** The connection or the server broke off: whether the pod was evicted is not known. To be treated as if it was. */
  | { readonly result: 'unknown'; readonly message: string };

export type EvictionResult = EvictionOutcome['result'];

/** The pod is on its way out, as far as is known: its place in the budget is kept until it is seen gone. */
export function isEnding({ result }: EvictionOutcome): boolean {
  return result === 'evicted' || result === 'unknown';
}

/** The pod may be gone: its workload counts as disrupted, and its cooldown begins. */
export function mayBeGone(
  outcome: EvictionOutcome,
): outcome is Extract<EvictionOutcome, { readonly result: 'evicted' | 'unknown' | 'gone' }> {
  return isEnding(outcome) || outcome.result === 'gone';
}

/** Used when a throttling answer says no time. */
const DEFAULT_RETRY_AFTER_MILLIS = 1_000;

/**
 * Sources: kubernetes pkg/registry/core/pod/storage/eviction.go (429 with a DisruptionBudget cause, 500 for several
 * budgets), API priority and fairness (429 without it).
 */
export function outcomeOfEvictionError(error: unknown): EvictionOutcome {
  const message = describeError(error);
  if (!(error instanceof KubeError)) return { result: 'unknown', message };
  const { httpStatus, retryAfterMillis } = error;
  if (isNotFound(error)) return { result: 'gone' };
  if (isConflict(error)) return { result: 'changed' };
  if (isBlockedByPdb(error)) return { result: 'blocked-by-pdb', message };
  if (isThrottled(error))
    return { result: 'throttled', retryAfterMillis: retryAfterMillis ?? DEFAULT_RETRY_AFTER_MILLIS };
  // The API says this with a plain internal error: its text is all there is.
  if (httpStatus === 500 && /more than one PodDisruptionBudget/i.test(message))
    return { result: 'multiple-pdbs', message };
  if (isForbidden(error)) return { result: 'forbidden', message };
  return { result: isUncertain(httpStatus, message) ? 'unknown' : 'failed', message };
}

/**
 * A gateway or the API server gave up waiting (502, 504), or etcd did not confirm the write, or the connection to it
 * broke (500): the pod may be on its way out all the same. A webhook that cannot be called is asked before anything is
 * written.
 */
function isUncertain(httpStatus: number, message: string): boolean {
  if (/failed calling webhook/.test(message)) return false;
  return (
    httpStatus === 502 ||
    httpStatus === 504 ||
    (httpStatus === 500 && /etcdserver|rpc error|timed? ?out|deadline exceeded/i.test(message))
  );
}
