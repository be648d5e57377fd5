/** What an attempt to resize a pod or to change a template led to: every answer of the API by meaning. */
import { KubeError } from '../api/kube-error.ts';
import { describeError } from '../lib/errors.ts';
import type { Millis } from '../lib/units.ts';
import { answer, type ReadAnswer, readAnswer } from './resize-answers.ts';

export type ResizeOutcome =
  /** The spec is changed; whether the node grants it shows later. `generation` is the pod's with the change in it. */
  | { readonly result: 'accepted'; readonly generation: number | undefined }
  /** The object no longer exists, or another one has its name: nothing is left to do. */
  | { readonly result: 'gone' }
  | (ReadAnswer & {
      readonly result: 'refused';
      /** How long the server asks to wait, where it says so. */
      readonly retryAfterMillis: Millis | undefined;
      /** The connection or the server broke off: the change may have been made all the same. */
      readonly isUncertain: boolean;
    });

export type ResizeFailure = Exclude<ResizeOutcome, { readonly result: 'accepted' }>;

/**
 * The outcome of a request that rejected. What no row of the table knows is told apart by its status code. 503 is
 * certain, unlike other 5xx: the server says it before it has begun.
 */
export function outcomeOfResizeError(error: unknown): ResizeFailure {
  const text = describeError(error);
  // Whether the change was made is not known; sending the same sizes again does no harm.
  if (!(error instanceof KubeError)) return refused(answer('ResizeApiTrouble', 'retry', text), undefined, true);
  if (isOtherObject(error)) return { result: 'gone' };
  if (error.httpStatus === 404 && isNamed(error)) return { result: 'gone' };
  const known = readAnswer('answer', text);
  const isUncertain = known === undefined && error.httpStatus >= 500 && error.httpStatus !== 503;
  return refused(known ?? byStatus(error, text), error.retryAfterMillis, isUncertain);
}

function refused(read: ReadAnswer, retryAfterMillis: Millis | undefined, isUncertain: boolean): ResizeFailure {
  return { result: 'refused', ...read, retryAfterMillis, isUncertain };
}

/** An object that is gone has its name in the answer; a subresource that is not served has none. */
function isNamed(error: KubeError): boolean {
  return (error.status?.details?.name ?? '') !== '';
}

function byStatus(error: KubeError, text: string): ReadAnswer {
  const { httpStatus } = error;
  if (httpStatus === 404 || httpStatus === 405) return answer('ResizeNotServed', 'recreate', text);
  if (httpStatus === 409) return answer('ResizeConflict', 'retry', text);
  if (httpStatus >= 500 || RETRIED.has(httpStatus)) return answer('ResizeApiTrouble', 'retry', text);
  // Admission plug-ins answer 403 as RBAC does; the text of RBAC is known, so this is one of them.
  if (httpStatus === 403) return answer('ResizeAdmissionDenied', 'give-up', text);
  return answer('ResizeRefused', 'give-up', text);
}

/** Unauthorized (a token that expires is renewed), request timeout, too many requests. */
const RETRIED: ReadonlySet<number> = new Set([401, 408, 429]);

/**
 * A uid in a patch that is not the object's own is refused as a change of an immutable field (422), or as a conflict
 * that says so.
 */
function isOtherObject(error: KubeError): boolean {
  if (error.httpStatus === 422)
    return (error.status?.details?.causes ?? []).some(({ field }) => field === 'metadata.uid');
  return error.httpStatus === 409 && /precondition failed: UID/i.test(error.message);
}
