/**
 * The API server's failure answers, worded and coded as the real ones.
 * Source of the texts: apimachinery pkg/api/errors and the places of apiserver that raise them.
 */
import type { Status } from '../../api/core.ts';
import { KubeError } from '../../api/kube-error.ts';
import type { FieldError } from './field-errors.ts';
import type { JsonObject } from './json.ts';

/** What an answer names: the group and plural of a type. */
export interface Named {
  readonly group: string;
  readonly plural: string;
}

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** `reason` empty: the Status has none, as with errors no table of the real server names. */
interface Failure {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
  readonly continueToken?: string;
}

/** `deployments.apps`; the core group adds nothing. */
export function qualifiedResource(type: Named): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`;
}

/** The one place where a Status is made: what HTTP clients read as body and in-process clients catch is the same. */
export function failure({ code, reason, message, details, continueToken }: Failure): KubeError {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: continueToken === undefined ? {} : { continue: continueToken },
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined
      ? {}
      : {
          details: { ...details, causes: details.causes?.map((cause) => ({ ...cause })) } as NonNullable<
            Status['details']
          >,
        }),
    code,
  };
  if (status.details?.causes === undefined) delete status.details?.causes;
  // Zero means that waiting is no cure; the real server leaves it out.
  const retryAfter = details?.retryAfterSeconds === 0 ? undefined : details?.retryAfterSeconds;
  return new KubeError(code, status, message, retryAfter === undefined ? undefined : retryAfter * 1_000);
}

function namedDetails(type: Named, name: string): { name?: string; group?: string; kind: string } {
  return { ...(name === '' ? {} : { name }), ...(type.group === '' ? {} : { group: type.group }), kind: type.plural };
}

export function notFound(type: Named, name: string): KubeError {
  const message = `${qualifiedResource(type)} ${JSON.stringify(name)} not found`;
  return failure({ code: 404, reason: 'NotFound', message, details: namedDetails(type, name) });
}

/** The URL leads to no served resource. */
export function unknownResource(): KubeError {
  return failure({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });
}

/** @param isEnding it is there only until its finalizers are gone. */
export function alreadyExists(type: Named, name: string, isEnding = false): KubeError {
  const message = `${isEnding ? 'object is being deleted: ' : ''}${qualifiedResource(type)} ${JSON.stringify(name)} already exists`;
  return failure({ code: 409, reason: 'AlreadyExists', message, details: namedDetails(type, name) });
}

/**
 * As many names were drawn as are tried, and all were taken. Source: apimachinery errors.go NewGenerateNameConflict.
 */
export function noUniqueName(type: Named, name: string): KubeError {
  const message = `${qualifiedResource(type)} ${JSON.stringify(name)} already exists, the server was not able to generate a unique name for the object`;
  return failure({
    code: 409,
    reason: 'AlreadyExists',
    message,
    details: { ...namedDetails(type, name), retryAfterSeconds: 1 },
  });
}

/** Source: apiserver pkg/registry/generic/registry/store.go `OptimisticLockErrorMsg`. */
export const STALE_OBJECT =
  'the object has been modified; please apply your changes to the latest version and try again';

export function conflict(type: Named, name: string, why: string = STALE_OBJECT): KubeError {
  const message = `Operation cannot be fulfilled on ${qualifiedResource(type)} ${JSON.stringify(name)}: ${why}`;
  return failure({ code: 409, reason: 'Conflict', message, details: namedDetails(type, name) });
}

export function preconditionFailed(
  type: Named,
  name: string,
  what: 'UID' | 'ResourceVersion',
  wanted: string,
  found: string,
): KubeError {
  return conflict(
    type,
    name,
    `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`,
  );
}

/** @param name empty for a collection. */
export function forbidden(type: Named, name: string, why: string, causes?: readonly StatusCause[]): KubeError {
  const details = { ...subjectDetails(type, name), ...(causes === undefined ? {} : { causes }) };
  return failure({
    code: 403,
    reason: 'Forbidden',
    message: `${subjectOf(type, name)} is forbidden: ${why}`,
    details,
  });
}

function subjectOf(type: Named, name: string): string {
  return name === '' ? qualifiedResource(type) : `${qualifiedResource(type)} ${JSON.stringify(name)}`;
}

function subjectDetails(type: Named, name: string): { name?: string; group?: string; kind: string } {
  if (name !== '') return namedDetails(type, name);
  return { kind: type.plural, ...(type.group === '' ? {} : { group: type.group }) };
}

/** Of the reasons a policy may give. Source: apiserver pkg/admission/plugin/policy/validating/policy_decision.go. */
const POLICY_CODES: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
};

/** A refusal by an admission policy: worded as forbidden, under the reason the policy gives. */
export function deniedByPolicy(type: Named, name: string, why: string, reason: string): KubeError {
  return failure({
    code: POLICY_CODES[reason] ?? 422,
    reason,
    message: `${subjectOf(type, name)} is forbidden: ${why}`,
    details: { ...subjectDetails(type, name), causes: [{ message: why }] },
  });
}

export function unauthorized(): KubeError {
  return failure({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
}

export function badRequest(message: string): KubeError {
  return failure({ code: 400, reason: 'BadRequest', message });
}

/** Longest part of a body that is repeated where nothing can be made of it. */
const MAX_SHOWN_BODY = 30;

/** A body of which not even the kind can be told. Source: apiserver pkg/endpoints/handlers/rest.go transformDecodeError. */
export function unrecognizedBody(kind: string, why: string, body: string): KubeError {
  const bytes = Buffer.from(body);
  const part = bytes.subarray(0, MAX_SHOWN_BODY);
  const shown = body.startsWith('{') ? part.toString('utf8') : part.toString('hex');
  const summary = body === '' ? '<empty>' : `${shown}${bytes.length > MAX_SHOWN_BODY ? ' ...' : ''}`;
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summary})`);
}

