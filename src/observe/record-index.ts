/** Groups records by a key computed from them (owner, node, namespace), kept up to date one change at a time. */

export interface RecordIndex<R> {
  /**
   * The records of a group, in no promised order; empty for an unknown group. The list is no copy: with the next
   * {@link RecordIndex.apply} it changes, or another takes its place, so callers finish with it before they await
   * anything.
   */
  group(name: string): readonly R[];
  /** Names of the groups that have a record. */
  names(): IterableIterator<string>;
  /** Moves a record from where `before` was to where `after` belongs; undefined means absent. */
  apply(before: R | undefined, after: R | undefined): void;
}

export interface RecordIndexOptions<R> {
  /** Name of the record's group; undefined leaves the record out. */
  readonly groupOf: (record: R) => string | undefined;
  /** Whether two records are versions of one object. */
  readonly isSame: (a: R, b: R) => boolean;
}

/** A list of up to so many is no longer than what is in it. */
const EXACT = 64;

/**
 * Plain lists, searched: most groups are small, and a list costs a fraction of the memory of maps of positions, which
 * matters with ten thousand pods in two indexes.
 */
export function createRecordIndex<R>({ groupOf, isSame }: RecordIndexOptions<R>): RecordIndex<R> {
  const groups = new Map<string, R[]>();
  const none: readonly R[] = [];

  const positionOf = (group: readonly R[], record: R): number => {
    const position = group.indexOf(record);
    // A store may have exchanged a record for an equal one without a word.
    return position >= 0 ? position : group.findIndex((other) => isSame(other, record));
  };

  const remove = (name: string, record: R): void => {
    const group = groups.get(name);
    const position = group === undefined ? -1 : positionOf(group, record);
    if (group === undefined || position < 0) return;
    const last = group.pop();
    if (last !== undefined && position < group.length) group[position] = last;
    if (group.length === 0) groups.delete(name);
  };

  const put = (name: string, before: R | undefined, record: R): void => {
    const group = groups.get(name);
    if (group === undefined) {
      groups.set(name, [record]);
      return;
    }
    const position = before === undefined ? -1 : positionOf(group, before);
    if (position >= 0) group[position] = record;
    else if (group.length >= EXACT) group.push(record);
    // Not pushed: a list that grows takes room for 16 more.
    else groups.set(name, group.concat(record));
  };

  return {
    group: (name) => groups.get(name) ?? none,
    names: () => groups.keys(),
    apply(before, after) {
      const from = before === undefined ? undefined : groupOf(before);
      const to = after === undefined ? undefined : groupOf(after);
      if (before !== undefined && from !== undefined && from !== to) remove(from, before);
      if (to !== undefined && after !== undefined) put(to, from === to ? before : undefined, after);
    },
  };
}
