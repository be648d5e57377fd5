/** Whose CPU allocation shares out: a rule between engines, as nobody else writes it then (DESIGN 1). */
import { exclusionOf } from '../../decide/allocation/eligibility.ts';
import { readMarks } from '../../decide/allocation/marks.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { AllocationStores } from '../../observe/allocation-stores.ts';
import type { AllocationAgents } from './agents.ts';
import type { AllocationFacts } from './facts.ts';
import type { AllocationSettings } from './settings.ts';

export interface IsAllocatedOptions {
  readonly stores: Pick<AllocationStores, 'of' | 'onSynced'>;
  readonly agents: Pick<AllocationAgents, 'stateOf'>;
  readonly facts: Pick<AllocationFacts, 'of'>;
  readonly settings: () => AllocationSettings;
}

/**
 * Before the allocations are listed every pod that takes part counts as one that has its own: what it has may be a
 * share, and advice written over it would be a fight.
 */
export function createIsAllocated({
  stores,
  agents,
  facts,
  settings,
}: IsAllocatedOptions): (found: SizedPod) => boolean {
  let isListed = false;
  stores.onSynced.then(
    () => {
      isListed = true;
    },
    () => {},
  );
  return (found) => {
    const { rules, size } = settings();
    if (!size.enabled || size.dryRun || (isListed && stores.of(found.pod) === undefined)) return false;
    if (agents.stateOf(found.pod.nodeName ?? '') === 'gone') return false;
    const { pod, history } = facts.of(found);
    return exclusionOf(pod, readMarks(pod.marks), history, rules) === undefined;
  };
}
