/** The expression failed at run time: a missing field, a wrong type, an unknown function. */
export class CelRuntimeError extends Error {
  override readonly name = 'CelRuntimeError';
  readonly code = 'CEL_RUNTIME';
}
