/**
 * Writes: create, update and delete with everything the real registry does around storing: names, system fields,
 * defaults, admission, validation, generation, ownership of fields, finalizers and grace periods.
 * Source of the order: apiserver pkg/registry/generic/registry/store.go and pkg/registry/rest/{create,update,delete}.go.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { decode } from './decode.ts';
import { requiredField } from './field-errors.ts';
import { cloneJson, equalJson, type JsonObject, shareJson, stringsAt } from './json.ts';
import type { ManagedFields } from './managed-fields.ts';
import { generateName, generateUid, toTime } from './names.ts';
import { checkNamespaceOpen } from './namespace-lifecycle.ts';
import { keepSystemFields, validateMetadata } from './object-meta.ts';
import { type Reader, storageKey } from './reader.ts';
import type { Admission, AdmissionAttributes, WriteContext } from './request.ts';
import { checkObjectCounts } from './rules/object-counts.ts';
import type { ApiObject, Metadata, RuleContext, ServedType } from './served-type.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  internalError,
  invalid,
  OTHER_NAMESPACE,
  preconditionFailed,
} from './status-error.ts';
import type { Storage } from './storage.ts';

export interface UpdateRequest {
  readonly type: ServedType;
  readonly namespace: string | undefined;
  readonly name: string;
  /** Absent or empty: the object itself. */
  readonly subresource?: string;
  readonly context: WriteContext;
  /** Who owns the changed fields: `Apply` leaves ownership to the caller of the update, which has merged it already. */
  readonly operation?: 'Update' | 'Apply';
  /** Makes the wanted object from the current one; runs again when the stored object changed meanwhile. */
  readonly build: (current: ApiObject) => ApiObject;
}

/**
 * Everything but `amend` goes through defaults, admission and validation, in the registry's order, and honours dry run.
 */
export interface Writer {
  create(
    type: ServedType,
    namespace: string | undefined,
    input: JsonObject,
    context: WriteContext,
    operation?: 'Update' | 'Apply',
  ): Promise<ApiObject>;
  /** A change of nothing writes nothing. Rejects with 404, 409 for another version or uid, 422 for what is not valid. */
  update(request: UpdateRequest): Promise<ApiObject>;
  /** A change by the server itself: no rules, no admission, no generation; `build` may throw to refuse. */
  amend(
    type: ServedType,
    namespace: string | undefined,
    name: string,
    build: (current: ApiObject) => ApiObject,
  ): ApiObject;
}

export interface WriterOptions {
  readonly storage: Storage;
  readonly reader: Reader;
  readonly clock: Clock;
  readonly random: Random;
  readonly managedFields: ManagedFields;
  /** Mutating, then validating admission. */
  readonly mutate: Admission;
  readonly validate: Admission;
  readonly ruleContext: (caller: string) => RuleContext;
}

/** Conflicting writers are retried this often before the server gives up, as etcd's transactions are. */
const MAX_ATTEMPTS = 100;

