/** How often each name occurs, in the order of the names. */
import { ascending } from '../../lib/ascending.ts';

export function tally(names: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => ascending(a, b)));
}
