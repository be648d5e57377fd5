/** Which limits of a pod's containers are their users'. They stay, whatever the pod gets. */
import type { Millicores } from '../../lib/units.ts';
import type { AllocationPod } from './allocation-pod.ts';
import { firstSizes } from './first-sizes.ts';
import type { AllocationRules } from './rules.ts';

/**
 * Limits that users set on some containers of a pod and not on all: a ceiling of the whole pod must not raise them.
 * Where all have one, the pod's bound says it; with `apply: limits` they are what is moved.
 */
export function userLimitsOf(
  pod: AllocationPod,
  { apply }: Pick<AllocationRules, 'apply'>,
): ReadonlyMap<string, Millicores> {
  if (apply === 'limits' || pod.qos === 'Guaranteed') return none;
  const limits = firstLimits(pod);
  return limits.size === pod.containers.length ? none : limits;
}

/**
 * The containers of a pod of several that are under a limit of their users': whatever the pod gets, they get no more,
 * so that they are throttled says nothing about what it needs. A container that is alone is its pod.
 */
export function fixedContainers(
  pod: AllocationPod,
  { apply, userLimits }: Pick<AllocationRules, 'apply' | 'userLimits'>,
): ReadonlySet<string> {
  const { containers, qos } = pod;
  if (containers.length < 2 || apply === 'limits' || qos === 'Guaranteed') return nobody;
  if (containers.every(({ size }) => size.cpuLimit === undefined)) return nobody;
  const limits = firstLimits(pod);
  if (limits.size === containers.length && userLimits === 'lift') return nobody;
  const fixed = containers.filter(({ name, size }) => limits.has(name) && size.cpuLimit === limits.get(name));
  return new Set(fixed.map(({ name }) => name));
}

const none: ReadonlyMap<string, Millicores> = new Map();
const nobody: ReadonlySet<string> = new Set();

/** As they were before the first resize. */
function firstLimits(pod: AllocationPod): ReadonlyMap<string, Millicores> {
  const first = firstSizes(pod);
  const limits = new Map<string, Millicores>();
  for (const { name } of pod.containers) {
    const limit = first.get(name)?.cpuLimit;
    if (limit !== undefined) limits.set(name, limit);
  }
  return limits;
}
