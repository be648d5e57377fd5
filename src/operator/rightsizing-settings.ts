/** The configuration file's keys as the settings of the rightsizing engine. */
import type { Config } from '../config/schema.ts';
import type { RightsizingSettings } from '../controllers/rightsizing/settings.ts';
import type { Millis } from '../lib/units.ts';

/** A new pod is scraped after one of them at the latest, and asked for after another; the rest is for pauses between. */
const READINGS_TO_A_SAMPLE = 4;
const LEAST_NO_DATA_MILLIS: Millis = 60_000;

/** Percentages of the file become shares of 1. */
export function rightsizingSettingsOf({ operator, engines, rightsizing }: Config): RightsizingSettings {
  const readingMillis = Math.max(rightsizing.prometheus.scrapeInterval, rightsizing.sampleInterval);
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
    noDataMillis: Math.max(LEAST_NO_DATA_MILLIS, READINGS_TO_A_SAMPLE * readingMillis),
    canaryMillis: rightsizing.canaryPeriod,
    revertMillis: rightsizing.revertWindow,
    deferredMillis: rightsizing.deferredTimeout,
    forceConflicts: rightsizing.forceConflicts,
    restart: { minShare: rightsizing.restartMinChange / 100, cooldownMillis: rightsizing.restartCooldown },
  };
}
