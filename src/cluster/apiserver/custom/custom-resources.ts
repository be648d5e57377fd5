/** Serves custom resources while their definitions are in the store. Source: apiextensions-apiserver. */
import type { Collection } from '../collection.ts';
import { type FieldError, invalidField, requiredField } from '../field-errors.ts';
import { schemaFromOpenApi } from '../field-schema.ts';
import {
  cloneJson,
  deepFreeze,
  ensureObject,
  equalJson,
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  setDefault,
  stringAt,
  stringsAt,
} from '../json.ts';
import { toTime } from '../names.ts';
import type { ApiObject, PrintColumn, ServedType, TypeRules } from '../served-type.ts';
import type { TypeRegistry } from '../type-registry.ts';
import { serve } from '../type-table.ts';
import { validateBySchema } from './schema-rules.ts';
import { defaultBySchema, pruneBySchema, unknownPaths } from './schema-shaping.ts';

/** Without a schema everything is kept and nothing checked, as with preserved unknown fields. */
function rulesFor(schema: JsonObject | undefined): TypeRules {
  const hasRules = JSON.stringify(schema ?? {}).includes('"x-kubernetes-validations"');
  const shape = (object: JsonObject): void => {
    pruneBySchema(object, schema);
    defaultBySchema(object, schema);
  };
  const validate = (object: ApiObject, old?: ApiObject): FieldError[] => {
    const { metadata: _own, apiVersion: _apiVersion, kind: _kind, ...content } = object;
    const before = old === undefined ? undefined : { ...old };
    const { required, ...rest } = schema ?? {};
    const wanted = Array.isArray(required)
      ? required.filter((key) => key !== 'metadata' && key !== 'apiVersion' && key !== 'kind')
      : [];
    return withoutUncheckedRules(
      validateBySchema(content, schema === undefined ? undefined : { ...rest, required: wanted }, '', before),
    );
  };
  return {
    applyDefaults: shape,
    validateCreate: (object) => validate(object),
    validateUpdate: validate,
    validateStatusUpdate: (object, old) =>
      withoutUncheckedRules(
        validateBySchema(object['status'], objectAt(schema, 'properties', 'status'), 'status', old['status']),
      ),
  };

  /** Where the shape is wrong no rule is judged, and that is told. Source: `hasBlockingErr` of the strategy. */
  function withoutUncheckedRules(errors: FieldError[]): FieldError[] {
    if (!hasRules || !errors.some(isBlocking)) return errors;
    return [...errors.filter((error) => !('isOfRule' in error)), RULES_UNCHECKED];
  }
}