export function createWriter(options: WriterOptions): Writer {
  const { storage, reader, clock, random, managedFields, ruleContext } = options;

  const admit = async (attributes: AdmissionAttributes): Promise<ApiObject | undefined> => {
    const pending = options.mutate(attributes);
    return pending === undefined ? attributes.object : await pending;
  };

  return {
    async create(type, namespace, input, context, operation = 'Update') {
      const object = decode(type, input);
      const metadata = object.metadata;
      if (type.namespaced) {
        if (namespace === undefined) throw badRequest(`namespace is required for ${type.plural}`);
        if (metadata.namespace !== undefined && metadata.namespace !== '' && metadata.namespace !== namespace) {
          throw badRequest(OTHER_NAMESPACE);
        }
        metadata.namespace = namespace;
      } else delete metadata.namespace;
      if (metadata.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created');
      const rules = type.rules;
      const ruleScope = ruleContext(context.caller.name);
      const namedByCaller = metadata.name !== undefined && metadata.name !== '';
      // Status is the controllers' to write; only a kubelet reports its node's with the node itself.
      if (type.subresources.includes('status') && type.storage !== '/nodes') delete object['status'];
      rules.applyDefaults?.(object);
      checkNamespaceOpen(reader, type, object);
      rules.prepareCreate?.(object, ruleScope);
      const attributes = {
        operation: 'CREATE',
        type,
        subresource: '',
        namespace,
        name: metadata.name ?? '',
        oldObject: undefined,
        context,
      } as const;
      const admitted = (await admit({ ...attributes, object })) ?? object;
      if (admitted !== object) rules.applyDefaults?.(admitted);

      const meta = admitted.metadata;
      if (!namedByCaller && meta.generateName && !meta.name) meta.name = generateName(meta.generateName, random);
      meta.uid = generateUid(random);
      meta.creationTimestamp = toTime(clock.now());
      delete meta.resourceVersion;
      delete meta.deletionTimestamp;
      delete meta.deletionGracePeriodSeconds;
      if (type.hasGeneration) meta.generation = 1;
      else delete meta.generation;
      if (operation === 'Update') managedFields.recordUpdate(type, undefined, admitted, context.fieldManager, '');
      const errors = [...validateMetadata(type, admitted), ...(rules.validateCreate?.(admitted) ?? [])];
      if (errors.length > 0) throw invalid(type, meta.name ?? '', errors);
      rules.admitCreate?.(admitted, ruleScope);
      checkObjectCounts(type, admitted, ruleScope, reader);
      const validating = options.validate({ ...attributes, object: admitted });
      if (validating !== undefined) await validating;
      if (reader.find(type, namespace, meta.name ?? '') !== undefined) throw alreadyExists(type, meta.name ?? '');
      if (context.dryRun) return admitted;
      const stored = storage.put(type, undefined, type.view === undefined ? admitted : type.view.toStored(admitted));
      if (stored === undefined) throw alreadyExists(type, meta.name ?? '');
      return type.view === undefined ? stored : type.view.fromStored(stored);
    },

    amend(type, namespace, name, build) {
      const current = reader.get(type, namespace, name);
      const stored = storage.collection(type).get(storageKey(type, namespace, name));
      // Nothing else runs between reading and writing, so the write cannot lose a race.
      return (stored === undefined ? undefined : storage.put(type, stored, build(current))) ?? current;
    },

    async update({ type, namespace, name, subresource = '', context, build, operation = 'Update' }) {
      const rules = type.rules;
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const current = reader.get(type, namespace, name);
        const stored = storage.collection(type).get(storageKey(type, namespace, name));
        const decoded = decode(type, build(current), current);
        checkPreconditions(type, current, decoded);
        const ruleScope = ruleContext(context.caller.name);
        const through = rules.subresourceUpdates?.[subresource];
        const prepared =
          subresource === 'status' ? statusUpdate(type, current, decoded) : mainUpdate(type, current, decoded);
        if (subresource === 'status') rules.prepareStatusUpdate?.(prepared, current, ruleScope);
        else if (through !== undefined) through.prepare(prepared, current);
        else rules.prepareUpdate?.(prepared, current, ruleScope);
        const attributes = {
          operation: 'UPDATE',
          type,
          subresource,
          namespace,
          name,
          oldObject: current,
          context,
        } as const;
        const next = (await admit({ ...attributes, object: prepared })) ?? prepared;
        if (next !== prepared) {
          keepSystemFields(current, next);
          rules.applyDefaults?.(next);
        }
        if (type.hasGeneration && subresource !== 'status' && contentChanged(current, next)) {
          next.metadata.generation = (current.metadata.generation ?? 0) + 1;
        }
        const own =
          subresource === 'status'
            ? (rules.validateStatusUpdate ?? rules.validateUpdate)
            : (through?.validate ?? rules.validateUpdate);
        const errors = [...validateMetadata(type, next, current), ...(own?.(next, current) ?? [])];
        if (errors.length > 0) throw invalid(type, name, errors);
        if (next.metadata.generation !== current.metadata.generation) through?.admit?.(next, current, ruleScope);
        const validating = options.validate({ ...attributes, object: next });
        if (validating !== undefined) await validating;
        if (operation === 'Update') managedFields.recordUpdate(type, current, next, context.fieldManager, subresource);
        const changed = shareJson<ApiObject>(current, next);
        if (changed === current) return current;
        if (context.dryRun) return changed;
        if (stored === undefined) continue;
        const toStore = type.view === undefined ? changed : type.view.toStored(changed);
        // The last finalizer of an object being deleted has gone: the update is the deletion.
        if (isFinished(type, changed)) {
          const removed = storage.remove(type, stored);
          if (removed !== undefined) return type.view === undefined ? removed : type.view.fromStored(removed);
          continue;
        }
        const written = storage.put(type, stored, toStore);
        if (written !== undefined) return type.view === undefined ? written : type.view.fromStored(written);
      }
      throw internalError(`${type.plural} ${JSON.stringify(name)}: gave up after ${MAX_ATTEMPTS} conflicting writes`);
    },
  };
}

