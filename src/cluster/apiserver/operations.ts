/** The API's verbs on resources and subresources, after authentication and authorization: what HTTP and in-process clients share. */
import type { Patch } from '../../api/kube-api.ts';
import { apiVersionOf } from '../../api/resources.ts';
import { decode, readBody } from './decode.ts';
import type { Deleter, Deletion, DeletionOptions } from './deleter.ts';
import { invalidField } from './field-errors.ts';
import type { Authorize } from './gate.ts';
import { goText } from './go-text.ts';
import { type JsonObject, objectAt, stringAt, textOf, toJson, valueAt } from './json.ts';
import { applyPlainPatch } from './patch.ts';
import type { ListQuery, ListResult, Reader } from './reader.ts';
import type { Admission, WriteContext } from './request.ts';
import { convertStruct, decodeStruct } from './schema/decode-struct.ts';
import type { ApiObject, ServedType } from './served-type.ts';
import { type ApplyRules, applyObject } from './server-side-apply.ts';
import {
  badRequest,
  invalid,
  methodNotAllowed,
  OTHER_NAMESPACE,
  preconditionFailed,
  unknownResource,
} from './status-error.ts';
import { checkFields } from './strict-fields.ts';
import { subresourceView } from './subresources.ts';
import type { Watcher } from './watcher.ts';
import type { Writer } from './writer.ts';

/** One object, or one of its subresources. */
export interface Target {
  readonly type: ServedType;
  readonly namespace: string | undefined;
  readonly name: string;
  /** Empty for the object itself. */
  readonly subresource: string;
}

/** POST to a subresource: an action rather than a view. */
export type SubresourceAction = (target: Target, body: JsonObject, context: WriteContext) => Promise<JsonObject>;

export interface Written {
  readonly object: JsonObject;
  /** It was not there before. */
  readonly created: boolean;
}

/** Objects in answers are frozen and shared with the store. */
export interface Operations {
  /** `writesAgo` above 0 reads an older state, as a lagging replica would. */
  get(target: Target, writesAgo?: number): JsonObject;
  /** @param writesAgo as in `get` */
  list(type: ServedType, query: ListQuery, writesAgo?: number): ListResult;
  create(type: ServedType, namespace: string | undefined, body: JsonObject, context: WriteContext): Promise<ApiObject>;
  /** Rejects with 404 for a subresource that is no action, and with whatever the action refuses. */
  act(target: Target, body: JsonObject, context: WriteContext): Promise<JsonObject>;
  /** Rejects with 400 where the body names another object than the target. Of some types it makes what is not there. */
  replace(target: Target, body: JsonObject, context: WriteContext): Promise<Written>;
  patch(target: Target, patch: Patch, context: WriteContext): Promise<Written>;
  delete(target: Target, options: DeletionOptions, context: WriteContext): Promise<Deletion>;
  deleteCollection(
    type: ServedType,
    query: ListQuery,
    options: DeletionOptions,
    context: WriteContext,
  ): Promise<readonly ApiObject[]>;
  readonly watch: Watcher['open'];
  /** Of the newest write. */
  revision(): number;
}

export interface OperationsOptions {
  readonly reader: Reader;
  readonly revision: () => number;
  readonly writer: Writer;
  readonly deleter: Deleter;
  readonly watcher: Watcher;
  readonly applyRules: ApplyRules;
  readonly admission: { readonly mutate: Admission; readonly validate: Admission };
  /** Asked where an update turns out to create. Absent: everybody may. */
  readonly authorize: Authorize | undefined;
  /** By subresource name. */
  readonly actions: Readonly<Record<string, SubresourceAction>>;
}

