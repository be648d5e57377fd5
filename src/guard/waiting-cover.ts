/** Cover for spot that found no place on on-demand either: it serves nobody where it is. */
import type { Subject } from './context.ts';

/**
 * The decision sends it back to spot. Nobody is disrupted by that, so what protects who is served does not apply: the
 * window of the owner, the pace of returns, the only replica.
 */
export function isWaitingCover({ decision, pod }: Pick<Subject, 'decision' | 'pod'>): boolean {
  return decision.kind === 'evict' && decision.isReturn === true && pod.nodeName === undefined;
}
