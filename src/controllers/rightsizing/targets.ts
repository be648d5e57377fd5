/** Whose usage is to be known: every workload that a policy which is not disabled has the say over. */
import { profileOptionsOf } from '../../decide/rightsizing/policy-rules.ts';
import type { PolicySelection } from '../../decide/rightsizing/select-policy.ts';
import type { PolicyRecord, ValidPolicy } from '../../model/optimization-policy.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { UsageSettings, UsageTarget } from '../../model/usage-settings.ts';

export interface UsageTargetsOptions {
  readonly view: Pick<SizingView, 'workloads'>;
  readonly policies: { policies(): readonly PolicyRecord[] };
  readonly select: (workload: SizedWorkload) => PolicySelection;
}

/** @returns what is asked at each round of collecting: policies and workloads as they are by then. */
export function usageTargets({ view, policies, select }: UsageTargetsOptions): () => readonly UsageTarget[] {
  /** Of one policy the same object each time: there may be thousands of targets. */
  const known = new WeakMap<ValidPolicy, UsageSettings>();
  const settingsOf = (policy: ValidPolicy): UsageSettings => {
    const settings = known.get(policy) ?? usageSettingsOf(policy);
    known.set(policy, settings);
    return settings;
  };
  return () => {
    if (policies.policies().length === 0) return [];
    const targets: UsageTarget[] = [];
    for (const workload of view.workloads()) {
      if (workload.deleting) continue;
      const { winner } = select(workload);
      if (winner === undefined || winner.spec.mode === 'Disabled') continue;
      targets.push({ workload, settings: settingsOf(winner) });
    }
    return targets;
  };
}

/** How a policy wants usage to be collected and remembered. */
export function usageSettingsOf({ group, namespace, name, spec }: ValidPolicy): UsageSettings {
  const { metrics } = spec;
  return {
    policy: { group, namespace, name },
    provider: metrics.provider,
    rollingWindowMillis: metrics.rollingWindowMillis,
    profile: profileOptionsOf(spec),
    // These are made of the samples of the window themselves.
    needsWindow: metrics.strategy === 'Percentile' || metrics.strategy === 'Max',
    ...(spec.updates.sizePerReplica && { isPerReplica: true }),
    prometheus: metrics.prometheus,
    ...(metrics.customSource !== undefined && { custom: { name: metrics.customSource } }),
  };
}
