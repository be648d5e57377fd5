/**
 * The recommendation pipeline of one container: from its profile to advice for CPU and memory, each stage leaving a
 * line.
 */
import type { Bytes, EpochMillis, Millicores } from '../../lib/units.ts';
import type { UsageProfile } from '../../model/usage-profile.ts';
import type { UsageWindow } from '../../model/usage-window.ts';
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

/** Requests that were too little once: after harm the next decrease stops above them (rightsizing bug 20). */
export interface LearnedFloors {
  readonly cpu?: Millicores | undefined;
  readonly memory?: Bytes | undefined;
}

/** When it begins and ends, and since when anything is known in it, is not told by whoever has all of it. */
export type KnownWindow = Pick<UsageWindow, 'cpu' | 'memory' | 'isSampled'> &
  Partial<Pick<UsageWindow, 'from' | 'to' | 'since'>>;

export interface RecommendInput {
  readonly profile: UsageProfile;
  readonly cpu: CurrentResource;
  readonly memory: CurrentResource;
  readonly policy: RightsizingPolicy;
  /** The figures of the policy's window, where the source has them. */
  readonly window?: KnownWindow | undefined;
  /** What an earlier decrease has shown to be too little. */
  readonly floors?: LearnedFloors | undefined;
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
