/**
 * Writes: create, update and delete with everything the real registry does around storing: names, system fields,
 * defaults, admission, validation, generation, ownership of fields, finalizers and grace periods.
 * Source of the order: apiserver pkg/registry/generic/registry/store.go and pkg/registry/rest/{create,update,delete}.go.
 */
import { isAlreadyExists } from '../../api/kube-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { asTyped, decode } from './decode.ts';
import { type JsonObject, shareJson, stringsAt } from './json.ts';
import { keepTimes, type ManagedFields } from './managed-fields.ts';
import { generateName, generateUid, toTime } from './names.ts';
import { checkNamespaceOpen } from './namespace-lifecycle.ts';
import { keepSystemFields, validateMetadata } from './object-meta.ts';
import { type Reader, storageKey } from './reader.ts';
import type { Admission, AdmissionAttributes, WriteContext } from './request.ts';
import { checkObjectCounts } from './rules/object-counts.ts';
import { zeroStruct } from './schema/decode-struct.ts';
import { type ApiObject, fromStored, type RuleContext, type ServedType, toStored } from './served-type.ts';
import {
  alreadyExists,
  badRequest,
  failure,
  internalError,
  invalid,
  noUniqueName,
  OTHER_NAMESPACE,
} from './status-error.ts';
import type { Storage } from './storage.ts';
import { checkPreconditions, contentChanged, mainUpdate, statusUpdate } from './updated-object.ts';

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
  /** What `build` makes has been read already, as an object of the type. Default false. */
  readonly isRead?: boolean;
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
/** Names drawn for one `generateName`. Source: apiserver pkg/registry/generic/registry/store.go. */
const MAX_NAMES = 8;