const RULES_UNCHECKED: FieldError = {
  reason: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

function isBlocking({ reason, message }: FieldError): boolean {
  return (
    reason === 'FieldValueNotSupported' ||
    reason === 'FieldValueRequired' ||
    reason === 'FieldValueTooLong' ||
    reason === 'FieldValueTypeInvalid' ||
    message.startsWith('Too many')
  );
}

/**
 * What was stored under an earlier schema is read by the present one. Versions differ in their schema and name only: there is no
 * conversion webhook. Source: apiextensions-apiserver pkg/apiserver/customresource_handler.go (schemaCoercingDecoder).
 */
function viewFor(schema: JsonObject | undefined, apiVersion: string, stored: string): NonNullable<ServedType['view']> {
  const known = new WeakMap<ApiObject, ApiObject>();
  const read = (object: ApiObject): ApiObject => {
    const shown = cloneJson<ApiObject>(object);
    pruneBySchema(shown, schema);
    defaultBySchema(shown, schema);
    shown.apiVersion = apiVersion;
    return equalJson(shown, object) ? object : deepFreeze(shown);
  };
  return {
    fromStored(object) {
      const shown = known.get(object) ?? read(object);
      known.set(object, shown);
      return shown;
    },
    toStored: (object) => (object.apiVersion === stored ? object : { ...object, apiVersion: stored }),
  };
}

function columnsOf(version: JsonObject): PrintColumn[] {
  return objectsAt(version, 'additionalPrinterColumns').map((column) => ({
    name: stringAt(column, 'name') ?? '',
    type: stringAt(column, 'type') ?? 'string',
    jsonPath: stringAt(column, 'jsonPath') ?? '',
    wide: (numberAt(column, 'priority') ?? 0) > 0,
  }));
}

/** The types a definition serves, one a served version. */
export function typesOf(definition: ApiObject): ServedType[] {
  const spec = objectAt(definition, 'spec');
  const group = stringAt(spec, 'group') ?? '';
  const names = objectAt(spec, 'names');
  const versions = objectsAt(spec, 'versions');
  const stored = versions.find(({ storage }) => storage === true);
  return versions
    .filter(({ served }) => served === true)
    .map((version) => {
      const name = stringAt(version, 'name') ?? '';
      const schema = objectAt(version, 'schema', 'openAPIV3Schema');
      const kind = stringAt(names, 'kind') ?? '';
      const columns = columnsOf(version);
      return {
        ...serve(
          {
            group,
            version: name,
            plural: stringAt(names, 'plural') ?? '',
            kind,
            namespaced: stringAt(spec, 'scope') === 'Namespaced',
          },
          {
            singular: stringAt(names, 'singular') ?? kind.toLowerCase(),
            shortNames: stringsAt(names, 'shortNames'),
            categories: stringsAt(names, 'categories'),
            subresources: objectAt(version, 'subresources', 'status') === undefined ? [] : ['status'],
            hasGeneration: true,
            rules: rulesFor(schema),
            view: viewFor(schema, `${group}/${name}`, `${group}/${stringAt(stored, 'name')}`),
          },
        ),
        customResource: true,
        unknownFields: (object: JsonObject) => unknownPaths(object, schema),
        fieldSchema: schemaFromOpenApi(schema),
        ...(columns.length === 0 ? {} : { printColumns: columns }),
      };
    });
}

/** Rules of the definitions themselves. They are established as soon as they are stored. */
export const definitionRules: TypeRules = {
  applyDefaults(definition) {
    const spec = ensureObject(definition, 'spec');
    const names = ensureObject(spec, 'names');
    const kind = stringAt(names, 'kind') ?? '';
    setDefault(names, 'singular', kind.toLowerCase());
    setDefault(names, 'listKind', `${kind}List`);
    setDefault(ensureObject(spec, 'conversion'), 'strategy', 'None');
  },
  prepareCreate(definition, { nowMillis }) {
    const names = cloneJson(objectAt(definition, 'spec', 'names') ?? {});
    const condition = (type: string, reason: string, message: string): JsonObject => ({
      type,
      status: 'True',
      reason,
      message,
      lastTransitionTime: toTime(nowMillis),
    });
    definition['status'] = {
      acceptedNames: names,
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
        condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
      ],
      storedVersions: objectsAt(definition, 'spec', 'versions')
        .filter(({ storage }) => storage === true)
        .map(({ name }) => name ?? ''),
    };
  },
  validateCreate: validateDefinition,
  validateUpdate: (definition) => validateDefinition(definition),
  validateStatusUpdate: () => [],
};

function validateDefinition(definition: ApiObject): FieldError[] {
  const spec = objectAt(definition, 'spec');
  const plural = stringAt(spec, 'names', 'plural') ?? '';
  const group = stringAt(spec, 'group') ?? '';
  const errors: FieldError[] = [];
  if (group === '') errors.push(requiredField('spec.group'));
  if (plural === '') errors.push(requiredField('spec.names.plural'));
  if (!stringAt(spec, 'names', 'kind')) errors.push(requiredField('spec.names.kind'));
  const name = definition.metadata.name ?? '';
  if (name !== `${plural}.${group}`)
    errors.push(invalidField('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  const versions = objectsAt(spec, 'versions');
  if (versions.length === 0) errors.push(requiredField('spec.versions'));
  if (versions.filter(({ storage }) => storage === true).length !== 1)
    errors.push(
      invalidField(
        'spec.versions',
        versions.map(({ name: version }) => version ?? ''),
        'must have exactly one version marked as storage version',
      ),
    );
  versions.forEach((version, index) => {
    if (!isObject(objectAt(version, 'schema')?.['openAPIV3Schema']))
      errors.push(requiredField(`spec.versions[${index}].schema.openAPIV3Schema`, 'schemas are required'));
  });
  return errors;
}

/**
 * Keeps the registry in step with the definitions in the store.
 * @param removeAll deletes every object of a type no longer defined; called after the write that removed the definition.
 */
export function followDefinitions(
  definitions: Collection,
  registry: TypeRegistry,
  removeAll: (type: ServedType) => void,
): void {
  definitions.subscribe({
    deliver({ type, object, previous }) {
      const now = type === 'DELETED' ? [] : typesOf(object);
      for (const served of previous === undefined ? [] : typesOf(previous)) {
        if (now.some((kept) => kept.version === served.version && kept.plural === served.plural)) continue;
        registry.remove(served);
        if (type === 'DELETED') removeAll(served);
      }
      for (const served of now) registry.add(served);
    },
  });
}
