/** The seal of the guard: what `act` carries out is approved, or it does not compile. */
import type { Decision } from '../decide/decision.ts';
import type { SizeDecision } from '../decide/size-decision.ts';

declare const approval: unique symbol;

/**
 * A decision that may be carried out now. The seal says nothing of later: whoever holds one acts at once, and `act`
 * repeats the preconditions that only the API server can check (uid, resourceVersion).
 */
export interface Approved<D extends Decision | SizeDecision> {
  readonly decision: D;
  readonly [approval]: true;
}

/** For the guards (`inspect`, `inspectSize`) only, when no rule has objected; a test reads who imports it. */
export function approve<D extends Decision | SizeDecision>(decision: D): Approved<D> {
  // The brand exists for the compiler only: at run time nothing is added, and nothing can be forged by mistake.
  return { decision } as Approved<D>;
}
