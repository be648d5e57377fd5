/** Placement settings for tests: what a fresh installation on Karpenter has. */
import { nodeClassProfile } from '../../model/node-profiles.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';

export function testSettings(overrides: Partial<PlacementSettings> = {}): PlacementSettings {
  return {
    readOnly: false,
    rounding: 'ceil',
    basis: 'total',
    mutations: { tolerations: true, affinity: true },
    allowSingleReplica: false,
    maxConcurrentEvictions: 5,
    cooldownMillis: 10_000,
    disruptionRetryMillis: 60_000,
    claimTtlMillis: 120_000,
    stuckRolloutMillis: 600_000,
    moveBackoffMillis: { initial: 180_000, max: 3_600_000 },
    fallback: { afterMillis: 300_000, returnPerWindow: 1, maxConcurrent: 50, maxPercent: 100 },
    maxPerPool: 100,
    avoidPoolsLosing: 30,
    defaults: { spotPercentage: 0, minOnDemand: '0' },
    window: undefined,
    namespaceSelector: undefined,
    nodeClasses: nodeClassProfile(['karpenter']),
    ...overrides,
  };
}
