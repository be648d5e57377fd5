/**
 * From one set of requests to another without ever exceeding the node: decreases go out at once, raises only into what is
 * free by what Kubernetes charges, which is the largest of spec, allocated and actual.
 */
import type { Millicores } from '../../lib/units.ts';

export interface Transit {
  readonly uid: string;
  /** The largest of spec, allocated and actual. */
  readonly charged: Millicores;
  readonly desired: Millicores;
}

export interface NextWrites {
  /** In the order in which to send them: all decreases, then raises that fit, the smallest first. */
  readonly writes: readonly string[];
  /** Raises that wait until decreases are confirmed. */
  readonly waiting: readonly string[];
}

export function nextWrites(pods: readonly Transit[], capacity: Millicores): NextWrites {
  const growth = ({ charged, desired }: Transit): Millicores => desired - charged;
  let free = capacity - pods.reduce((sum, { charged }) => sum + charged, 0);
  const decreases = pods.filter((pod) => growth(pod) < 0);
  const raises = pods
    .filter((pod) => growth(pod) > 0)
    .sort((a, b) => growth(a) - growth(b) || (a.uid < b.uid ? -1 : 1));
  const writes = decreases.map(({ uid }) => uid);
  const waiting: string[] = [];
  for (const raise of raises) {
    if (growth(raise) <= free) {
      free -= growth(raise);
      writes.push(raise.uid);
    } else waiting.push(raise.uid);
  }
  return { writes, waiting };
}
