/** The configuration file's keys as the settings of the placement engine. */

import { parseSpotPercentage } from '../api/annotations-values.ts';
import { nodeProfilesOf } from '../config/checks.ts';
import type { Config } from '../config/schema.ts';
import { nodeClassProfile } from '../model/node-profiles.ts';
import type { PlacementSettings } from '../model/placement-settings.ts';
import type { Side } from '../model/records.ts';

/** @throws InvalidValueError for node labels that tell nothing apart; a checked configuration has none. */
export function placementSettingsOf(config: Config): PlacementSettings {
  const { operator, engines, controllers, placement, webhook } = config;
  const { nodeClassifier, workloadTiming } = controllers;
  const { schedule, duration } = operator.disruptionWindow;
  return {
    enabled: engines.placement,
    readOnly: operator.readOnlyMode,
    steersNewPods: webhook.enabled,
    rounding: placement.rounding,
    basis: placement.basis,
    mutations: placement.mutations,
    allowSingleReplica: placement.allowSingleReplica,
    maxConcurrentEvictions: placement.maxConcurrentEvictions,
    cooldownMillis: workloadTiming.cooldownPeriod,
    disruptionRetryMillis: workloadTiming.disruptionRetryInterval,
    claimTtlMillis: placement.claimTimeout,
    stuckRolloutMillis: placement.stuckRolloutAfter,
    moveBackoffMillis: placement.moveBackoff,
    fallback: {
      afterMillis: placement.fallback.after,
      returnPerWindow: placement.fallback.returnPerWindow,
      maxConcurrent: placement.fallback.maxConcurrent,
      maxPercent: placement.fallback.maxPercent,
    },
    maxPerPool: placement.maxPerPool,
    avoidPoolsLosing: placement.avoidPoolsLosing,
    defaults: {
      spotPercentage: parseSpotPercentage(placement.defaults.spotPercentage),
      minOnDemand: placement.defaults.minOnDemand,
    },
    window: schedule === '' ? undefined : { schedule, duration },
    namespaceSelector: controllers.namespaceSelector,
    nodeClasses: {
      ...nodeClassProfile(nodeProfilesOf(config), {
        spot: nodeClassifier.spotLabels,
        onDemand: nodeClassifier.onDemandLabels,
        includeReserved: nodeClassifier.includeReserved,
        ...(nodeClassifier.absenceMeansOnDemand !== undefined && {
          absenceMeansOnDemand: nodeClassifier.absenceMeansOnDemand,
        }),
        ...(nodeClassifier.autoscaled !== undefined && { provisionable: madeSides(nodeClassifier.autoscaled) }),
      }),
      // What pods are not given is no proof that they fit there: evicted all the same, they would wait for spot in vain.
      ...(!placement.mutations.tolerations && { spotTolerations: [] }),
    },
  };
}

function madeSides(autoscaled: readonly Side[]): PlacementSettings['nodeClasses']['provisionable'] {
  return { spot: autoscaled.includes('spot'), onDemand: autoscaled.includes('on-demand') };
}
