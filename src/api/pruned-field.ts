/**
 * Tells a definition of a kind that is older than this version: the API server drops what it does not know from what is
 * written, without a word. Helm never upgrades definitions.
 */
import { isRecord } from '../lib/is-record.ts';

/**
 * The first field of `sent` that `stored`, the answer to the write, lacks, such as `status.guidance.claim`; undefined
 * where all were kept. What was sent as null or as nothing is not missed, nor what is in lists of another length.
 */
export function prunedField(sent: unknown, stored: unknown, path = ''): string | undefined {
  const inner = childrenOf(sent, stored);
  for (const [key, value, kept] of inner) {
    const here = path === '' ? key : `${path}.${key}`;
    if (value === undefined || value === null) continue;
    if (kept === undefined) return here;
    const below = prunedField(value, kept, here);
    if (below !== undefined) return below;
  }
  return undefined;
}

function childrenOf(sent: unknown, stored: unknown): (readonly [key: string, value: unknown, kept: unknown])[] {
  if (Array.isArray(sent)) {
    const isAlike = Array.isArray(stored) && stored.length === sent.length;
    return isAlike ? sent.map((value: unknown, index) => [String(index), value, stored[index]]) : [];
  }
  if (!isRecord(sent) || !isRecord(stored)) return [];
  return Object.entries(sent).map(([key, value]) => [key, value, stored[key]]);
}

/** Whoever installed the definitions owns their fields (helm does), and kubectl leaves them unless it is told to take them. */
export const APPLY_DEFINITIONS = 'stowage crds | kubectl apply --server-side --force-conflicts -f -';

/** What to say of it, and what to do. */
export const OUTDATED_DEFINITION = `The definition of this kind that is installed is older than this version of Stowage, and does not keep a field; apply that of this version: ${APPLY_DEFINITIONS}`;
