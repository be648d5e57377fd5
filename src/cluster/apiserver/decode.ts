/** The decoder of request bodies: what must be an object of a served type is one, or is refused in the words of the real server. */
import { apiVersionOf } from '../../api/resources.ts';
import { type JsonObject, textOf } from './json.ts';
import { withoutEmptyCollections } from './object-meta.ts';
import type { ApiObject, ServedType } from './served-type.ts';
import { shapeProblem } from './shape.ts';
import { badRequest } from './status-error.ts';

/**
 * Checks that the body is an object of the served type and gives it apiVersion, kind and metadata.
 * @param stored the object to be changed: what the body has of it unchanged needs no second look.
 */
export function decode(type: ServedType, input: JsonObject, stored?: ApiObject): ApiObject {
  const apiVersion = apiVersionOf(type);
  if (input['kind'] !== undefined && input['kind'] !== type.kind) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): couldn't get version/kind; the body says kind ${JSON.stringify(input['kind'])}`,
    );
  }
  // Built-in types are decoded as what the URL says; custom ones have to say what they are.
  if (type.customResource === true && input['kind'] === undefined) {
    const text = JSON.stringify(input);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): Object 'Kind' is missing in '${text}' (${text.slice(0, 30)}${text.length > 30 ? ' ...' : ''})`,
    );
  }
  const said = input['apiVersion'] ?? (type.customResource === true ? '' : apiVersion);
  if (said !== apiVersion) {
    throw badRequest(
      `the API version in the data (${textOf(said)}) does not match the expected API version (${apiVersion})`,
    );
  }
  const metadata = input['metadata'] ?? {};
  if (typeof metadata !== 'object' || Array.isArray(metadata)) {
    throw badRequest(
      `${type.kind} in version ${JSON.stringify(type.version)} cannot be handled as a ${type.kind}: json: cannot unmarshal into Go struct field ${type.kind}.metadata of type v1.ObjectMeta`,
    );
  }
  const problem = shapeProblem(type, input, stored);
  if (problem !== undefined)
    throw badRequest(
      `${type.kind} in version ${JSON.stringify(type.version)} cannot be handled as a ${type.kind}: ${problem}`,
    );
  return { ...input, apiVersion, kind: type.kind, metadata: withoutEmptyCollections(metadata) };
}
