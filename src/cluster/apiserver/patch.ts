/** One entry to all patch forms: what the object would look like after the patch. */
import type { Patch } from '../../api/kube-api.ts';
import { isObject, type JsonObject, toJson } from './json.ts';
import { applyJsonPatch, applyMergePatch } from './patch-json.ts';
import { applyStrategicPatch } from './patch-strategic.ts';
import type { ServedType } from './served-type.ts';
import { badRequest, unsupportedMediaType } from './status-error.ts';

export type PlainPatch = Exclude<Patch, { type: 'apply' }>;

/** Applies a JSON, merge or strategic patch to `current` (not changed). Throws 400, 415 or 422 as the real server does. */
export function applyPlainPatch(type: ServedType, current: JsonObject, patch: PlainPatch): JsonObject {
  const body = toJson(patch.body);
  let result: unknown;
  if (patch.type === 'json') result = applyJsonPatch(current, body);
  else {
    if (!isObject(body)) throw badRequest('the patch must be a JSON object');
    if (patch.type === 'strategic' && type.customResource) {
      throw unsupportedMediaType(
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor',
      );
    }
    result = patch.type === 'merge' ? applyMergePatch(current, body) : applyStrategicPatch(current, body, type.struct);
  }
  if (!isObject(result)) throw badRequest('the patched document is not an object');
  return result;
}