/** @param errors at least one; equal texts are told once in the message and each in the causes. */
export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): KubeError {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const qualified = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return failure({
    code: 422,
    reason: 'Invalid',
    message: `${qualified} ${JSON.stringify(name)} is invalid: ${list}`,
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      ...(kind.kind === '' ? {} : { kind: kind.kind }),
      causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  });
}

/**
 * What routes of built-in types are matched by has no such method. Source: apiserver pkg/server/handler.go
 * serviceErrorHandler, which drops the header `Allow`.
 */
export function methodNotServed(): KubeError {
  return failure({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });
}

export function methodNotAllowed(type: Named, action: string): KubeError {
  const message = `${action} is not supported on resources of kind ${JSON.stringify(qualifiedResource(type))}`;
  return failure({
    code: 405,
    reason: 'MethodNotAllowed',
    message,
    details: { ...(type.group === '' ? {} : { group: type.group }), kind: type.plural },
  });
}

/** @param continueToken goes on with a list at the newest version, at the price of consistency. */
export function expired(message: string, continueToken?: string): KubeError {
  return failure({ code: 410, reason: 'Expired', message, ...(continueToken === undefined ? {} : { continueToken }) });
}

export const OTHER_NAMESPACE = 'the namespace of the provided object does not match the namespace sent on the request';

/** A resourceVersion from the future. Source: apiserver pkg/storage/errors.go NewTooLargeResourceVersionError. */
export function tooLargeResourceVersion(wanted: number, current: number): KubeError {
  return failure({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${wanted}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

/** @param retryAfterSeconds 0: waiting is no cure, and nothing is said of it. */
export function tooManyRequests(
  message: string,
  retryAfterSeconds: number,
  causes?: readonly StatusCause[],
): KubeError {
  return failure({
    code: 429,
    reason: 'TooManyRequests',
    message,
    details: { ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }), ...(causes === undefined ? {} : { causes }) },
  });
}

/** What people search for is the text after `Internal error occurred: `. */
export function internalError(why: string): KubeError {
  return failure({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${why}`,
    details: { causes: [{ message: why }] },
  });
}

export function tooLarge(why: string): KubeError {
  return failure({ code: 413, reason: 'RequestEntityTooLarge', message: `Request entity too large: ${why}` });
}

export function unsupportedMediaType(message: string, details?: Record<string, never>): KubeError {
  return failure({ code: 415, reason: 'UnsupportedMediaType', message, ...(details === undefined ? {} : { details }) });
}

/** The Status of a success that returns no object. */
export function successStatus(details?: JsonObject): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    ...(details === undefined ? {} : { details }),
  };
}
