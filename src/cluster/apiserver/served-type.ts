/** What the API server knows about a resource type beyond its URL: short names, subresources, and its own rules. */
import type { ResourceType } from '../../api/resources.ts';
import type { FieldError } from './field-errors.ts';
import type { FieldSchema } from './field-schema.ts';
import type { JsonObject } from './json.ts';
import type { Caller } from './request.ts';
import type { StructType } from './schema/struct-types.ts';

export interface Metadata extends JsonObject {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: JsonObject[];
  managedFields?: JsonObject[];
}

/** Any stored object. Stored objects are deeply frozen. */
export interface ApiObject extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
}

/** What a type's own rules may look up while they run. */
export interface RuleContext {
  readonly nowMillis: number;
  /** User name of the caller. */
  readonly user: string;
  /** Stored objects of a type; of one namespace when given. */
  list(plural: string, group: string, namespace: string | undefined): readonly ApiObject[];
  find(plural: string, group: string, namespace: string | undefined, name: string): ApiObject | undefined;
}

/** What an update through `resize`, `ephemeralcontainers` or `finalize` may do. */
export interface SubresourceUpdate {
  /** Puts back everything the subresource may not touch. */
  readonly prepare: (object: ApiObject, old: ApiObject) => void;
  readonly validate: (object: ApiObject, old: ApiObject) => readonly FieldError[];
  /** Built-in validating admission of a real change; throws the refusal. */
  readonly admit?: (object: ApiObject, old: ApiObject, context: RuleContext) => void;
}

/** A type's own rules. All work on a mutable copy that has passed the shape check of {@link ServedType.kind}. */
export interface TypeRules {
  /** Fills in what the real server's defaulting would. Runs on create, update and again after webhooks. */
  readonly applyDefaults?: (object: JsonObject) => void;
  /**
   * Built-in mutating admission and preparation for create; the caller's status has been dropped already. Runs again after
   * webhooks that changed something.
   */
  readonly prepareCreate?: (object: ApiObject, context: RuleContext) => void;
  /** What follows from the new object as webhooks have made it. */
  readonly prepareAdmitted?: (object: ApiObject) => void;
  /** Built-in validating admission of a new object; throws the refusal. */
  readonly admitCreate?: (object: ApiObject, context: RuleContext) => void;
  /** Preparation for an update of the main resource: keeps what callers may not change. */
  readonly prepareUpdate?: (object: ApiObject, old: ApiObject, context: RuleContext) => void;
  readonly prepareStatusUpdate?: (object: ApiObject, old: ApiObject, context: RuleContext) => void;
  readonly validateCreate?: (object: ApiObject) => readonly FieldError[];
  readonly validateUpdate?: (object: ApiObject, old: ApiObject) => readonly FieldError[];
  readonly validateStatusUpdate?: (object: ApiObject, old: ApiObject) => readonly FieldError[];
  /** Updates through a subresource that shows the whole object, by its name: what it may change. */
  readonly subresourceUpdates?: Readonly<Record<string, SubresourceUpdate>>;
  /** Fields usable in a field selector besides metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: ApiObject) => string>>;
}

/** A column a custom resource's definition adds to tables. */
export interface PrintColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly wide: boolean;
}

/** A type with all the server knows of it. Absent optional members: the plain case. */
export interface ServedType extends ResourceType {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Subresources served, e.g. `status`, `scale`. */
  readonly subresources: readonly string[];
  /** Changes of the spec raise metadata.generation. */
  readonly hasGeneration: boolean;
  readonly verbs: readonly string[];
  readonly rules: TypeRules;
  /** Where the objects live. Two served types with the same storage are two views of the same objects. */
  readonly storage: string;
  readonly printColumns?: readonly PrintColumn[];
  /** The Go struct of a built-in type. */
  readonly struct?: StructType;
  /** An object of a built-in type in which nothing is set; frozen. */
  readonly unset?: JsonObject;
  /** How fields merge and are owned; absent where nobody owns any. */
  readonly fieldSchema?: FieldSchema;
  /** Computes the objects on every read; such types store nothing. */
  readonly source?: (namespace: string | undefined) => readonly ApiObject[];
  /** Answers a posted question; such types store nothing. */
  readonly review?: (body: JsonObject, caller: Caller) => JsonObject;
  /** Served because a CustomResourceDefinition says so. */
  readonly customResource?: boolean;
  /** Paths of what the schema does not name, in the order in which they stand. Left out: not known. */
  readonly unknownFields?: (object: JsonObject) => readonly string[];
  /** Where this type is a second view of a storage: translations from and to the stored form. */
  readonly view?: {
    readonly fromStored: (object: ApiObject) => ApiObject;
    readonly toStored: (object: ApiObject) => ApiObject;
  };
}

/** As the type shows it. */
export function fromStored({ view }: ServedType, stored: ApiObject): ApiObject {
  return view === undefined ? stored : view.fromStored(stored);
}

export function toStored({ view }: ServedType, shown: ApiObject): ApiObject {
  return view === undefined ? shown : view.toStored(shown);
}
