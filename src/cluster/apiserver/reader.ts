/**
 * Reads: get, list with its resourceVersion semantics and paging, and the filters shared with watch.
 * Source of the rules: Kubernetes API concepts, "Semantics for get, list and watch"; apimachinery
 * pkg/apis/meta/internalversion/validation; apiserver pkg/storage/etcd3/store.go.
 */
import type { KubeError } from '../../api/kube-error.ts';
import { firstIndex } from '../../lib/first-index.ts';
import { forbiddenField, unsupportedField } from './field-errors.ts';
import { parseFieldSelector, parseLabelSelector } from './selectors.ts';
import { type ApiObject, fromStored, type ServedType } from './served-type.ts';
import { badRequest, expired, invalid, notFound, tooLargeResourceVersion } from './status-error.ts';
import type { Storage } from './storage.ts';

/** Undefined members select everything. */
export interface Selection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** The parameters of a list as the API names them; undefined and empty mean the same. */
export interface ListQuery extends Selection {
  readonly limit?: number | undefined;
  readonly continueToken?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: string | undefined;
}

/** One page, in the order of keys: by namespace, then by name. */
export interface ListResult {
  readonly items: ApiObject[];
  readonly resourceVersion: string;
  readonly continueToken?: string;
  /** Known only without selectors, as on the real server. */
  readonly remainingItemCount?: number;
}

/** Compiled selectors, for lists and watches alike. */
export interface Filter {
  matches(object: ApiObject): boolean;
  /** The one value of the trigger field (pods: spec.nodeName) the filter asks for. */
  readonly trigger?: string;
}

type Getter = (object: ApiObject) => string;

const COMMON_FIELDS: Readonly<Record<string, Getter>> = {
  'metadata.name': (object) => object.metadata.name ?? '',
  'metadata.namespace': (object) => object.metadata.namespace ?? '',
};

/** Compiles selectors; throws 400 for bad syntax and for fields the type does not offer. */
export function compileFilter(type: ServedType, { namespace, labelSelector, fieldSelector }: Selection): Filter {
  const labels = parseLabelSelector(labelSelector);
  const terms = parseFieldSelector(fieldSelector).map(({ field, value, negated }) => {
    const fields = { ...COMMON_FIELDS, ...type.rules.selectableFields };
    const read = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (read === undefined) throw badRequest(`field label not supported: ${field}`);
    return { field, value, negated, read };
  });
  const trigger =
    type.storage === '/pods' ? terms.find((term) => term.field === 'spec.nodeName' && !term.negated)?.value : undefined;
  return {
    matches(object) {
      if (namespace !== undefined && type.namespaced && object.metadata.namespace !== namespace) return false;
      if (labels !== undefined && !labels(object.metadata.labels ?? {})) return false;
      return terms.every(({ read, value, negated }) => (read(object) === value) !== negated);
    },
    ...(trigger === undefined ? {} : { trigger }),
  };
}

/** A resourceVersion parameter as number; undefined when unset. Throws 400 when it is no version. */
export function parseResourceVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,16}$/.test(text))
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  return Number(text);
}

interface ContinueToken {
  /** Revision to read at; -1 means the newest. */
  readonly rv: number;
  /** First key of the next page. */
  readonly start: string;
}

function encodeContinue(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', ...token })).toString('base64url');
}

function decodeContinue(text: string): ContinueToken {
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (v === 'meta.k8s.io/v1' && typeof rv === 'number' && typeof start === 'string') return { rv, start };
  } catch {
    // falls through to the one answer for every kind of bad token
  }
  throw badRequest('invalid continue token: continue key is not valid: illegal base64 data or unknown version');
}

const CONTINUE_EXPIRED =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

function checkListOptions({ resourceVersion, resourceVersionMatch, continueToken }: ListQuery): void {
  if (resourceVersionMatch === undefined || resourceVersionMatch === '') return;
  const listOptions = { group: 'meta.k8s.io', kind: 'ListOptions' };
  const refuse = (detail: string): KubeError =>
    invalid(listOptions, '', [forbiddenField('resourceVersionMatch', detail)]);
  if (continueToken !== undefined && continueToken !== '')
    throw refuse('resourceVersionMatch is forbidden when continue is provided');
  const unsupported =
    resourceVersionMatch === 'Exact' || resourceVersionMatch === 'NotOlderThan'
      ? []
      : [unsupportedField('resourceVersionMatch', resourceVersionMatch, ['Exact', 'NotOlderThan', ''])];
  if (resourceVersion === undefined || resourceVersion === '') {
    const detail = 'resourceVersionMatch is forbidden unless resourceVersion is provided';
    throw invalid(listOptions, '', [forbiddenField('resourceVersionMatch', detail), ...unsupported]);
  }
  if (resourceVersionMatch === 'Exact' && resourceVersion === '0')
    throw refuse('resourceVersionMatch "Exact" is forbidden for resourceVersion "0"');
  if (unsupported.length > 0) throw invalid(listOptions, '', unsupported);
}

