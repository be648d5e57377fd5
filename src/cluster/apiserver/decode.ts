/** The decoder of request bodies: what must be an object of a served type is one, or is refused in the words of the real server. */

import { apiVersionOf } from '../../api/resources.ts';
import { goName } from './go-text.ts';
import { isObject, type JsonObject, textOf } from './json.ts';
import { withoutEmptyCollections } from './object-meta.ts';
import { type DecodedStruct, decodeStruct } from './schema/decode-struct.ts';
import { METADATA_HOLDER, structOf } from './schema/struct-types.ts';
import type { ApiObject, ServedType } from './served-type.ts';
import { badRequest, unrecognizedBody } from './status-error.ts';

/**
 * Checks that the body is an object of the served type and gives it apiVersion, kind and metadata.
 * @param stored the object to be changed: what the body has of it unchanged needs no second look.
 */
export function decode(type: ServedType, input: JsonObject, stored?: ApiObject): ApiObject {
  checkType(type, input, apiVersionOf(type));
  const { object, problem } = readBody(type, input, stored);
  if (problem !== undefined)
    throw badRequest(
      `${type.kind} in version ${JSON.stringify(type.version)} cannot be handled as a ${type.kind}: ${problem}`,
    );
  return asTyped(type, object);
}

/** A body that {@link readBody} has read, as an object of the type. */
export function asTyped(type: ServedType, read: JsonObject): ApiObject {
  const { metadata } = read;
  return {
    ...read,
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: isObject(metadata) ? withoutEmptyCollections(withoutSelfLink(metadata)) : {},
  };
}

/** Nobody has it any more: it is read, and forgotten. */
function withoutSelfLink(metadata: JsonObject): JsonObject {
  if (metadata['selfLink'] === undefined) return metadata;
  const { selfLink: _, ...rest } = metadata;
  return rest;
}

/** Built-in types are decoded as what the URL says where the body does not; custom ones have to say what they are. */
function checkType(type: ServedType, input: JsonObject, expected: string): void {
  const { apiVersion, kind } = input;
  for (const [field, value] of Object.entries({ apiVersion, kind })) {
    if (value === undefined || value === null || typeof value === 'string') continue;
    const what = goName(value);
    const why = `couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go struct field .${field} of type string`;
    throw unrecognizedBody(type.kind, why, JSON.stringify(input));
  }
  if (type.customResource === true && !kind)
    throw unrecognizedBody(type.kind, `Object 'Kind' is missing in '${JSON.stringify(input)}'`, JSON.stringify(input));
  const said = {
    apiVersion: textOf(apiVersion) || (type.customResource === true ? '' : expected),
    kind: textOf(kind) || type.kind,
  };
  if (type.customResource === true) {
    if (said.apiVersion !== expected)
      throw badRequest(
        `the API version in the data (${said.apiVersion}) does not match the expected API version (${expected})`,
      );
    if (said.kind !== type.kind)
      throw badRequest(`the kind in the data (${said.kind}) does not match the expected kind (${type.kind})`);
    return;
  }
  if (said.apiVersion === expected && said.kind === type.kind) return;
  const [group, version] = said.apiVersion.includes('/') ? said.apiVersion.split('/', 2) : ['', said.apiVersion];
  const named = { group: group ?? '', version: version ?? '', kind: said.kind };
  const why =
    structOf(named) === undefined
      ? `no kind ${JSON.stringify(said.kind)} is registered for version ${JSON.stringify(said.apiVersion)} in scheme "pkg/runtime/scheme.go:111"`
      : `converting (${version}.${said.kind}) to (${packageOf(type.group)}.${type.kind}): unknown conversion`;
  throw badRequest(`${said.kind} in version ${JSON.stringify(version)} cannot be handled as a ${type.kind}: ${why}`);
}

/** The Go package of a group's internal types. */
export function packageOf(group: string): string {
  return group === '' || group === 'events.k8s.io' ? 'core' : (group.split('.')[0] ?? group);
}

/** What the struct of the type makes of a body, read in one of the two ways; of types that others define only the metadata are read. */
export function readBody(
  type: ServedType,
  body: JsonObject,
  stored?: JsonObject,
  read: typeof decodeStruct = decodeStruct,
): DecodedStruct {
  if (type.struct !== undefined) return read(body, type.struct, stored);
  const { metadata } = body;
  const { object, problem } = decodeStruct({ metadata }, METADATA_HOLDER, { metadata: stored?.['metadata'] });
  return {
    object: { ...body, ...object },
    unknown: [],
    ...(problem === undefined ? {} : { problem: problem.replace(METADATA_HOLDER.name, type.kind) }),
  };
}
