/**
 * Misspelt fields of a policy, told: the API server drops them in silence, and a file shows them as if they did
 * something.
 */
import type { KubeObject } from '../../api/core.ts';
import { type CrdSchema, crdSchema } from '../../api/crd/crd-schema.ts';
import { unknownFields } from '../../api/crd/unknown-fields.ts';
import { policySpecSchema } from '../../api/optimization-policy-schema.ts';

/** A sentence a field. */
export type TellUnknownFields = (policy: KubeObject, label: string) => readonly string[];

/** The schema is made with the first policy: most clusters have none. */
export function createUnknownPolicyFields(): TellUnknownFields {
  let schema: CrdSchema | undefined;
  return (policy, label) => {
    schema ??= crdSchema(policySpecSchema);
    const spec = 'spec' in policy ? policy.spec : undefined;
    return unknownFields(spec, schema, 'spec').map(({ path, meant }) => {
      const advice = meant === undefined ? 'take it out, or correct its name' : `did you mean ${meant}?`;
      return `${label}: ${path} is no field of this kind and does nothing; ${advice}`;
    });
  };
}
