/**
 * Values by `namespace/name`, or by `name` for what belongs to no namespace. Kept by namespace first: the names are
 * texts that the records have anyway, where a key for each of ten thousand objects would be one more (56 bytes and up).
 */

/** Neither `get` nor `find` makes anything; empty namespaces are dropped. */
export interface ObjectMap<V> {
  readonly size: number;
  get(key: string): V | undefined;
  /** @param namespace empty for objects of the cluster. */
  find(namespace: string, name: string): V | undefined;
  /** Keeps `name` itself where nothing is kept under it yet. */
  put(namespace: string, name: string, value: V): void;
  delete(namespace: string, name: string): void;
  /** By namespace, and in the order of arrival within each. */
  entries(): IterableIterator<readonly [key: string, value: V]>;
  values(): IterableIterator<V>;
  valuesIn(namespace: string): IterableIterator<V>;
}

/** `namespace/name`, or `name` alone where there is no namespace. Namespaces have no slash in them. */
export function objectKey(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

export function createObjectMap<V>(): ObjectMap<V> {
  const spaces = new Map<string, Map<string, V>>();
  const find = (namespace: string, name: string): V | undefined => spaces.get(namespace)?.get(name);
  return {
    get size() {
      let size = 0;
      for (const space of spaces.values()) size += space.size;
      return size;
    },
    get(key) {
      const slash = key.indexOf('/');
      return slash === -1 ? find('', key) : find(key.slice(0, slash), key.slice(slash + 1));
    },
    find,
    put(namespace, name, value) {
      const space = spaces.get(namespace);
      if (space === undefined) spaces.set(namespace, new Map([[name, value]]));
      else space.set(name, value);
    },
    delete(namespace, name) {
      const space = spaces.get(namespace);
      if (space?.delete(name) === true && space.size === 0) spaces.delete(namespace);
    },
    *entries() {
      for (const [namespace, space] of spaces)
        for (const [name, value] of space) yield [objectKey(namespace, name), value];
    },
    *values() {
      for (const space of spaces.values()) yield* space.values();
    },
    valuesIn: (namespace) => (spaces.get(namespace) ?? new Map<string, V>()).values(),
  };
}
