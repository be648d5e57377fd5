/** What a request's query and headers ask for. */

import type { Patch } from '../../../api/kube-api.ts';
import { type FieldError, forbiddenField, tooLongField, unsupportedField } from '../field-errors.ts';
import { goName } from '../go-text.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { ListQuery } from '../reader.ts';
import type { Caller, WriteContext } from '../request.ts';
import type { ServedType } from '../served-type.ts';
import { requiredManager } from '../server-side-apply.ts';
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

/** The options of a deletion without a body, as its body would say them. */
export function deletionQueryOf(query: URLSearchParams): JsonObject {
  const grace = numberOf(query, 'gracePeriodSeconds');
  const [policy, orphan] = [query.get('propagationPolicy'), query.get('orphanDependents')];
  const stages = query.getAll('dryRun');
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === null ? {} : { orphanDependents: isTrue(orphan) }),
    ...(stages.length === 0 ? {} : { dryRun: stages }),
  };
}

const METHOD_OPTIONS: Readonly<Record<string, string>> = {
  POST: 'Create',
  PUT: 'Update',
  PATCH: 'Patch',
  DELETE: 'Delete',
};

/** Longest name of a manager a request may give. */
const MAX_MANAGER_BYTES = 128;
const FIELD_VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'];

/** Source: apimachinery pkg/apis/meta/v1/validation/validation.go. */
function optionErrors(query: URLSearchParams, method: string, isApply: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const [manager, fieldValidation] = [query.get('fieldManager') ?? '', query.get('fieldValidation') ?? ''];
  if (isApply && manager === '') errors.push(requiredManager());
  if (method === 'PATCH' && !isApply && query.get('force'))
    errors.push(forbiddenField('force', 'may not be specified for non-apply patch'));
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) errors.push(tooLongField('fieldManager', MAX_MANAGER_BYTES));
  const stages = query.getAll('dryRun');
  if (stages.some((stage) => stage !== 'All')) errors.push(unsupportedField('dryRun', stages, ['All']));
  if (!FIELD_VALIDATIONS.includes(fieldValidation))
    errors.push(unsupportedField('fieldValidation', fieldValidation, FIELD_VALIDATIONS));
  return errors;
}

/** A write that names no manager is its program's, by the User-Agent. @throws 422 for options that are none */
export function writeContextOf(exchange: Exchange, caller: Caller): WriteContext {
  const { query, method } = exchange;
  if (method !== 'DELETE') {
    const errors = optionErrors(query, method, mediaTypeOf(exchange) === APPLY);
    const kind = `${METHOD_OPTIONS[method] ?? 'Create'}Options`;
    if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', errors);
  }
  const agent = exchange.header('user-agent').split('/')[0] ?? '';
  return {
    caller,
    // A deletion's options are read with its body.
    dryRun: method !== 'DELETE' && query.getAll('dryRun').includes('All'),
    fieldManager: query.get('fieldManager') || agent || 'unknown',
    fieldValidation: fieldValidationOf(query),
    warnings: exchange.warnings,
  };
}

function fieldValidationOf(query: URLSearchParams): 'Ignore' | 'Warn' | 'Strict' {
  const asked = query.get('fieldValidation');
  return asked === 'Ignore' || asked === 'Strict' ? asked : 'Warn';
}

const APPLY = 'application/apply-patch+yaml';

function mediaTypeOf(exchange: Exchange): string {
  return exchange.header('content-type').split(';')[0]?.trim() ?? '';
}

/** @throws 415 for what is no patch of the type */
export function checkPatchType(exchange: Exchange, type: ServedType): void {
  const types = type.customResource === true ? PATCH_TYPES.filter((each) => !each.includes('strategic')) : PATCH_TYPES;
  if (!types.includes(mediaTypeOf(exchange))) {
    // Routes of built-in types know which types they take, and say no more.
    throw type.customResource === true
      ? unsupportedMediaType(
          `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
        )
      : unsupportedMediaType('415: Unsupported Media Type', {});
  }
}

const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  APPLY,
];

/** @throws 400 for bodies that do not go with the type of patch */
export function patchOf(exchange: Exchange, body: unknown): Patch {
  switch (mediaTypeOf(exchange)) {
    case 'application/json-patch+json':
      if (!Array.isArray(body))
        throw badRequest(
          'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
        );
      return { type: 'json', body };
    case 'application/merge-patch+json':
      return { type: 'merge', body: objectOf(body, 'error decoding patch: ') };
    case APPLY:
      return {
        type: 'apply',
        body: objectOf(body, 'error decoding patch: '),
        force: isTrue(exchange.query.get('force')),
      };
    default:
      return { type: 'strategic', body: objectOf(body) };
  }
}

function objectOf(body: unknown, before = ''): JsonObject {
  if (body === null) return {};
  if (isObject(body)) return body;
  const what = goName(body);
  throw badRequest(`${before}json: cannot unmarshal ${what} into Go value of type map[string]interface {}`);
}
