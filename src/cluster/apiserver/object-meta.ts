/**
 * Rules of `metadata`, common to all types: names, labels, annotations, owners, and what an update may change.
 * Source: apimachinery pkg/api/validation/objectmeta.go and pkg/util/validation/validation.go.
 */
import { type FieldError, forbiddenField, invalidField, requiredField, tooLongField } from './field-errors.ts';
import { equalJson, isObject, type Json, type JsonObject, textOf } from './json.ts';
import type { ApiObject, Metadata, ServedType } from './served-type.ts';

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS_1035_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
/** All keys and values of an object's annotations together, in bytes. */
const MAX_ANNOTATIONS_BYTES = 262_144;

const SUBDOMAIN_DETAIL =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_DETAIL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035_DETAIL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_DETAIL =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_DETAIL =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** Types whose names are DNS labels (63 characters, no dots), by storage. */
const LABEL_NAMED: ReadonlySet<string> = new Set(['/namespaces']);
const LABEL_1035_NAMED: ReadonlySet<string> = new Set(['/services']);
/** Types whose names are only path segments. */
const PATH_NAMED = /^rbac\.authorization\.k8s\.io\//;

/** Too long and of the wrong form are two faults. */
function problemsOf(name: string, longest: number, form: RegExp, detail: string): string[] {
  return [
    ...(name.length > longest ? [`must be no more than ${longest} bytes`] : []),
    ...(form.test(name) ? [] : [detail]),
  ];
}

/** What is wrong with `name` as a DNS label, or undefined. */
export function dnsLabelProblem(name: string): string | undefined {
  return problemsOf(name, 63, DNS_LABEL, LABEL_DETAIL)[0];
}

/** As `dnsLabelProblem`, for names with dots (253 characters). */
function dnsSubdomainProblems(name: string): string[] {
  return problemsOf(name, 253, DNS_SUBDOMAIN, SUBDOMAIN_DETAIL);
}

function nameProblems(type: ServedType, name: string): string[] {
  if (PATH_NAMED.test(type.storage)) {
    if (name === '.' || name === '..') return [`may not be '${name}'`];
    return ['/', '%'].filter((char) => name.includes(char)).map((char) => `may not contain '${char}'`);
  }
  if (LABEL_NAMED.has(type.storage)) return problemsOf(name, 63, DNS_LABEL, LABEL_DETAIL);
  if (LABEL_1035_NAMED.has(type.storage)) return problemsOf(name, 63, DNS_1035_LABEL, LABEL_1035_DETAIL);
  return dnsSubdomainProblems(name);
}

/** Everything that is wrong with `key` as a label or annotation key (`prefix/name`). */
export function qualifiedNameProblems(key: string): string[] {
  const parts = key.split('/');
  if (parts.length > 2) {
    return [
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ];
  }
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const problems: string[] = [];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined)
    problems.push(...dnsSubdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > 63) problems.push('name part must be no more than 63 bytes');
  if (!QUALIFIED_PART.test(name)) problems.push(QUALIFIED_DETAIL);
  return problems;
}

/** The first problem of {@link qualifiedNameProblems}, or undefined. */
export function qualifiedNameProblem(key: string): string | undefined {
  return qualifiedNameProblems(key)[0];
}

/** Empty values are labels. */
export function labelValueProblem(value: string): string | undefined {
  if (value.length > 63) return 'must be no more than 63 bytes';
  return LABEL_VALUE.test(value) ? undefined : LABEL_VALUE_DETAIL;
}

/** Errors of a label map at `path`. */
export function validateLabels(labels: unknown, path: string): FieldError[] {
  if (!isObject(labels)) return [];
  return Object.entries(labels).flatMap(([key, value]) => {
    const errors: FieldError[] = [];
    for (const problem of qualifiedNameProblems(key)) errors.push(invalidField(path, key, problem));
    const text = typeof value === 'string' ? value : '';
    for (const problem of problemsOf(text, 63, LABEL_VALUE, LABEL_VALUE_DETAIL))
      errors.push(invalidField(path, text, problem));
    return errors;
  });
}

function validateAnnotations(annotations: unknown): FieldError[] {
  if (!isObject(annotations)) return [];
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    for (const problem of qualifiedNameProblems(key.toLowerCase()))
      errors.push(invalidField('metadata.annotations', key, problem));
    bytes += Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0);
  }
  if (bytes > MAX_ANNOTATIONS_BYTES) errors.push(tooLongField('metadata.annotations', MAX_ANNOTATIONS_BYTES));
  return errors;
}

