/** The configuration file's keys as the settings of the allocation engine. */
import type { Config } from '../config/schema.ts';
import type { AllocationSettings } from '../controllers/allocation/settings.ts';
import { defaultAllocationRules } from '../decide/allocation/rules.ts';

/** What the operator does not configure, such as the shape of the bargain, are the agents' defaults: they decide it. */
export function allocationSettingsOf({ operator, engines, allocation }: Config): AllocationSettings {
  const rules = defaultAllocationRules;
  return {
    size: {
      enabled: engines.allocation,
      readOnly: operator.readOnlyMode,
      dryRun: allocation.apply === 'observe',
      warmUpMillis: allocation.warmUp,
      maxConcurrentResizes: allocation.maxConcurrentResizes,
      maxChangesPerMinute: allocation.maxChangesPerMinute,
      memoryMargin: 0,
    },
    rules: {
      ...rules,
      apply: allocation.apply,
      managementMode: allocation.managementMode,
      excludedNamespaces: allocation.excludedNamespaces,
      write: {
        ...rules.write,
        spacingUpMillis: allocation.spacingUp,
        spacingDownMillis: allocation.spacingDown,
      },
      weight: {
        ...rules.weight,
        topologySpread: allocation.topologySpread,
        spreadCeiling: allocation.spreadCeiling,
        nodeAffinity: allocation.nodeAffinity,
      },
    },
    staleMillis: allocation.staleAfter,
  };
}
