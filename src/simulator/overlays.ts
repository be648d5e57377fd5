/** Conditions of one kind that each last a while and may overlap, as a script sets them. */

export interface Overlays<T> {
  /** In force at once, over those before it. @returns what ends this one, and none of the others. */
  begin(value: T): () => void;
  endAll(): void;
}

/** @param apply told of each change: the latest of those that still last, undefined for none. */
export function createOverlays<T>(apply: (inForce: T | undefined) => void): Overlays<T> {
  let lasting: readonly { readonly value: T }[] = [];
  const set = (next: typeof lasting): void => {
    lasting = next;
    apply(lasting.at(-1)?.value);
  };
  return {
    begin(value) {
      const own = { value };
      set([...lasting, own]);
      return () => set(lasting.filter((each) => each !== own));
    },
    endAll: () => set([]),
  };
}
