/** What a policy means to a replay: its rules, how usage is remembered for it, and when it may act. */
import { defaultPolicy, defaultProfileOptions, type RightsizingPolicy } from '../../decide/rightsizing/policy.ts';
import { profileOptionsOf, rulesOf } from '../../decide/rightsizing/policy-rules.ts';
import type { DisruptionWindow } from '../../lib/schedule.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import type { ProfileOptions } from '../../model/usage-profile.ts';
import { percentilesOf, type WindowPercentiles } from '../../model/usage-window.ts';
import { createSampleWindow } from './rivals/sample-window.ts';

export interface ReplayedPolicy {
  readonly rules: RightsizingPolicy;
  readonly profile: ProfileOptions;
  /** Length of the window whose own samples the strategy goes by; undefined: it goes by the profile. */
  readonly windowMillis: Millis | undefined;
  /** When requests may be changed; undefined: at any time. */
  readonly updates: DisruptionWindow | undefined;
  /** Replicas that are the same all the time are sized each by its own use. */
  readonly isPerReplica?: boolean;
}

/** Our own strategy, CostAware; a policy that names none gets OptiPod's instead. */
export const defaultReplayed: ReplayedPolicy = {
  rules: defaultPolicy,
  profile: defaultProfileOptions,
  windowMillis: undefined,
  updates: undefined,
};

export function replayedPolicyOf(spec: PolicySpec): ReplayedPolicy {
  const { strategy, rollingWindowMillis } = spec.metrics;
  return {
    rules: rulesOf(spec),
    profile: profileOptionsOf(spec),
    windowMillis: strategy === 'Percentile' || strategy === 'Max' ? rollingWindowMillis : undefined,
    updates: spec.updates.window,
    ...(spec.updates.sizePerReplica && { isPerReplica: true }),
  };
}

/** The exact figures of the last samples, read anew as often as the operator does. */
export interface ExactWindow {
  add(value: number, at: EpochMillis): void;
  percentiles(at: EpochMillis): WindowPercentiles | undefined;
}

/** In the course of one window it is read anew this often (observe/usage/collect-one.ts). */
const READS = 96;

/** @param length undefined: there is no window, and never a figure. */
export function createExactWindow(length: Millis | undefined): ExactWindow {
  if (length === undefined) return { add() {}, percentiles: () => undefined };
  const samples = createSampleWindow(length);
  let read: { readonly at: EpochMillis; readonly found: WindowPercentiles | undefined } | undefined;
  return {
    add: (value, at) => samples.add(value, at),
    percentiles(at) {
      if (read === undefined || at - read.at >= length / READS) read = { at, found: percentilesOf(samples.sorted()) };
      return read.found;
    },
  };
}
