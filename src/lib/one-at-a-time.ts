/** Work about one thing at a time: who comes while it goes on waits for its end, in the order in which they came. */

/** @returns what the work came to. Work that fails keeps nobody from going next. */
export type OneAtATime = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createOneAtATime(): OneAtATime {
  /** By key, when the last of those that came is over. */
  const ends = new Map<string, Promise<void>>();
  return (key, work) => {
    const result = ends.get(key)?.then(work) ?? work();
    const end = result.then(
      () => {},
      () => {},
    );
    ends.set(key, end);
    void end.then(() => {
      if (ends.get(key) === end) ends.delete(key);
    });
    return result;
  };
}