function validateOwners({ ownerReferences }: Metadata): FieldError[] {
  if (ownerReferences === undefined) return [];
  const errors: FieldError[] = [];
  ownerReferences.forEach((owner, index) => {
    for (const key of ['apiVersion', 'kind', 'name', 'uid']) {
      if (!owner[key]) errors.push(requiredField(`metadata.ownerReferences[${index}].${key}`, 'must not be empty'));
    }
  });
  const controllers = ownerReferences
    .filter((owner) => owner['controller'] === true)
    .map((owner) => `${textOf(owner['kind'])}/${textOf(owner['name'])}`);
  if (controllers.length > 1) {
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controllers[0]} and ${controllers[1]}`;
    errors.push(invalidField('metadata.ownerReferences', ownerReferences, detail));
  }
  return errors;
}

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', 'foregroundDeletion', 'orphan']);

/** Source: kubernetes pkg/apis/core/validation `ValidateFinalizerName`. */
function unqualifiedFinalizers({ finalizers = [] }: Metadata): FieldError[] {
  return finalizers.flatMap((finalizer, index) =>
    finalizer.includes('/') || finalizer === '' || STANDARD_FINALIZERS.has(finalizer)
      ? []
      : [
          invalidField(
            `metadata.finalizers[${index}]`,
            finalizer,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  );
}

/** A generated name is judged without its end, which letters will take the place of. */
function maskedBase(generateName: string): string {
  return generateName.length > 1 && generateName.endsWith('-') ? `${generateName.slice(0, -2)}a` : generateName;
}

/** All errors of an object's metadata; with `old`, those of an update too. */
export function validateMetadata(type: ServedType, { metadata }: ApiObject, old?: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  if (old === undefined) {
    const { name, generateName } = metadata;
    if (generateName) {
      for (const problem of nameProblems(type, maskedBase(generateName)))
        errors.push(invalidField('metadata.generateName', generateName, problem));
    }
    if (!name) errors.push(requiredField('metadata.name', 'name or generateName is required'));
    else {
      for (const problem of nameProblems(type, name)) errors.push(invalidField('metadata.name', name, problem));
    }
  } else if (old.metadata.deletionTimestamp !== undefined) {
    const added = (metadata.finalizers ?? []).filter(
      (finalizer) => !(old.metadata.finalizers ?? []).includes(finalizer),
    );
    if (added.length > 0) {
      const shown = added.map((name) => JSON.stringify(name)).join(', ');
      errors.push(
        forbiddenField(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`,
        ),
      );
    }
  }
  // What is the stored object's own was looked at when it was stored.
  if (metadata.labels !== old?.metadata.labels) errors.push(...validateLabels(metadata.labels, 'metadata.labels'));
  if (metadata.annotations !== old?.metadata.annotations) errors.push(...validateAnnotations(metadata.annotations));
  if (metadata.ownerReferences !== old?.metadata.ownerReferences) errors.push(...validateOwners(metadata));
  for (const finalizer of metadata.finalizers ?? []) {
    for (const problem of qualifiedNameProblems(finalizer))
      errors.push(invalidField('metadata.finalizers', finalizer, problem));
  }
  if (type.struct !== undefined) errors.push(...unqualifiedFinalizers(metadata));
  return errors;
}

const SYSTEM_FIELDS = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'resourceVersion',
] as const;

/** Puts back what callers can never change: identity, times, generation, and the version the update is based on. */
export function keepSystemFields(current: ApiObject, next: ApiObject): void {
  const metadata: Metadata = { ...next.metadata };
  const target: JsonObject = metadata;
  for (const field of SYSTEM_FIELDS) {
    const value = current.metadata[field];
    if (value === undefined) delete target[field];
    else target[field] = value;
  }
  if (metadata.managedFields === undefined && current.metadata.managedFields !== undefined)
    metadata.managedFields = current.metadata.managedFields;
  next.metadata = metadata;
}

/** Whether `a` and `b` differ in a field that must never change; the message is the real server's. */
export function immutableField(field: string, before: Json | undefined, after: Json | undefined): FieldError[] {
  return equalJson(before, after) ? [] : [invalidField(field, after, 'field is immutable')];
}

const METADATA_COLLECTIONS = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'managedFields'] as const;

/** The real server leaves empty collections of the metadata out of everything it stores and says (`omitempty`). */
export function withoutEmptyCollections(metadata: JsonObject): JsonObject {
  const isEmpty = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  const empty = METADATA_COLLECTIONS.filter((field) => isEmpty(metadata[field]));
  if (empty.length === 0) return metadata;
  const kept = { ...metadata };
  for (const field of empty) delete kept[field];
  return kept;
}
