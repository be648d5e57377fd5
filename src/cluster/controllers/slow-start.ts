/** Doing many calls in growing batches, so that a failure common to all costs few calls. */

/**
 * Runs `action` for 0..count-1 in batches of 1, 2, 4, 8 …, a batch concurrently, and stops after the first batch with a
 * failure. Resolves to the number of successes and the first error.
 * Source: pkg/controller/replicaset `slowStartBatch`.
 */
export async function slowStartBatch(
  count: number,
  action: (index: number) => Promise<void>,
): Promise<{ readonly succeeded: number; readonly error: unknown }> {
  let succeeded = 0;
  for (let start = 0, size = Math.min(1, count); size > 0; size = Math.min(2 * size, count - start)) {
    const batch = Array.from({ length: size }, (_, offset) => action(start + offset));
    const results = await Promise.allSettled(batch);
    const failure = results.find((result) => result.status === 'rejected');
    succeeded += results.filter((result) => result.status === 'fulfilled').length;
    if (failure !== undefined) return { succeeded, error: failure.reason };
    start += size;
  }
  return { succeeded, error: undefined };
}
