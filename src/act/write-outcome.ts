/**
 * What became of a write of ours into a status or into metadata: nobody waits for it, and it is tried again by itself.
 */
import { isNotFound, missingRight } from '../api/kube-error.ts';
import { prunedField } from '../api/pruned-field.ts';
import { describeError } from '../lib/errors.ts';

export type WriteOutcome =
  /** `pruned`: a field that the definition of the kind does not know, and that was therefore dropped. */
  | { readonly result: 'written'; readonly pruned?: string }
  /** The object is gone: nothing is left to do. */
  | { readonly result: 'gone' }
  | { readonly result: 'forbidden' | 'failed'; readonly message: string };

/** @param stored the answer of the API server. */
export function outcomeOfWrite(sent: object, stored: object): WriteOutcome {
  const pruned = prunedField(sent, stored);
  return { result: 'written', ...(pruned !== undefined && { pruned }) };
}

/**
 * What the rejection of a write means. Conflicts and a stranger under the same name (422) are `failed`, too: the next
 * round sees more. So is what admission refuses: no right would help.
 */
export function outcomeOfWriteError(error: unknown): WriteOutcome {
  if (isNotFound(error)) return { result: 'gone' };
  return { result: missingRight(error) === undefined ? 'failed' : 'forbidden', message: describeError(error) };
}
