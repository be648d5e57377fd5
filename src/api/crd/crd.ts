/**
 * CustomResourceDefinitions from zod schemas. For a new kind: describe spec and status in zod (markers with `.meta`, CEL with
 * {@link withRules} of cel-rule.ts, quantities and list maps from fields.ts), name it in a {@link CrdDescription}, and add that to
 * crds.ts. The schema must be free of unions and recursion; tests on a real API server prove that it is taken.
 */
import type { ZodType } from 'zod';
import type { KubeObject } from '../core.ts';
import type { ResourceType } from '../resources.ts';
import { type CrdSchema, crdSchema } from './crd-schema.ts';

/** Where definitions are served. */
export const customResourceDefinitions: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** Above 0 only `kubectl get -o wide` shows it. */
  readonly priority?: number;
}

/** A kind of ours, from which its definition is made. */
export interface CrdDescription {
  readonly group: string;
  /** The one version, served and stored. */
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced: boolean;
  readonly description: string;
  readonly spec: ZodType;
  /** Given, the kind has the status subresource. */
  readonly status?: ZodType;
  readonly columns: readonly PrinterColumn[];
}

interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly schema: { readonly openAPIV3Schema: CrdSchema };
  readonly subresources?: { readonly status: object };
}

/** As much of `apiextensions.k8s.io/v1` as is written here. */
export interface CustomResourceDefinition extends KubeObject {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string; annotations?: Record<string, string>; labels?: Record<string, string> };
  spec: {
    group: string;
    names: Record<string, unknown>;
    scope: 'Namespaced' | 'Cluster';
    versions: readonly CrdVersion[];
  };
}

/** @throws NotStructuralError where the schemas have no structural form. */
export function customResourceDefinition(description: CrdDescription): CustomResourceDefinition {
  const { group, version, kind, plural, singular, shortNames = [], categories = [], columns, status } = description;
  const metaField = (text: string): CrdSchema => ({ type: 'string', description: text });
  const openAPIV3Schema: CrdSchema = {
    type: 'object',
    description: description.description,
    properties: {
      apiVersion: metaField('Version of the schema of this object.'),
      kind: metaField('Kind of this object.'),
      metadata: { type: 'object' },
      spec: crdSchema(description.spec),
      ...(status !== undefined && { status: crdSchema(status) }),
    },
    required: ['spec'],
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        ...(shortNames.length > 0 && { shortNames }),
        ...(categories.length > 0 && { categories }),
      },
      scope: description.namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(columns.length > 0 && { additionalPrinterColumns: columns }),
          schema: { openAPIV3Schema },
          ...(status !== undefined && { subresources: { status: {} } }),
        },
      ],
    },
  };
}
