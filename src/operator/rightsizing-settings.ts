/** The configuration file's keys as the settings of the rightsizing engine. */
import type { Config } from '../config/schema.ts';
import type { RightsizingSettings } from '../controllers/rightsizing-settings.ts';

/** Percentages of the file become shares of 1. */
export function rightsizingSettingsOf({ operator, engines, rightsizing }: Config): RightsizingSettings {
  return {
    size: {
      enabled: engines.rightsizing,
      readOnly: operator.readOnlyMode,
      dryRun: rightsizing.dryRun,
      warmUpMillis: rightsizing.warmUp,
      maxConcurrentResizes: rightsizing.maxConcurrentResizes,
      maxChangesPerMinute: rightsizing.maxChangesPerMinute,
      memoryMargin: rightsizing.memoryMargin,
    },
    tenancy: {
      operatorNamespace: operator.namespace,
      allowedPolicyNamespaces: new Set(rightsizing.allowedPolicyNamespaces),
    },
    minIntervalMillis: rightsizing.reconcileInterval,
    canaryMillis: rightsizing.canaryPeriod,
    revertMillis: rightsizing.revertWindow,
    deferredMillis: rightsizing.deferredTimeout,
    restart: { minShare: rightsizing.restartMinChange / 100, cooldownMillis: rightsizing.restartCooldown },
  };
}
