/** Placement settings for tests: what a fresh installation on Karpenter has, its nodes made by an autoscaler. */
import { nodeClassProfile } from '../../model/node-profiles.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import { someSettings } from '../../model/testing/records.ts';

export function testSettings(overrides: Partial<PlacementSettings> = {}): PlacementSettings {
  return someSettings({ claimTtlMillis: 120_000, nodeClasses: nodeClassProfile(['karpenter']), ...overrides });
}
