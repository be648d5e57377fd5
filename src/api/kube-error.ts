/** Errors of the Kubernetes API, told apart by meaning. Callers use the predicates, never the message. */
import type { Status } from './core.ts';

/** An answer of the API server other than success. Transport faults (reset, timeout) are not KubeErrors. */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly code = 'KUBE_STATUS';
  /** HTTP status code. */
  readonly httpStatus: number;
  /** Machine-readable reason of the Status object, e.g. `NotFound`; empty when the body was not a Status. */
  readonly reason: string;
  readonly status: Status | undefined;
  /** From the Retry-After header, when sent. */
  readonly retryAfterMillis: number | undefined;

  constructor(httpStatus: number, status: Status | undefined, fallbackMessage: string, retryAfterMillis?: number) {
    super(status?.message || fallbackMessage);
    this.httpStatus = httpStatus;
    this.reason = status?.reason ?? '';
    this.status = status;
    this.retryAfterMillis = retryAfterMillis;
  }
}

const hasStatus =
  (...codes: number[]) =>
  (error: unknown): error is KubeError =>
    error instanceof KubeError && codes.includes(error.httpStatus);

/** No such object, or no such type, or a namespace that is not there: the message alone tells which. */
export const isNotFound = hasStatus(404);
export const isForbidden = hasStatus(403);
export const isUnauthorized = hasStatus(401);
/** The object does not pass validation: sending it again cannot help. */
export const isInvalid = hasStatus(422);

/** 409 because the resourceVersion or a precondition (uid) did not match. `AlreadyExists` is a different meaning. */
export function isConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.httpStatus === 409 && error.reason !== 'AlreadyExists';
}

export function isAlreadyExists(error: unknown): error is KubeError {
  return error instanceof KubeError && error.httpStatus === 409 && error.reason === 'AlreadyExists';
}

/** 410, or an ERROR watch event with code 410: the resourceVersion is too old, list again. */
export function isExpired(error: unknown): error is KubeError {
  return error instanceof KubeError && (error.httpStatus === 410 || error.reason === 'Expired');
}

/**
 * The resourceVersion asked for is newer than the server's (after an etcd restore or on a lagging server).
 * Source: apiserver storage errors answer 504 Timeout with cause ResourceVersionTooLarge; older servers only a message.
 */
export function isTooLargeResourceVersion(error: unknown): error is KubeError {
  if (!(error instanceof KubeError) || error.reason !== 'Timeout') return false;
  const causes = error.status?.details?.causes ?? [];
  return (
    causes.some((cause) => cause.reason === 'ResourceVersionTooLarge') ||
    error.message.includes('Too large resource version')
  );
}

/** 429 with a DisruptionBudget cause: the eviction would violate a PodDisruptionBudget. Not a throttling answer. */
export function isBlockedByPdb(error: unknown): error is KubeError {
  return (
    error instanceof KubeError &&
    error.httpStatus === 429 &&
    (error.status?.details?.causes ?? []).some((cause) => cause.reason === 'DisruptionBudget')
  );
}

/** 429 (API priority and fairness) or 503 that asks to come back later. */
export function isThrottled(error: unknown): error is KubeError {
  return error instanceof KubeError && (error.httpStatus === 429 || error.httpStatus === 503) && !isBlockedByPdb(error);
}

/** What `call` answers; undefined where it fails with such an error, which is then as good as an answer. */
export async function unless<T>(isExpected: (error: unknown) => boolean, call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (!isExpected(error)) throw error;
    return undefined;
  }
}

/** What authorization says that the account may not do. */
export interface MissingRight {
  readonly verb: string;
  /** As rules of RBAC have it, with its group: `pods/resize`, `deployments.apps`. */
  readonly resource: string;
  /** Undefined: in the whole cluster. */
  readonly namespace: string | undefined;
}

/**
 * Undefined for anything else, also for the 403 of admission (a quota, a webhook, a namespace that ends), which only
 * the text tells apart. Source: apiserver pkg/endpoints/handlers/responsewriters/errors.go, forbiddenMessage.
 */
export function missingRight(error: unknown): MissingRight | undefined {
  if (!isForbidden(error)) return undefined;
  const [, verb, path, group = '', namespace] =
    /User "[^"]*" cannot (\S+) resource "([^"]+)"(?: in API group "([^"]*)")?(?: in the namespace "([^"]+)")?/.exec(
      error.message,
    ) ?? [];
  if (verb === undefined || path === undefined) return undefined;
  return { verb, resource: group === '' ? path : `${path}.${group}`, namespace };
}

/** For people: `patch pods/resize in namespace shop`. */
export function rightText({ verb, resource, namespace }: MissingRight): string {
  return `${verb} ${resource} ${namespace === undefined ? 'in the whole cluster' : `in namespace ${namespace}`}`;
}
