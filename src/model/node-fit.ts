/** What of a pod a node admits by its labels and taints: the scheduler's filters that look at the node alone. */
import { meets } from '../api/label-selector.ts';
import type { Labels, NodeRecord, NodeSelectorTerm, PodTemplate, Taint, Toleration } from './records.ts';
import { isEmptyTerm } from './side-pin.ts';

/** Whether nodeSelector and required node affinity of a template admit the node. */
export function admitsNode(
  template: Pick<PodTemplate, 'nodeSelector' | 'requiredNodeTerms'>,
  node: NodeRecord,
): boolean {
  for (const [key, value] of Object.entries(template.nodeSelector)) if (node.labels[key] !== value) return false;
  return template.requiredNodeTerms === undefined || matchesNodeTerms(template.requiredNodeTerms, node);
}

/** Whether one of the ORed terms holds for the node; an empty term never does. */
export function matchesNodeTerms(
  terms: readonly NodeSelectorTerm[],
  node: Pick<NodeRecord, 'name' | 'labels'>,
): boolean {
  const fields: Labels = { 'metadata.name': node.name };
  return terms.some(
    (term) =>
      !isEmptyTerm(term) &&
      term.expressions.every((expression) => meets(node.labels, expression)) &&
      term.fields.every((field) => meets(fields, field)),
  );
}

/** Whether every taint that keeps pods off is tolerated; PreferNoSchedule keeps none off. */
export function toleratesAll(tolerations: readonly Toleration[], taints: readonly Taint[]): boolean {
  return taints.every(
    (taint) => taint.effect === 'PreferNoSchedule' || tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

/** Source: kubernetes core/v1 toleration.go, ToleratesTaint. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect !== '' && toleration.effect !== taint.effect) return false;
  if (toleration.key !== '' && toleration.key !== taint.key) return false;
  if (toleration.operator === 'Exists') return true;
  // An empty key with Equal is refused by the API; it tolerates nothing here.
  return toleration.key !== '' && toleration.value === taint.value;
}
