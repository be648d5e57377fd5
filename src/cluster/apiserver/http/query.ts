/** What a request's query and headers ask for. */
import type { Patch } from '../../../api/kube-api.ts';
import { forbiddenField, unsupportedField } from '../field-errors.ts';
import { isObject } from '../json.ts';
import type { ListQuery } from '../reader.ts';
import type { Caller, WriteContext } from '../request.ts';
import type { ServedType } from '../served-type.ts';
import { missingFieldManager } from '../server-side-apply.ts';
import { badRequest, invalid, unsupportedMediaType } from '../status-error.ts';
import type { Exchange } from './exchange.ts';

/** Anything but `false`, `0` and absence. Source: apimachinery pkg/runtime/converter `Convert_Slice_string_To_bool`. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0';
}

function numberOf(query: URLSearchParams, key: string): number | undefined {
  const text = query.get(key);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (!Number.isInteger(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return value;
}

export function selectionOf(query: URLSearchParams, namespace: string | undefined) {
  return {
    namespace,
    labelSelector: query.get('labelSelector') ?? undefined,
    fieldSelector: query.get('fieldSelector') ?? undefined,
  };
}

export function listQueryOf(query: URLSearchParams, namespace: string | undefined): ListQuery {
  return {
    ...selectionOf(query, namespace),
    limit: numberOf(query, 'limit'),
    continueToken: query.get('continue') ?? undefined,
    resourceVersion: query.get('resourceVersion') ?? undefined,
    resourceVersionMatch: query.get('resourceVersionMatch') ?? undefined,
  };
}

/** @throws 422 for `sendInitialEvents` without the match rule that goes with it */
export function watchOptionsOf(query: URLSearchParams) {
  const initial = query.get('sendInitialEvents');
  const match = query.get('resourceVersionMatch');
  if (initial !== null && match !== 'NotOlderThan') {
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [
      forbiddenField('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    ]);
  }
  return {
    resourceVersion: query.get('resourceVersion') ?? undefined,
    sendInitialEvents: initial === null ? undefined : isTrue(initial),
    allowBookmarks: isTrue(query.get('allowWatchBookmarks')),
    timeoutSeconds: numberOf(query, 'timeoutSeconds'),
  };
}

/** What the body says goes before it. */
export function deletionQueryOf(query: URLSearchParams) {
  return {
    gracePeriodSeconds: numberOf(query, 'gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
  };
}

/** Without members that are undefined, so that they do not hide those of another object. */
export function definedOf<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Partial<T>;
}

const METHOD_OPTIONS: Readonly<Record<string, string>> = {
  POST: 'Create',
  PUT: 'Update',
  PATCH: 'Patch',
  DELETE: 'Delete',
};

/** A write that names no manager is its program's, by the User-Agent. @throws 422 for dry runs of some stages only */
export function writeContextOf(exchange: Exchange, caller: Caller): WriteContext {
  const { query } = exchange;
  const dryRun = query.getAll('dryRun');
  if (dryRun.some((value) => value !== 'All' && value !== '')) {
    throw invalid({ group: 'meta.k8s.io', kind: `${METHOD_OPTIONS[exchange.method] ?? 'Create'}Options` }, '', [
      unsupportedField('dryRun', dryRun, ['All']),
    ]);
  }
  const agent = exchange.header('user-agent').split('/')[0] ?? '';
  return {
    caller,
    dryRun: dryRun.includes('All'),
    fieldManager: query.get('fieldManager') || agent || 'unknown',
    warnings: [],
  };
}

/**
 * @throws 400 for bodies that do not go with the type, 415 for types that are none, 422 for an apply without a manager
 */
export function patchOf(contentType: string, body: unknown, query: URLSearchParams, type: ServedType): Patch {
  const media = contentType.split(';')[0]?.trim() ?? '';
  if (media === 'application/json-patch+json') {
    if (!Array.isArray(body)) throw badRequest('json: cannot unmarshal object into Go value of type jsonpatch.Patch');
    return { type: 'json', body };
  }
  if (!isObject(body)) throw badRequest(`error decoding patch: the body must be an object (${type.kind})`);
  switch (media) {
    case 'application/merge-patch+json':
      return { type: 'merge', body };
    case 'application/strategic-merge-patch+json':
      return { type: 'strategic', body };
    case 'application/apply-patch+yaml':
      if (!query.get('fieldManager')) throw missingFieldManager();
      return { type: 'apply', body, force: isTrue(query.get('force')) };
    default:
      throw unsupportedMediaType(
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml',
      );
  }
}
