/** Keeps one copy of equal values, so that ten thousand pods of a few templates do not cost ten thousand templates. */
import { hash } from 'node:crypto';

/** Sharing is all it does: correctness never depends on two values being one. */
export interface Interner<T extends object> {
  /**
   * The copy kept of a value equal to `value` (same JSON text, so the same order of keys), or `value` itself (prepared)
   * when it is the first of its kind. What it hands out is shared: it must never be changed.
   */
  intern(value: T): T;
  /** Number of values kept. */
  readonly size: number;
}

/**
 * What is kept outlives the objects it came with, and whoever may create pods, be it for a dry run, may give each a
 * megabyte of labels of its own: so values are kept up to this many characters of JSON together, and larger ones than
 * any that many objects share not at all.
 */
const MOST_TEXT = 8 * 1024 * 1024;
const LARGEST_TEXT = 32 * 1024;

/**
 * @param maxEntries the least recently used value is forgotten beyond this number, going by uses since there were half
 *   as many; records that still use it keep it alive, only later equal values get a copy of their own. Positive.
 * @param prepare makes the copy to keep of the first value of its kind, with the same JSON text: to share parts, say.
 */
export function createInterner<T extends object>(
  maxEntries: number,
  prepare: (value: T) => T = (value) => value,
): Interner<T> {
  if (!(maxEntries >= 1)) throw new RangeError(`maxEntries must be at least 1, got ${maxEntries}`);
  // Digests, as the texts would cost more than the values.
  const kept = new Map<string, T>();
  let keptText = 0;
  // Insertion order becomes use order. Not before it may matter: each move leaves a gap in the map, which is twice as large then.
  const noteUse = (key: string, value: T): void => {
    if (kept.size <= maxEntries / 2 && keptText <= MOST_TEXT / 2) return;
    kept.delete(key);
    kept.set(key, value);
  };
  const forgetOldest = (): void => {
    const [oldest] = kept;
    if (oldest === undefined) return;
    const [key, value] = oldest;
    kept.delete(key);
    keptText -= JSON.stringify(value).length;
  };
  return {
    intern(value) {
      const text = JSON.stringify(value);
      const { length } = text;
      if (length > LARGEST_TEXT) return value;
      const key = hash('sha1', text, 'base64');
      const known = kept.get(key);
      if (known !== undefined) {
        noteUse(key, known);
        return known;
      }
      const first = prepare(value);
      kept.set(key, first);
      keptText += length;
      while (kept.size > maxEntries || keptText > MOST_TEXT) forgetOldest();
      return first;
    },
    get size() {
      return kept.size;
    },
  };
}

/**
 * The value that came last for `key` where it is equal, else what `make` makes of `value`, which is then the last:
 * values that differ from one another keep none of those before them alive, as an interner would.
 */
export type Latest<K extends object, V> = (key: K, value: V, make: () => V) => V;

/** @param isSame whether two values are equal: what it hands out is shared, and must never be changed. */
export function createLatest<K extends object, V>(isSame: (one: V, other: V) => boolean): Latest<K, V> {
  const latest = new WeakMap<K, V>();
  return (key, value, make) => {
    const known = latest.get(key);
    if (known !== undefined && isSame(known, value)) return known;
    const made = make();
    latest.set(key, made);
    return made;
  };
}
