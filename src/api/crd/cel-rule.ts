/**
 * One rule, two judges: a CEL expression for the API server and the same rule as a predicate for our own parser, kept side by side.
 * {@link withRules} hangs both on a zod schema; {@link crdSchema} (crd-schema.ts) turns the first into `x-kubernetes-validations`.
 */
import type { ZodType, z } from 'zod';

export interface CelRule<Value> {
  /** CEL over `self`; every expression must hold on any value of the schema's type, absent optional fields included. */
  readonly rule: string;
  /** A sentence without the path, which both judges put in front. */
  readonly message: string;
  /** The rule over the parsed value, defaults filled in. */
  holds(value: Value): boolean;
}

/** Checks `rules` in parsing, and carries them into the CRD. Descriptions and other metadata stay. */
export function withRules<Schema extends ZodType>(
  schema: Schema,
  ...rules: readonly CelRule<z.output<Schema>>[]
): Schema {
  const meta = schema.meta() ?? {};
  const earlier = meta['x-kubernetes-validations'];
  const checked = rules.reduce<Schema>(
    (before, { message, holds }) => before.refine((value) => holds(value), { message }),
    schema,
  );
  return checked.meta({
    ...meta,
    'x-kubernetes-validations': [
      ...(Array.isArray(earlier) ? earlier : []),
      ...rules.map(({ rule, message }) => ({ rule, message })),
    ],
  });
}