/** Answers share the stored, frozen objects; views of a storage are made on the way out. */
export interface Reader {
  /** @throws 404 */
  get(type: ServedType, namespace: string | undefined, name: string): ApiObject;
  find(type: ServedType, namespace: string | undefined, name: string): ApiObject | undefined;
  /**
   * @throws 400 for selectors and tokens that cannot be read, 410 where history no longer reaches back, 422 for options
   * that contradict each other, 504 with cause ResourceVersionTooLarge for a version from the future
   */
  list(type: ServedType, query: ListQuery): ListResult;
  /** Every stored object of a type. */
  all(type: ServedType): readonly ApiObject[];
  /** Reads as of so many writes ago, as far back as history goes. */
  asOf(writesAgo: number): Pick<Reader, 'get' | 'list'>;
}

/** Where an object lives in its collection: `namespace/name`, or the name alone. */
export function storageKey(type: ServedType, namespace: string | undefined, name: string): string {
  return type.namespaced ? `${namespace ?? ''}/${name}` : name;
}

export function createReader(storage: Storage): Reader {
  const find: Reader['find'] = (type, namespace, name) => {
    if (type.source !== undefined) return type.source(namespace).find(({ metadata }) => metadata.name === name);
    const stored = storage.collection(type).get(storageKey(type, namespace, name));
    return stored && fromStored(type, stored);
  };

  const get: Reader['get'] = (type, namespace, name) => {
    const found = find(type, namespace, name);
    if (found === undefined) throw notFound(type, name);
    return found;
  };

  const list: Reader['list'] = (type, query) => {
    parseLabelSelector(query.labelSelector);
    checkListOptions(query);
    const filter = compileFilter(type, query);
    if (type.source !== undefined) {
      return { items: type.source(query.namespace).filter((object) => filter.matches(object)), resourceVersion: '' };
    }
    const wanted = parseResourceVersion(query.resourceVersion);
    const current = storage.revision();
    const token =
      query.continueToken === undefined || query.continueToken === '' ? undefined : decodeContinue(query.continueToken);
    if (token !== undefined && wanted !== undefined && wanted !== 0)
      throw badRequest('specifying resource version is not allowed when using continue');
    if (wanted !== undefined && wanted > current) throw tooLargeResourceVersion(wanted, current);

    // Version 0 is answered from the watch cache, which knows no pages.
    const paged = query.limit !== undefined && query.limit > 0 && !(wanted === 0 && token === undefined);
    // A numbered version with a limit and no match rule is read exactly, for compatibility with old clients.
    const exact =
      query.resourceVersionMatch === 'Exact' ||
      (paged && wanted !== undefined && wanted > 0 && query.resourceVersionMatch !== 'NotOlderThan');
    const revision = token !== undefined && token.rv >= 0 ? token.rv : exact && wanted !== undefined ? wanted : current;
    const collection = storage.collection(type);
    const prefix = type.namespaced && query.namespace !== undefined ? `${query.namespace}/` : '';
    if (token !== undefined && revision < collection.compactedRevision() && revision < current) {
      throw expired(CONTINUE_EXPIRED, encodeContinue({ rv: -1, start: token.start }));
    }
    const state = revision === current ? collection.range(prefix) : collection.rangeAt(prefix, revision);
    const ahead = token === undefined ? state : state.slice(firstFrom(type, state, token.start));
    const { view } = type;
    const viewed = view === undefined ? ahead : ahead.map(view.fromStored);
    const selective = Boolean(query.labelSelector) || Boolean(query.fieldSelector);
    const matching = selective ? viewed.filter((object) => filter.matches(object)) : viewed;
    const limit = query.limit ?? 0;
    if (!paged || matching.length <= limit) return { items: matching, resourceVersion: String(revision) };
    const next = matching[limit];
    return {
      items: matching.slice(0, limit),
      resourceVersion: String(revision),
      ...(next === undefined ? {} : { continueToken: encodeContinue({ rv: revision, start: keyIn(type, next) }) }),
      ...(selective ? {} : { remainingItemCount: matching.length - limit }),
    };
  };

  return {
    find,
    get,
    list,
    all: (type) => storage.collection(type).range(''),
    asOf(writesAgo) {
      const at = (type: ServedType): number =>
        Math.max(storage.revision() - writesAgo, storage.collection(type).compactedRevision(), 1);
      const past = (type: ServedType, query: ListQuery): ListResult =>
        list(type, { ...query, resourceVersion: String(at(type)), resourceVersionMatch: 'Exact' });
      return {
        list: (type, query) => (query.continueToken ? list(type, query) : past(type, query)),
        get(type, namespace, name) {
          const { items } = past(type, { namespace, fieldSelector: `metadata.name=${name}` });
          const [found] = items;
          if (found === undefined) throw notFound(type, name);
          return found;
        },
      };
    },
  };
}

/** Index of the first of `sorted` objects whose key is not before `start`. */
function firstFrom(type: ServedType, sorted: readonly ApiObject[], start: string): number {
  return firstIndex(sorted.length, (index) => {
    const object = sorted[index];
    return object === undefined || keyIn(type, object) >= start;
  });
}

function keyIn(type: ServedType, object: ApiObject): string {
  return storageKey(type, object.metadata.namespace, object.metadata.name ?? '');
}
