/**
 * What is valid in a policy and yet rarely meant: told at admission and in the policy's status, never a reason to
 * refuse it.
 */
import type { Bytes, Millicores } from '../../lib/units.ts';
import { workloadText } from '../../model/cluster-view.ts';
import type { ValidPolicy } from '../../model/optimization-policy.ts';
import type { NamespaceRecord } from '../../model/records.ts';
import { isGranted, namespaceMismatch, type PolicyTenancy, workloadMismatch } from './policy-match.ts';
import type { PolicySubject } from './select-policy.ts';

/** A workload with the labels of its namespace. */
export interface PlacedSubject {
  readonly workload: PolicySubject & { readonly name: string };
  readonly namespace: Pick<NamespaceRecord, 'name' | 'labels'>;
}

/** With less memory no container runs; on fewer cores nearly every node runs. */
const LEAST_MEMORY: Bytes = 1024 * 1024;
const MANY_CORES: Millicores = 16_000;

/** A sentence each, about the policy alone. */
export function policyWarnings(policy: ValidPolicy, tenancy: PolicyTenancy): string[] {
  const { namespace, spec } = policy;
  const { selector, metrics, updates } = spec;
  const warnings: string[] = [];
  if (!isGranted(namespace, tenancy)) {
    const named = [...selector.allow].filter((name) => name !== namespace);
    const scopes = `policies of namespace ${namespace} select workloads of that namespace only`;
    if (spec.scope === 'Cluster') warnings.push(`scope Cluster is not granted: ${scopes}`);
    else if (named.length > 0) warnings.push(`selector.namespaces.allow names ${named.join(', ')}, but ${scopes}`);
    else if (spec.scope === undefined && selector.matchesNamespace !== undefined)
      warnings.push(`selector.namespaceSelector is asked of namespace ${namespace} alone: ${scopes}`);
  }
  if (selector.kinds.size === 0) warnings.push('selector.workloadTypes leaves no kind, so nothing is selected');
  const contradicting = [...selector.allow].filter((name) => selector.deny.has(name));
  if (contradicting.length > 0) warnings.push(`${contradicting.join(', ')} is both allowed and denied; deny counts`);
  if (metrics.provider === 'custom' && metrics.customSource === undefined)
    warnings.push('provider custom without metricsConfig.custom.name: no usage is known, and nothing is recommended');
  if (metrics.isWindowCut === true)
    warnings.push(
      'metricsConfig.rollingWindow is longer than 90d: usage of the last 90d counts, and no older is asked for',
    );
  warnings.push(...unitWarnings(spec));
  if (spec.mode === 'Auto' && !updates.allowInPlaceResize && !updates.allowRecreate)
    warnings.push('mode Auto with neither allowInPlaceResize nor allowRecreate: nothing can be applied');
  return warnings;
}

/** `512m` of memory is half a byte, and a CPU of `100` is a hundred cores: both are valid, and all is sized to them. */
function unitWarnings({ bounds, updates }: ValidPolicy['spec']): string[] {
  const warnings: string[] = [];
  const { max } = bounds.memory;
  if (max < LEAST_MEMORY)
    warnings.push(
      `resourceBounds.memory.max is ${max} in bytes, and every memory request is lowered to it: m stands for thousandths of a byte; meant is rather 512Mi or the like`,
    );
  const headroom = updates.limits.policy === 'Headroom' ? updates.limits.headroom.memory : undefined;
  if (headroom !== undefined && headroom < LEAST_MEMORY)
    warnings.push(
      `limitConfig.headroom.memory is ${headroom} in bytes, and limits are lowered to that much above requests: m stands for thousandths of a byte; meant is rather 256Mi or the like`,
    );
  if (bounds.cpu.min >= MANY_CORES)
    warnings.push(
      `resourceBounds.cpu.min is ${bounds.cpu.min / 1000} cores, and every CPU request is raised to it: meant is rather 100m or the like`,
    );
  return warnings;
}

/**
 * A policy of the same weight over at least one of the same workloads: which of them counts is decided by their names.
 */
export interface PolicyTie {
  readonly policy: Pick<ValidPolicy, 'namespace' | 'name'>;
  /** One of the workloads, as `Deployment shop/web`. */
  readonly example: string;
}

/** A sentence about a tie. */
export function tieWarning(weight: number, { policy: { namespace, name }, example }: PolicyTie): string {
  return `weight ${weight} is that of policy ${namespace}/${name} too, and both select ${example}: the first by name counts`;
}

/** Policies that tie with `candidate` on the workloads that are there now, one example each. */
export function tiesOf(
  candidate: ValidPolicy,
  policies: readonly ValidPolicy[],
  subjects: Iterable<PlacedSubject>,
  tenancy: PolicyTenancy,
): PolicyTie[] {
  const rivals = new Set(
    policies.filter(
      (policy) => policy.uid !== candidate.uid && !policy.deleting && policy.spec.weight === candidate.spec.weight,
    ),
  );
  const ties: PolicyTie[] = [];
  const matches = (policy: ValidPolicy, { workload, namespace }: PlacedSubject): boolean =>
    workloadMismatch(policy, workload) === undefined && namespaceMismatch(policy, namespace, tenancy) === undefined;
  for (const subject of subjects) {
    if (rivals.size === 0) break;
    if (!matches(candidate, subject)) continue;
    for (const policy of rivals) {
      if (!matches(policy, subject)) continue;
      ties.push({ policy, example: workloadText(subject.workload) });
      rivals.delete(policy);
    }
  }
  return ties;
}
