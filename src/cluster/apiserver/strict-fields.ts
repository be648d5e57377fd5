/**
 * What is said about fields that a type does not have, as `fieldValidation` asks.
 * Source: apiserver pkg/endpoints/handlers/create.go and patch.go.
 */
import { invalidField } from './field-errors.ts';
import type { JsonObject } from './json.ts';
import type { WriteContext } from './request.ts';
import type { ServedType } from './served-type.ts';
import { badRequest, invalid } from './status-error.ts';

/**
 * @param patch what is told of the patch that has made the object; left out, the object is a whole body.
 * @throws KubeError 400, of a patched object 422, where `Strict` is asked and a field is not known; else it is a warning.
 */
export function checkFields(
  type: ServedType,
  object: JsonObject,
  { warnings, fieldValidation = 'Ignore' }: Pick<WriteContext, 'warnings' | 'fieldValidation'>,
  patch?: () => string,
): void {
  if (fieldValidation === 'Ignore') return;
  const unknown = (type.unknownFields?.(object) ?? []).map((path) => `unknown field ${JSON.stringify(path)}`);
  if (unknown.length === 0) return;
  if (fieldValidation === 'Warn') {
    for (const each of unknown) warnings.push(each);
    return;
  }
  const problem = `strict decoding error: ${unknown.join(', ')}`;
  if (patch !== undefined) throw invalid({ group: '', kind: '' }, '', [invalidField('patch', patch(), problem)]);
  const { kind, version } = type;
  throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${problem}`);
}
