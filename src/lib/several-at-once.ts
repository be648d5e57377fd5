/** Works on several items at a time, and not on all of them at once. */

/**
 * Resolves when all is done. Once one has failed no other begins.
 * @param most at a time, at least 1.
 * @throws what the first failure was, when nothing is under way any more.
 */
export async function severalAtOnce<Item>(
  items: Iterable<Item>,
  most: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined && failures.length === 0; next = queue.shift()) {
      try {
        await work(next);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: most }, worker));
  if (failures.length > 0) throw failures[0];
}
