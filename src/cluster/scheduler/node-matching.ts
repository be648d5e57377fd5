/** Whether a pod's node selector, node affinity and tolerations admit a node. Pure. */
import type { Node, Pod } from '../../api/core.ts';
import { meets, type Requirement, type SelectorOperator } from '../../api/label-selector.ts';
import { nameOf } from '../objects.ts';

type PodSpec = NonNullable<Pod['spec']>;
type NodeAffinity = NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>;
export type NodeSelectorTerm = NonNullable<
  NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']
>['nodeSelectorTerms'][number];
export type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];
export type Toleration = NonNullable<PodSpec['tolerations']>[number];
type Expression = NonNullable<NodeSelectorTerm['matchExpressions']>[number];

/** `nodeSelector` and required node affinity together, as the NodeAffinity plugin checks them. */
export function admitsNode(spec: PodSpec, node: Node): boolean {
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) {
    if (node.metadata?.labels?.[key] !== value) return false;
  }
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesAnyTerm(required.nodeSelectorTerms, node);
}

/** Terms are ORed; everything inside one is ANDed; a term without conditions matches no node. */
export function matchesAnyTerm(terms: readonly NodeSelectorTerm[], node: Node): boolean {
  return terms.some((term) => matchesTerm(term, node));
}

export function matchesTerm(term: NodeSelectorTerm, node: Node): boolean {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  if (expressions.length === 0 && fields.length === 0) return false;
  const labels = node.metadata?.labels ?? {};
  const fieldValues = { 'metadata.name': nameOf(node) };
  return (
    expressions.every((expression) => meets(labels, requirementOf(expression))) &&
    fields.every((field) => meets(fieldValues, requirementOf(field)))
  );
}

function requirementOf(expression: Expression): Requirement {
  return { key: expression.key, operator: expression.operator as SelectorOperator, values: expression.values ?? [] };
}

/** An empty key with Exists tolerates everything, an empty effect every effect. Source: core/v1 `ToleratesTaint`. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', effect = '', value = '' } = toleration;
  const operator = toleration.operator || 'Equal';
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || (operator === 'Equal' && key !== '' && value === (taint.value ?? ''));
}

/** The taints of one of `effects` that no toleration covers. */
export function untoleratedTaints(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly string[],
): Taint[] {
  return (taints ?? []).filter(
    (taint) =>
      effects.includes(taint.effect) && !(tolerations ?? []).some((toleration) => tolerates(toleration, taint)),
  );
}
