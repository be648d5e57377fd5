/**
 * Where the usage of a workload comes from and how it is remembered: what its policy says, in the collector's terms.
 */
import type { Millis } from '../lib/units.ts';
import type { PolicyId } from './optimization-policy.ts';
import type { PrometheusAccess } from './policy-spec.ts';
import type { SizedWorkload } from './sizing-records.ts';
import type { ProfileOptions } from './usage-profile.ts';

export interface UsageSettings {
  /** The policy: health is told by it, and Secrets are read from its namespace. */
  readonly policy: PolicyId;
  /**
   * A name of the table of providers, e.g. `prometheus`. Of the policy, not of the process: OptiPod ignores it (defect
   * B9).
   */
  readonly provider: string;
  readonly rollingWindowMillis: Millis;
  readonly profile: ProfileOptions;
  /**
   * The strategy is made from the samples of the window themselves (Percentile, Max), not from the profile. Only then
   * are {@link UsageWindow}s kept.
   */
  readonly needsWindow: boolean;
  /** Usage is remembered of each replica that has an identity, beside that of all. */
  readonly isPerReplica?: true;
  readonly prometheus?: Partial<PrometheusAccess>;
  readonly custom?: { readonly name: string };
}

/** A workload whose usage is to be known. */
export interface UsageTarget {
  readonly workload: SizedWorkload;
  readonly settings: UsageSettings;
}
