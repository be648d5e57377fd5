/** Profiles and questions for tests of the recommendation. */
import { UsageProfile } from '../../../model/usage-profile.ts';
import { defaultPolicy, defaultProfileOptions, type RightsizingPolicy } from '../policy.ts';
import type { CurrentResource, RecommendInput } from '../recommend.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const MIB = 1024 * 1024;
const STEP = 300_000;

/** Usage at each of `steps` steps of five minutes; either resource may be left out. */
export function profileOf(
  steps: number,
  usage: { readonly cpu?: (step: number) => number; readonly memory?: (step: number) => number },
): UsageProfile {
  const profile = new UsageProfile(defaultProfileOptions);
  for (let step = 0; step < steps; step++) {
    profile.add({
      at: step * STEP,
      ...(usage.cpu === undefined ? {} : { cpu: usage.cpu(step) }),
      ...(usage.memory === undefined ? {} : { memory: usage.memory(step) }),
    });
  }
  return profile;
}

export const unset: CurrentResource = { request: undefined, limit: undefined, lastChangeAt: undefined };

/** Asked at the last of `steps` steps. */
export function questionAt(steps: number, profile: UsageProfile, given: Partial<RecommendInput> = {}): RecommendInput {
  return { profile, cpu: unset, memory: unset, policy: defaultPolicy, now: (steps - 1) * STEP, ...given };
}

/** The shipped strategy of OptiPod on our histograms. */
export function percentilePolicy(percentile: number, safetyFactor: number): RightsizingPolicy {
  const target = { strategy: 'Percentile', percentile, safetyFactor } as const;
  return {
    ...defaultPolicy,
    cpu: { ...defaultPolicy.cpu, target },
    memory: { ...defaultPolicy.memory, target },
  };
}
