/** What a CPU quota does to a container that wants about as much or more. Pure. */

/**
 * How far demand strays from its mean from one 100 ms period to the next, as a share of the mean: a container is
 * throttled in some periods already when it wants a little less than its quota on average.
 */
const SPREAD = 0.25;

/** Share of periods in which the quota is used up before the period ends, in 0..1; both amounts in millicores. */
export function throttledShare(demand: number, limit: number): number {
  if (demand <= 0) return 0;
  const [least, most] = [demand * (1 - SPREAD), demand * (1 + SPREAD)];
  return Math.min(1, Math.max(0, (most - limit) / (most - least)));
}

/** Share of time in which something waits for a CPU that is not given, as pressure (PSI "some") shows it, in 0..1. */
export function stallShare(demand: number, granted: number): number {
  return demand <= 0 ? 0 : Math.min(1, Math.max(0, 1 - granted / demand));
}
