/** The keys of a collection in order, put into it when they are asked for: a burst of creations only appends, the next list sorts once. */

export interface SortedKeys {
  /** Once for each key that was not there. */
  add(key: string): void;
  /** Some key is there no more. */
  onDeleted(): void;
  /** All that are there. */
  all(): readonly string[];
}

/** @param isThere whether a key that was added has not been deleted since. */
export function createSortedKeys(isThere: (key: string) => boolean): SortedKeys {
  let keys: string[] = [];
  let isSorted = true;
  let hasDeleted = false;
  return {
    add(key) {
      const last = keys.at(-1);
      if (last !== undefined && last > key) isSorted = false;
      keys.push(key);
    },
    onDeleted() {
      hasDeleted = true;
    },
    all() {
      if (hasDeleted) keys = [...new Set(keys)].filter(isThere);
      if (!isSorted) keys.sort();
      hasDeleted = false;
      isSorted = true;
      return keys;
    },
  };
}
