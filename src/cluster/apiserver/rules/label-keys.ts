/**
 * `matchLabelKeys` and `mismatchLabelKeys` of affinity between pods and of topology spread: what a pod's own labels say
 * under these keys becomes part of the selector as the pod is made.
 * Source: kubernetes pkg/registry/core/pod/strategy.go `mutatePodAffinity`, `mutateTopologySpreadConstraints`.
 */
import { ensureObject, type JsonObject, objectAt, objectsAt, stringAt, stringsAt } from '../json.ts';
import type { ApiObject } from '../served-type.ts';

export function mergeLabelKeys(pod: ApiObject): void {
  const spec = objectAt(pod, 'spec');
  const { labels = {} } = pod.metadata;
  const terms = ['podAffinity', 'podAntiAffinity'].flatMap((kind): JsonObject[] => [
    ...objectsAt(spec, 'affinity', kind, 'requiredDuringSchedulingIgnoredDuringExecution'),
    ...objectsAt(spec, 'affinity', kind, 'preferredDuringSchedulingIgnoredDuringExecution').map((preference) =>
      ensureObject(preference, 'podAffinityTerm'),
    ),
  ]);
  for (const term of [...terms, ...objectsAt(spec, 'topologySpreadConstraints')]) {
    merge(term, 'matchLabelKeys', 'In', labels);
    merge(term, 'mismatchLabelKeys', 'NotIn', labels);
  }
}

/** Without a selector nothing is selected, whatever the keys. */
function merge(
  term: JsonObject,
  field: 'matchLabelKeys' | 'mismatchLabelKeys',
  operator: 'In' | 'NotIn',
  labels: Readonly<Record<string, string>>,
): void {
  const selector = objectAt(term, 'labelSelector');
  if (selector === undefined) return;
  const added = stringsAt(term, field).flatMap((key) => {
    const value = stringAt(labels, key);
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
  if (added.length > 0) selector['matchExpressions'] = [...objectsAt(selector, 'matchExpressions'), ...added];
}