export function createWriter(options: WriterOptions): Writer {
  const { storage, reader, clock, random, managedFields, ruleContext } = options;

  const admit = async (attributes: AdmissionAttributes): Promise<ApiObject | undefined> => {
    const pending = options.mutate(attributes);
    return pending === undefined ? attributes.object : await pending;
  };

  /** All that follows once the object has its name; at once where no webhook has to be asked. */
  const finishCreate = (creation: Creation): ApiObject | Promise<ApiObject> => {
    const { object, ruleScope, attributes } = creation;
    const { type } = attributes;
    const { rules } = type;
    const meta = object.metadata;
    meta.uid = generateUid(random);
    meta.creationTimestamp = toTime(clock.now());
    delete meta.resourceVersion;
    delete meta.deletionTimestamp;
    delete meta.deletionGracePeriodSeconds;
    if (type.hasGeneration) meta.generation = 1;
    else delete meta.generation;
    const errors = [...validateMetadata(type, object), ...(rules.validateCreate?.(object) ?? [])];
    if (errors.length > 0) throw invalid(kindInErrors(type), meta.name ?? '', errors);
    rules.admitCreate?.(object, ruleScope);
    checkObjectCounts(type, object, ruleScope, reader);
    const validating = options.validate({ ...attributes, object });
    return validating === undefined ? storeNew(creation) : validating.then(() => storeNew(creation));
  };

  const storeNew = ({ object, attributes: { type, namespace, context } }: Creation): ApiObject => {
    const name = object.metadata.name ?? '';
    const present = reader.find(type, namespace, name);
    if (present !== undefined) throw alreadyExists(type, name, present.metadata.deletionTimestamp !== undefined);
    if (context.dryRun) return object;
    const stored = storage.put(type, undefined, toStored(type, object));
    if (stored === undefined) throw alreadyExists(type, name);
    return fromStored(type, stored);
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
      if (metadata.resourceVersion)
        throw failure({ code: 500, reason: '', message: 'resourceVersion should not be set on objects to be created' });
      const rules = type.rules;
      const ruleScope = ruleContext(context.caller.name);
      const namedByCaller = metadata.name !== undefined && metadata.name !== '';
      // Status is the controllers' to write; only a kubelet reports its node's with the node itself.
      if (type.subresources.includes('status') && type.storage !== '/nodes') clearStatus(type, object);
      rules.applyDefaults?.(object);
      checkNamespaceOpen(reader, type, object);
      // What admission adds is nobody's.
      if (operation === 'Update') managedFields.recordUpdate(type, undefined, object, context.fieldManager, '');
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
      if (admitted !== object) {
        rules.applyDefaults?.(admitted);
        // Source: apiserver pkg/admission/reinvocation.go.
        rules.prepareCreate?.(admitted, ruleScope);
      }
      rules.prepareAdmitted?.(admitted);

      const meta = admitted.metadata;
      const base = namedByCaller || meta.name ? undefined : meta.generateName;
      for (let attempt = 1; ; attempt++) {
        if (base) meta.name = generateName(base, random);
        try {
          const made = finishCreate({ object: admitted, ruleScope, attributes });
          return made instanceof Promise ? await made : made;
        } catch (error) {
          if (!base || !isAlreadyExists(error)) throw error;
          // From 1.32 on another name is drawn.
          if (attempt === MAX_NAMES) throw noUniqueName(type, meta.name ?? '');
        }
      }
    },

    amend(type, namespace, name, build) {
      const current = reader.get(type, namespace, name);
      const stored = storage.collection(type).get(storageKey(type, namespace, name));
      // Nothing else runs between reading and writing, so the write cannot lose a race.
      return (stored === undefined ? undefined : storage.put(type, stored, build(current))) ?? current;
    },

    async update({ type, namespace, name, subresource = '', context, build, operation = 'Update', isRead = false }) {
      const rules = type.rules;
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const current = reader.get(type, namespace, name);
        const stored = storage.collection(type).get(storageKey(type, namespace, name));
        const built = build(current);
        const decoded = isRead ? asTyped(type, built) : decode(type, built, current);
        checkPreconditions(type, current, decoded);
        const ruleScope = ruleContext(context.caller.name);
        const through = rules.subresourceUpdates?.[subresource];
        const prepared =
          subresource === 'status' ? statusUpdate(type, current, decoded) : mainUpdate(type, current, decoded);
        if (subresource === 'status') rules.prepareStatusUpdate?.(prepared, current, ruleScope);
        else if (through !== undefined) through.prepare(prepared, current);
        else rules.prepareUpdate?.(prepared, current, ruleScope);
        if (operation === 'Update' && !context.isAdmitted)
          managedFields.recordUpdate(type, current, prepared, context.fieldManager, subresource);
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
        if (errors.length > 0) throw invalid(kindInErrors(type), name, errors);
        if (next.metadata.generation !== current.metadata.generation) through?.admit?.(next, current, ruleScope);
        const validating = options.validate({ ...attributes, object: next });
        if (validating !== undefined) await validating;
        if (operation === 'Apply') keepTimes(current, next);
        const changed = shareJson<ApiObject>(current, next);
        if (changed === current) return current;
        if (context.dryRun) return changed;
        if (stored === undefined) continue;
        // The last finalizer of an object being deleted has gone: the update is the deletion.
        if (isFinished(type, changed)) {
          const removed = storage.remove(type, stored);
          if (removed !== undefined) return fromStored(type, removed);
          continue;
        }
        const written = storage.put(type, stored, toStored(type, changed));
        if (written !== undefined) return fromStored(type, written);
      }
      throw internalError(`${type.plural} ${JSON.stringify(name)}: gave up after ${MAX_ATTEMPTS} conflicting writes`);
    },
  };
}

/** Events are judged as core events whatever they came as. */
function kindInErrors({ group, kind, storage }: ServedType): { readonly group: string; readonly kind: string } {
  return { group: storage === 'events.k8s.io/events' ? '' : group, kind };
}

function clearStatus({ struct }: ServedType, object: ApiObject): void {
  const zero = struct?.fields.get('status')?.zero;
  if (zero !== undefined && 'struct' in zero) object['status'] = zeroStruct(zero.struct);
  else delete object['status'];
}

/** A new object on its way to the store, admitted and with its defaults. */
interface Creation {
  readonly object: ApiObject;
  readonly ruleScope: RuleContext;
  readonly attributes: Omit<AdmissionAttributes, 'object'>;
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
