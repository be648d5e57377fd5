/** What the commands tell the guards about an operator they do not see. */

import type { PlacementRules } from '../controllers/placement/rules.ts';
import type { PlacementPolicy } from '../decide/placement/policy.ts';
import type { GuardContext } from '../guard/context.ts';
import { createDisruptionLog } from '../guard/history.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { ClusterView } from '../model/cluster-view.ts';

/**
 * The context of an operator that has just become free to act: it leads, nothing is in flight and no cooldown runs.
 * What those are in truth only the running operator knows; all other rules see what it would see.
 */
export function freeToAct(
  view: ClusterView,
  rules: PlacementRules,
  policy: PlacementPolicy,
  now: EpochMillis,
): GuardContext {
  const { settings, sides } = rules;
  return {
    view,
    sides,
    settings,
    policy,
    now,
    history: createDisruptionLog(settings.moveBackoffMillis),
    inFlight: [],
    leadership: { leader: true, sinceMillis: Number.NEGATIVE_INFINITY },
  };
}
