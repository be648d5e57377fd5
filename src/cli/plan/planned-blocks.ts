/** Why decisions would not be carried out, asked of the very guards the operator asks. */

import type { PlacementRules } from '../../controllers/placement/rules.ts';
import type { Decision } from '../../decide/decision.ts';
import type { PlacementPolicy } from '../../decide/placement/policy.ts';
import { inspectAll } from '../../guard/guard.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { freeToAct } from '../guard-context.ts';

/** Why something would not be done. */
export interface PlannedBlock {
  readonly reason: string;
  readonly message: string;
  readonly advice: string;
  /** When it is worth looking again, where that is known (ISO 8601). */
  readonly retryAt?: string;
}

/** Every objection against a decision, first the one that counts; empty when it would be carried out at once. */
export function blocksOf(
  decision: Decision,
  policy: PlacementPolicy,
  { view, rules, now }: { readonly view: ClusterView; readonly rules: PlacementRules; readonly now: EpochMillis },
): PlannedBlock[] {
  return inspectAll(decision, freeToAct(view, rules, policy, now)).map(
    ({ reason, message, advice, retryAfterMillis }) => ({
      reason,
      message,
      advice,
      ...(retryAfterMillis !== undefined && { retryAt: new Date(now + retryAfterMillis).toISOString() }),
    }),
  );
}
