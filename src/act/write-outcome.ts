/**
 * What became of a write of ours into a status or into metadata: nobody waits for it, and it is tried again by itself.
 */
import { isForbidden, isNotFound } from '../api/kube-error.ts';
import { describeError } from '../lib/errors.ts';

export type WriteOutcome =
  | { readonly result: 'written' }
  /** The object is gone: nothing is left to do. */
  | { readonly result: 'gone' }
  | { readonly result: 'forbidden' | 'failed'; readonly message: string };

/**
 * What the rejection of a write means. Conflicts and a stranger under the same name (422) are `failed`, too: the next
 * round sees more.
 */
export function outcomeOfWriteError(error: unknown): WriteOutcome {
  if (isNotFound(error)) return { result: 'gone' };
  return { result: isForbidden(error) ? 'forbidden' : 'failed', message: describeError(error) };
}
