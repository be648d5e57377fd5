/** Node -> NodeRecord. */
import type { Node } from '../api/core.ts';
import type { NodeRecord } from '../model/records.ts';
import { cpu, instant, listOf, memory, requireText, textMap, textOr } from './fields.ts';
import { isTaintEffect } from './project-template.ts';

/** The kubelet's default of `maxPods`, for objects that do not say. */
const DEFAULT_MAX_PODS = 110;

/**
 * Amounts are those allocatable, else the capacity. Taints of an effect that Kubernetes does not know are left out.
 * @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read.
 */
export function projectNode(node: Node): NodeRecord {
  const { metadata = {}, spec, status } = node;
  const { allocatable = status?.capacity } = status ?? {};
  return {
    name: requireText(metadata.name, 'metadata.name'),
    uid: textOr(metadata.uid, '', 'metadata.uid'),
    labels: textMap(metadata.labels, 'metadata.labels'),
    taints: listOf(spec?.taints, 'spec.taints').flatMap(({ key, value, effect }) =>
      isTaintEffect(effect) ? [{ key, value: textOr(value, '', 'spec.taints.value'), effect }] : [],
    ),
    ready: listOf(status?.conditions, 'status.conditions').some(
      ({ type, status: is }) => type === 'Ready' && is === 'True',
    ),
    unschedulable: spec?.unschedulable === true,
    deleting: metadata.deletionTimestamp !== undefined,
    allocatable: {
      cpuMillis: cpu(allocatable?.['cpu'], 'status.allocatable.cpu') ?? 0,
      memoryBytes: memory(allocatable?.['memory'], 'status.allocatable.memory') ?? 0,
    },
    ...extraAllocatable(allocatable),
    // A quantity like the others: kubelets write `1k` for a thousand.
    maxPods: memory(allocatable?.['pods'], 'status.allocatable.pods') ?? DEFAULT_MAX_PODS,
    createdAt: instant(metadata.creationTimestamp, 'metadata.creationTimestamp') ?? 0,
    ...declaredFeatures(status),
  };
}

/** Devices, local storage, huge pages. Volumes are counted by other means, and pods on their own. */
function extraAllocatable(
  allocatable: Readonly<Record<string, unknown>> | undefined,
): Pick<NodeRecord, 'extraAllocatable'> {
  const extra = Object.entries(allocatable ?? {}).flatMap(([name, value]) => {
    if (name === 'cpu' || name === 'memory' || name === 'pods' || name.startsWith('attachable-volumes-')) return [];
    const amount = memory(value, `status.allocatable.${name}`) ?? 0;
    return amount > 0 ? [[name, amount] as const] : [];
  });
  return extra.length === 0 ? {} : { extraAllocatable: Object.fromEntries(extra) };
}

/** `status.declaredFeatures` is newer than the published types. */
function declaredFeatures(status: object | undefined): Pick<NodeRecord, 'declaredFeatures'> {
  const { declaredFeatures: features }: { readonly declaredFeatures?: readonly unknown[] } = status ?? {};
  const names = listOf(features, 'status.declaredFeatures').filter((name) => typeof name === 'string');
  return names.length === 0 ? {} : { declaredFeatures: names };
}
