/** `GET /api/policies`: what placement does by default, and every OptimizationPolicy with what it came to. */
import { sumSavings, worthOf } from '../../decide/rightsizing/savings.ts';
import { ascending } from '../../lib/ascending.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { PolicyRecord } from '../../model/optimization-policy.ts';
import type { PoliciesAnswer, PolicyTold } from './answers.ts';
import type { DashboardSources, RightsizingSource } from './sources.ts';
import { tally } from './tally.ts';

interface PolicySources {
  readonly rightsizing: Pick<RightsizingSource, 'policies' | 'bookOf'> | undefined;
}

/** The heaviest; what is more is counted. */
const MAX_POLICIES = 500;

export function policyList(
  { operator, rules, rightsizing }: Pick<DashboardSources, 'operator' | 'rules'> & PolicySources,
  now: EpochMillis,
): PoliciesAnswer {
  const { isLeader, engines } = operator();
  const policies =
    rightsizing === undefined ? [] : rightsizing.policies().map((policy) => policyTold(policy, rightsizing));
  policies.sort(byWeight);
  return {
    at: now,
    isLeader,
    engines,
    placementDefaults: placementDefaults(rules().settings),
    policies: policies.slice(0, MAX_POLICIES),
    omitted: Math.max(0, policies.length - MAX_POLICIES),
  };
}

function placementDefaults(
  settings: ReturnType<DashboardSources['rules']>['settings'],
): PoliciesAnswer['placementDefaults'] {
  const { defaults, rounding, basis, window, cooldownMillis, maxConcurrentEvictions } = settings;
  return [
    {
      name: 'Spot percentage',
      value: `${defaults.spotPercentage} % ${basis === 'total' ? 'of all replicas' : 'of the replicas above the floor'}, rounded ${rounding === 'ceil' ? 'up' : 'down'}`,
    },
    { name: 'Floor on on-demand', value: defaults.minOnDemand },
    { name: 'Window', value: window === undefined ? 'always open' : `${window.schedule}, ${window.duration}` },
    { name: 'Pause between moves', value: `${formatDuration(cooldownMillis)} a workload` },
    { name: 'Moves at a time', value: `${maxConcurrentEvictions} in the cluster` },
  ];
}

function policyTold(policy: PolicyRecord, { bookOf }: Pick<RightsizingSource, 'bookOf'>): PolicyTold {
  const { group, namespace, name, deleting, problems, spec, status, uid } = policy;
  const { results, owned } = bookOf(uid);
  const found = [...results.values()];
  return {
    namespace,
    name,
    group,
    deleting,
    problems,
    mode: spec?.mode,
    weight: spec?.weight,
    strategy: spec?.metrics.strategy,
    provider: spec?.metrics.provider,
    window: spec?.updates.window?.text,
    owned: Math.max(owned, results.size),
    results: tally(found.map(({ entry }) => entry.status ?? 'Unknown')),
    saving: sumSavings(found.map(({ saving }) => saving)),
    conditions: (Array.isArray(status.conditions) ? status.conditions : []).map(
      ({ type, status: value, reason, message }) => ({
        type,
        status: value,
        reason,
        message,
      }),
    ),
  };
}

function byWeight(a: PolicyTold, b: PolicyTold): number {
  return (b.weight ?? 0) - (a.weight ?? 0) || worthOf(b.saving) - worthOf(a.saving) || ascending(a.name, b.name);
}
