/** The shares of the demo's node in words: as they are, and how they have moved. */
import { type PodShare, SHARED_NODE } from './demo-shares.ts';

/** One line; empty where nothing runs yet. */
export function sharesText(shares: readonly PodShare[]): string {
  if (shares.length === 0) return '';
  const pods = shares.map(
    ({ name, request, limit, used }) =>
      `${name} asks ${request}m${limit === undefined ? '' : `, at most ${limit}m`}, uses ${used}m`,
  );
  return `CPU of ${SHARED_NODE}: ${pods.join('; ')}`;
}

/** For the end: from the first look to the last. Empty where there was none, or a pod is gone. */
export function sharesReport(first: readonly PodShare[], last: readonly PodShare[]): string[] {
  const moves = first.flatMap((before) => {
    const after = last.find(({ name }) => name === before.name);
    return after === undefined ? [] : [`  ${before.name.padEnd(10)} ${moveText(before, after)}`];
  });
  return moves.length === 0 ? [] : [`CPU of ${SHARED_NODE}, shared out anew by allocation:`, ...moves];
}

function moveText(before: PodShare, after: PodShare): string {
  const ceiling = after.limit === undefined || after.limit === before.limit ? '' : `, a ceiling of ${after.limit}m`;
  return `request ${before.request}m -> ${after.request}m${ceiling}; uses ${before.used}m -> ${after.used}m`;
}