/** The verbs, from their parts: reads, writes, deletions, watches, admission, actions. */
export function createOperations({
  reader,
  revision,
  writer,
  deleter,
  watcher,
  applyRules,
  admission,
  authorize,
  actions,
}: OperationsOptions): Operations {
  const viewOf = ({ type, subresource }: Target) => {
    if (!type.subresources.includes(subresource)) throw unknownResource();
    const view = subresourceView(type, subresource);
    if (view === undefined) throw methodNotAllowed(type, 'this operation');
    return view;
  };

  const isMissing = ({ type, namespace, name, subresource }: Target): boolean =>
    subresource === '' && reader.find(type, namespace, name) === undefined;

  const requireCreate = (target: Target, { caller }: WriteContext): void =>
    authorize?.({ ...target, caller, verb: 'create' });

  const change = async (
    target: Target,
    context: WriteContext,
    build: (shown: JsonObject) => JsonObject,
    isRead = false,
  ): Promise<JsonObject> => {
    const { type, namespace, name, subresource } = target;
    if (subresource === '') {
      const ofObject = (current: ApiObject): ApiObject => asObject(current, build(current));
      return writer.update({ type, namespace, name, context, isRead, build: ofObject });
    }
    const view = viewOf(target);
    const written = await writer.update({
      type,
      namespace,
      name,
      subresource,
      context,
      isRead,
      build: (current) => view.write(current, build(view.read(current))),
    });
    return view.read(written);
  };

  return {
    get(target, writesAgo = 0) {
      const source = writesAgo > 0 ? reader.asOf(writesAgo) : reader;
      const object = source.get(target.type, target.namespace, target.name);
      return target.subresource === '' ? object : viewOf(target).read(object);
    },
    list: (type, query, writesAgo = 0) => (writesAgo > 0 ? reader.asOf(writesAgo) : reader).list(type, query),
    watch: (type, query, sink) => watcher.open(type, query, sink),
    revision,
    async create(type, namespace, body, context) {
      if (type.review === undefined) return writer.create(type, namespace, body, context);
      const question = decode(type, body);
      return { ...question, ...type.review(question, context.caller) };
    },
    async act(target, body, context) {
      const action = target.type.subresources.includes(target.subresource) ? actions[target.subresource] : undefined;
      if (action === undefined) throw unknownResource();
      const attributes = {
        operation: 'CREATE',
        type: target.type,
        subresource: target.subresource,
        namespace: target.namespace,
        name: target.name,
        object: asActionObject(body),
        oldObject: undefined,
        context,
      } as const;
      const admitted = (await admission.mutate(attributes)) ?? attributes.object;
      const validating = admission.validate({ ...attributes, object: admitted });
      if (validating !== undefined) await validating;
      return action(target, admitted, context);
    },
    async replace(target, body, context) {
      checkNames(target, body);
      if (isMissing(target) && MADE_BY_REPLACING.has(target.type.storage)) {
        requireCreate(target, context);
        return {
          object: await writer.create(target.type, target.namespace, asNew(target, body), context),
          created: true,
        };
      }
      // A body that cannot be read is told before that there is nothing to replace.
      if (isMissing(target)) decode(target.type, body);
      return { object: await change(target, context, () => body), created: false };
    },
    async patch(target, patch, context) {
      const { type, subresource } = target;
      if (patch.type === 'apply') {
        if (isMissing(target)) requireCreate(target, context);
        return applyObject(applyRules, target, patch, context);
      }
      const isScale = subresource === 'scale';
      const patchedOf = (shown: JsonObject): JsonObject => {
        const patched = applyPlainPatch(type, shown, patch);
        if (type.struct !== undefined && !isScale) checkPatchedType(type, patched);
        const isStrategic = patch.type === 'strategic';
        const read = isStrategic ? convertStruct : decodeStruct;
        const { object, problem } = isScale ? { object: patched } : readBody(type, patched, shown, read);
        // A strategic patch is told itself, others by what they have made.
        const told = (): string => (isStrategic ? goText(toJson(patch.body)) : JSON.stringify(patched));
        if (problem === undefined && !isScale) checkFields(type, patched, context, told);
        // What a patch makes of an object is the patch's fault, not the body's: 422 where a whole body would get 400.
        if (problem !== undefined) throw invalid({ group: '', kind: '' }, '', [invalidField('patch', told(), problem)]);
        const uid = stringAt(patched, 'metadata', 'uid');
        if (uid !== undefined && uid !== stringAt(shown, 'metadata', 'uid')) {
          throw invalid(type, target.name, [invalidField('metadata.uid', uid, 'field is immutable')]);
        }
        return object;
      };
      return {
        object: await change(target, context, patchedOf, type.struct !== undefined && !isScale),
        created: false,
      };
    },
    delete: ({ type, namespace, name }, options, context) => deleter.delete(type, namespace, name, options, context),
    async deleteCollection(type, query, options, context) {
      const { items } = reader.list(type, query);
      for (const { metadata } of items) {
        await deleter
          .delete(type, metadata.namespace, metadata.name ?? '', options, context)
          .catch((error: unknown) => {
            // Someone else deleted it first: the wish is fulfilled.
            if (reader.find(type, metadata.namespace, metadata.name ?? '') !== undefined) throw error;
          });
      }
      return items;
    },
  };
}

