/** Keeps one copy of equal texts: a name parsed a thousand times is otherwise kept a thousand times. */
export interface TextInterner {
  intern(text: string): string;
}

/** @param maxEntries the memory starts anew beyond this number; nothing but sharing is lost. Positive. */
export function createTextInterner(maxEntries: number): TextInterner {
  if (!(maxEntries >= 1)) throw new RangeError(`maxEntries must be at least 1, got ${maxEntries}`);
  const kept = new Map<string, string>();
  return {
    intern(text) {
      const known = kept.get(text);
      if (known !== undefined) return known;
      if (kept.size >= maxEntries) kept.clear();
      kept.set(text, text);
      return text;
    },
  };
}
