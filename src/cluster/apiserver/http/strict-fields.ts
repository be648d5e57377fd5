/**
 * What is said about fields that a type does not have, as `fieldValidation` asks. Custom types only: of others the
 * whole schema is not known here. Source: apiserver pkg/endpoints/handlers/create.go and patch.go.
 */
import { invalidField } from '../field-errors.ts';
import type { JsonObject } from '../json.ts';
import type { WriteContext } from '../request.ts';
import type { ServedType } from '../served-type.ts';
import { badRequest, invalid } from '../status-error.ts';

/** @throws KubeError 400, of a patch 422, where `Strict` is asked and a field is not known; else it is a warning. */
export function checkFields(
  query: URLSearchParams,
  type: ServedType,
  body: JsonObject,
  { warnings }: Pick<WriteContext, 'warnings'>,
  isPatch: boolean,
): void {
  const directive = query.get('fieldValidation') ?? 'Warn';
  if (directive === 'Ignore') return;
  const unknown = (type.unknownFields?.(body) ?? []).map((path) => `unknown field ${JSON.stringify(path)}`);
  if (unknown.length === 0) return;
  if (directive !== 'Strict') warnings.push(...unknown);
  else if (isPatch) {
    const errors = [invalidField('patch', JSON.stringify(body), strictly(unknown))];
    throw invalid({ group: '', kind: '' }, '', errors);
  } else {
    const { kind, version } = type;
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${strictly(unknown)}`,
    );
  }
}

function strictly(unknown: readonly string[]): string {
  return `strict decoding error: ${unknown.join(', ')}`;
}