/** A patch may not make another kind of an object. */
function checkPatchedType(type: ServedType, patched: JsonObject): void {
  const { apiVersion, kind } = patched;
  if (apiVersion === apiVersionOf(type) && kind === type.kind) return;
  const why = `no kind ${JSON.stringify(textOf(kind))} is registered for version ${JSON.stringify(textOf(apiVersion))} in scheme "pkg/runtime/scheme.go:111"`;
  throw invalid({ group: '', kind: '' }, '', [invalidField('patch', JSON.stringify(patched), why)]);
}

/** Source: AllowCreateOnUpdate of the registries' strategies. */
const MADE_BY_REPLACING: ReadonlySet<string> = new Set([
  '/endpoints',
  '/limitranges',
  '/services',
  'coordination.k8s.io/leases',
  'events.k8s.io/events',
  'rbac.authorization.k8s.io/clusterrolebindings',
  'rbac.authorization.k8s.io/clusterroles',
  'rbac.authorization.k8s.io/rolebindings',
  'rbac.authorization.k8s.io/roles',
]);

/** The body of a replacement without what the server gives; a uid names an object that there must have been. */
function asNew({ type, name }: Target, body: JsonObject): JsonObject {
  const uid = stringAt(body, 'metadata', 'uid');
  if (uid) throw preconditionFailed(type, name, 'UID', uid, '');
  const { resourceVersion: _, ...metadata } = objectAt(body, 'metadata') ?? {};
  return { ...body, metadata };
}

/** A whole body must name the object the URL names. Source: apiserver pkg/endpoints/handlers/rest.go `checkName`. */
function checkNames({ name, namespace }: Target, body: JsonObject): void {
  const bodyName = textOf(valueAt(body, 'metadata', 'name'));
  if (bodyName === '')
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (bodyName !== name)
    throw badRequest(`the name of the object (${bodyName}) does not match the name on the URL (${name})`);
  const bodyNamespace = textOf(valueAt(body, 'metadata', 'namespace'));
  if (namespace !== undefined && bodyNamespace !== '' && bodyNamespace !== namespace) throw badRequest(OTHER_NAMESPACE);
}

function asObject(current: ApiObject, body: JsonObject): ApiObject {
  const metadata = body['metadata'];
  return {
    apiVersion: current.apiVersion,
    kind: current.kind,
    ...body,
    metadata: typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata) ? metadata : {},
  };
}

/** The body of an action (Eviction, Binding) as admission sees it. */
function asActionObject(body: JsonObject): ApiObject {
  const metadata = body['metadata'];
  return {
    ...body,
    apiVersion: typeof body['apiVersion'] === 'string' ? body['apiVersion'] : 'v1',
    kind: typeof body['kind'] === 'string' ? body['kind'] : '',
    metadata: typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata) ? metadata : {},
  };
}
