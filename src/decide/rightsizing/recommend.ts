/** The recommendation pipeline of one container: from its profile to advice for CPU and memory, each stage leaving a line. */
import type { EpochMillis } from '../../lib/units.ts';
import type { UsageProfile } from '../../model/usage-profile.ts';
import type { ResourceAdvice } from './advice.ts';
import type { RightsizingPolicy } from './policy.ts';
import { recommendCpu } from './recommend-cpu.ts';
import { recommendMemory } from './recommend-memory.ts';

/** One resource as it is set now. */
export interface CurrentResource {
  readonly request: number | undefined;
  readonly limit: number | undefined;
  /** When Stowage last changed it. */
  readonly lastChangeAt: EpochMillis | undefined;
}

export interface RecommendInput {
  readonly profile: UsageProfile;
  readonly cpu: CurrentResource;
  readonly memory: CurrentResource;
  readonly policy: RightsizingPolicy;
  readonly now: EpochMillis;
}

export interface ContainerAdvice {
  /** In millicores. */
  readonly cpu: ResourceAdvice;
  /** In bytes. */
  readonly memory: ResourceAdvice;
}

/** Each resource on its own: what is not known of one never keeps the other from being advised. */
export function recommend(input: RecommendInput): ContainerAdvice {
  return { cpu: recommendCpu(input), memory: recommendMemory(input) };
}