function checkPreconditions(type: ServedType, current: ApiObject, wanted: ApiObject): void {
  const name = current.metadata.name ?? '';
  const { uid, resourceVersion } = wanted.metadata;
  if (uid && uid !== current.metadata.uid) throw preconditionFailed(type, name, 'UID', uid, current.metadata.uid ?? '');
  if (resourceVersion && resourceVersion !== '0') {
    if (resourceVersion !== current.metadata.resourceVersion) throw conflict(type, name);
  } else if (type.customResource === true || NEEDS_VERSION.has(type.storage)) {
    throw invalid(type, name, [requiredVersion()]);
  }
}

/**
 * Types whose updates must name the version they change, as those of all custom resources must.
 * Source: AllowUnconditionalUpdate of the registries' strategies.
 */
const NEEDS_VERSION: ReadonlySet<string> = new Set([
  'coordination.k8s.io/leases',
  'policy/poddisruptionbudgets',
  'apiextensions.k8s.io/customresourcedefinitions',
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'storage.k8s.io/csinodes',
]);

function requiredVersion(): ReturnType<typeof requiredField> {
  return {
    ...requiredField('metadata.resourceVersion'),
    reason: 'FieldValueInvalid',
    message: 'Invalid value: 0: must be specified for an update',
  };
}

/**
 * A status update changes the status, and the metadata where the type lets it: custom resources and Deployments do not.
 * The rest is the stored object's own, which has its defaults and is shared; a definition may have got other ones since,
 * so custom resources get a copy. Source: PrepareForUpdate of the status strategies, for custom resources that of
 * apiextensions-apiserver pkg/registry/customresource/status_strategy.go.
 */
function statusUpdate(type: ServedType, current: ApiObject, decoded: ApiObject): ApiObject {
  const { status } = decoded;
  const metadata: Metadata = { ...current.metadata };
  const { labels, annotations, managedFields, finalizers } = decoded.metadata;
  if (type.customResource === true) {
    if (managedFields !== undefined) metadata.managedFields = cloneJson(managedFields);
  } else if (type.storage !== 'apps/deployments') {
    if (labels === undefined) delete metadata.labels;
    else metadata.labels = shareJson(metadata.labels, cloneJson(labels));
    if (annotations === undefined) delete metadata.annotations;
    else metadata.annotations = shareJson(metadata.annotations, cloneJson(annotations));
    if (managedFields !== undefined) metadata.managedFields = cloneJson(managedFields);
    if (finalizers === undefined) delete metadata.finalizers;
    else metadata.finalizers = cloneJson(finalizers);
  }
  const changing: ApiObject = { apiVersion: current.apiVersion, kind: current.kind, metadata };
  if (status !== undefined) changing['status'] = cloneJson(status);
  const { apiVersion: _a, kind: _b, metadata: _c, status: _d, ...rest } = current;
  if (type.customResource === true) Object.assign(changing, cloneJson(rest));
  type.rules.applyDefaults?.(changing);
  return Object.assign(changing, type.customResource === true ? {} : rest);
}

/** Any other update leaves the status alone, where the type has one of its own. */
function mainUpdate(type: ServedType, current: ApiObject, decoded: ApiObject): ApiObject {
  const wanted = cloneJson<ApiObject>(decoded);
  keepSystemFields(current, wanted);
  if (type.subresources.includes('status')) {
    if (current['status'] === undefined) delete wanted['status'];
    else wanted['status'] = cloneJson(current['status']);
  }
  type.rules.applyDefaults?.(wanted);
  return wanted;
}

function contentChanged(current: ApiObject, next: ApiObject): boolean {
  const { metadata: _a, status: _b, ...before } = current;
  const { metadata: _c, status: _d, ...after } = next;
  return !equalJson(before, after);
}

/** Nothing holds the object any more. A namespace is held by its content, too, which its own finalizers stand for. */
function isFinished(type: ServedType, object: ApiObject): boolean {
  const { metadata } = object;
  return (
    !(type.storage === '/namespaces' && stringsAt(object, 'spec', 'finalizers').length > 0) &&
    metadata.deletionTimestamp !== undefined &&
    (metadata.finalizers ?? []).length === 0 &&
    metadata.deletionGracePeriodSeconds === 0
  );
}
