/** Admission plug-in ResourceQuota for pods, and the usage it counts. Source: apiserver pkg/admission/plugin/resourcequota; kubernetes pkg/quota/v1/evaluator/core/pods.go. */
import { formatQuantity, parseQuantity } from '../../../lib/quantity.ts';
import { type JsonObject, objectAt, objectsAt, stringAt, textOf } from '../json.ts';
import type { ApiObject, RuleContext, TypeRules } from '../served-type.ts';
import { forbidden } from '../status-error.ts';
import { nanosOf, podAmount } from './pod-amounts.ts';
import { canonicalQuantities } from './pod-defaults.ts';
import { isInScope, validateScopes } from './quota-scopes.ts';

const PODS = { group: '', plural: 'pods' };
const NANOS = 1_000_000_000n;

/** How a hard limit of a quota counts one pod, by its key; undefined for keys that do not count pods. */
export function quotaAmount(pod: ApiObject, key: string): bigint | undefined {
  if (key === 'pods' || key === 'count/pods') return NANOS;
  const match = /^(?:(requests|limits)\.)?(cpu|memory|ephemeral-storage)$/.exec(key);
  const name = match?.[2];
  if (name === undefined) return undefined;
  return heldAmount(pod, match?.[1] === 'limits' ? 'limits' : 'requests', name);
}

/**
 * A shrunken pod counts with what it still holds until its kubelet has made it smaller, sum against sum; a resize that
 * can never be counts with what is held alone. Source: k8s.io/component-helpers/resource `PodRequests` and `PodLimits`
 * with UseStatusResources.
 */
function heldAmount(pod: ApiObject, part: 'requests' | 'limits', name: string): bigint {
  const spec = objectAt(pod, 'spec');
  const reported = [
    ...objectsAt(pod, 'status', 'containerStatuses'),
    ...objectsAt(pod, 'status', 'initContainerStatuses'),
  ].filter((status) => status['resources'] !== undefined || status['allocatedResources'] !== undefined);
  const statuses = new Map(reported.map((status) => [status['name'], status]));
  if (statuses.size === 0) return podAmount(spec, part, name);
  const isInfeasible = objectsAt(pod, 'status', 'conditions').some(
    (condition) => condition['type'] === 'PodResizePending' && condition['reason'] === 'Infeasible',
  );
  const asked = (container: JsonObject): bigint => nanosOf(objectAt(container, 'resources', part), name);
  const granted = (container: JsonObject): bigint => {
    const allocated = part === 'requests' && objectAt(statuses.get(container['name']), 'allocatedResources');
    return allocated ? nanosOf(allocated, name) : isInfeasible ? 0n : asked(container);
  };
  const held = (container: JsonObject): bigint => {
    const actual = objectAt(statuses.get(container['name']), 'resources', part);
    return actual === undefined ? granted(container) : nanosOf(actual, name);
  };
  let most = 0n;
  for (const amount of isInfeasible ? [granted, held] : [asked, granted, held]) {
    const total = podAmount(spec, part, name, amount);
    if (total > most) most = total;
  }
  return most;
}

/** Pods that have ended use nothing. */
export function countsForQuota(pod: ApiObject): boolean {
  const phase = stringAt(pod, 'status', 'phase');
  return phase !== 'Succeeded' && phase !== 'Failed';
}

/** @param like the limit, in whose notation (`Mi`, `m`) the amount is told */
export function quotaText(nanos: bigint, like: string): string {
  return formatQuantity({ nanos, format: parseQuantity(like).format });
}

/**
 * Keys for which every container of a pod, those that run first included, must say something, once a quota limits them.
 * Source: kubernetes pkg/quota/v1/evaluator/core/pods.go `Constraints`.
 */
function unspecified(pod: ApiObject, hard: JsonObject): string[] {
  const podLevel = objectAt(pod, 'spec', 'resources');
  // What the pod as a whole asks for speaks for its containers (KEP-2837).
  if (['requests', 'limits'].some((part) => Object.keys(objectAt(podLevel, part) ?? {}).length > 0)) return [];
  const missing = Object.keys(hard).flatMap((key) => {
    const match = /^(?:(requests|limits)\.)?(cpu|memory)$/.exec(key);
    const name = match?.[2];
    if (name === undefined) return [];
    const part = match?.[1] === 'limits' ? 'limits' : 'requests';
    const silent = [...objectsAt(pod, 'spec', 'containers'), ...objectsAt(pod, 'spec', 'initContainers')]
      .filter((container) => objectAt(container, 'resources', part)?.[name] === undefined)
      .map((container) => textOf(container['name']));
    return silent.length === 0 ? [] : [`${key} for: ${silent.sort().join(',')}`];
  });
  return missing.sort();
}

/**
 * Throws 403 when the pod does not fit into a quota of its namespace.
 * @param old the pod before a resize; only the difference counts then.
 */
export function checkQuotas(pod: ApiObject, old: ApiObject | undefined, context: RuleContext): void {
  const { namespace, name = '' } = pod.metadata;
  const quotas = context.list('resourcequotas', '', namespace).filter((quota) => isInScope(pod, quota));
  if (quotas.length === 0) return;
  const others = context
    .list('pods', '', namespace)
    .filter((other) => other.metadata.uid !== pod.metadata.uid && countsForQuota(other));
  for (const quota of quotas) {
    const hard = objectAt(quota, 'spec', 'hard') ?? {};
    const missing = unspecified(pod, hard);
    if (missing.length > 0)
      throw forbidden(PODS, name, `failed quota: ${quota.metadata.name}: must specify ${missing.join('; ')}`);
    const exceeded = Object.keys(hard)
      .sort()
      .flatMap((key) => {
        const limit = textOf(hard[key]);
        const wanted = quotaAmount(pod, key);
        if (wanted === undefined) return [];
        const before = old === undefined ? 0n : (quotaAmount(old, key) ?? 0n);
        const used = others
          .filter((other) => isInScope(other, quota))
          .reduce((sum, other) => sum + (quotaAmount(other, key) ?? 0n), before);
        const added = wanted - before;
        return added > 0n && used + added > parseQuantity(limit).nanos
          ? [{ key, added: quotaText(added, limit), used: quotaText(used, limit), limit }]
          : [];
      });
    if (exceeded.length === 0) continue;
    const show = (field: 'added' | 'used' | 'limit') => exceeded.map((each) => `${each.key}=${each[field]}`).join(',');
    throw forbidden(
      PODS,
      name,
      `exceeded quota: ${quota.metadata.name}, requested: ${show('added')}, used: ${show('used')}, limited: ${show('limit')}`,
    );
  }
}

export const resourceQuotaRules: TypeRules = {
  applyDefaults: (quota) => canonicalQuantities(objectAt(quota, 'spec', 'hard')),
  validateCreate: validateScopes,
  validateUpdate: validateScopes,
  validateStatusUpdate: () => [],
};
