/** Groups records by a key computed from them (owner, node, namespace), kept up to date one change at a time. */

export interface RecordIndex<R> {
  /**
   * The records of a group, in no promised order; empty for an unknown group. The list is live: it changes with the
   * next {@link RecordIndex.apply}, so callers finish with it before they await anything.
   */
  group(name: string): readonly R[];
  /** Names of the groups that have a record. */
  names(): IterableIterator<string>;
  /** Moves the record `key` from where `before` was to where `after` belongs; undefined means absent. */
  apply(key: string, before: R | undefined, after: R | undefined): void;
}

interface Group<R> {
  readonly records: R[];
  readonly keys: string[];
  readonly positions: Map<string, number>;
}

/** @param groupOf name of the record's group; undefined leaves the record out. */
export function createRecordIndex<R>(groupOf: (record: R) => string | undefined): RecordIndex<R> {
  const groups = new Map<string, Group<R>>();
  const none: readonly R[] = [];

  const remove = (name: string, key: string): void => {
    const group = groups.get(name);
    const position = group?.positions.get(key);
    if (group === undefined || position === undefined) return;
    // The last record takes the free place, so removal costs the same in a group of any size.
    const lastRecord = group.records.pop();
    const lastKey = group.keys.pop();
    group.positions.delete(key);
    if (lastRecord !== undefined && lastKey !== undefined && lastKey !== key) {
      group.records[position] = lastRecord;
      group.keys[position] = lastKey;
      group.positions.set(lastKey, position);
    }
    if (group.records.length === 0) groups.delete(name);
  };

  const put = (name: string, key: string, record: R): void => {
    let group = groups.get(name);
    if (group === undefined) {
      group = { records: [], keys: [], positions: new Map() };
      groups.set(name, group);
    }
    const position = group.positions.get(key);
    if (position !== undefined) {
      group.records[position] = record;
      return;
    }
    group.positions.set(key, group.records.length);
    group.records.push(record);
    group.keys.push(key);
  };

  return {
    group: (name) => groups.get(name)?.records ?? none,
    names: () => groups.keys(),
    apply(key, before, after) {
      const from = before === undefined ? undefined : groupOf(before);
      const to = after === undefined ? undefined : groupOf(after);
      if (from !== undefined && from !== to) remove(from, key);
      if (to !== undefined && after !== undefined) put(to, key, after);
    },
  };
}
