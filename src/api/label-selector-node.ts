/** Node selector terms: the required part of a pod's node affinity, and the node affinity of volumes. */
import { type Labels, meets, type Requirement, type SelectorOperator } from './label-selector.ts';

/** One condition as it stands in a pod; the operator is checked when it is used. */
interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** All conditions of a term must hold. A term without any matches no node. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface SelectableNode {
  readonly name: string;
  readonly labels: Labels;
}

const OPERATORS: readonly string[] = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];

/**
 * Whether one of the ORed terms selects the node. No terms select no node, as in
 * k8s.io/component-helpers/scheduling/corev1/nodeaffinity; a term with a condition that is not valid selects none either.
 */
export function matchesNodeSelectorTerms(terms: readonly NodeSelectorTerm[], node: SelectableNode): boolean {
  return terms.some((term) => matchesTerm(term, node));
}

function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: SelectableNode): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  return (
    matchExpressions.every((expression) => {
      const requirement = readRequirement(expression);
      return requirement !== undefined && meets(node.labels, requirement);
    }) && matchFields.every((field) => matchesField(field, node))
  );
}

function readRequirement({ key, operator, values = [] }: NodeSelectorRequirement): Requirement | undefined {
  if (!isOperator(operator)) return undefined;
  const needsValues = operator === 'In' || operator === 'NotIn';
  return needsValues && values.length === 0 ? undefined : { key, operator, values };
}

function isOperator(text: string): text is SelectorOperator {
  return OPERATORS.includes(text);
}

/** Kubernetes knows one field, the name, with In or NotIn and exactly one value. */
function matchesField({ key, operator, values = [] }: NodeSelectorRequirement, node: SelectableNode): boolean {
  if (key !== 'metadata.name' || values.length !== 1) return false;
  const isNamed = values[0] === node.name;
  return operator === 'In' ? isNamed : operator === 'NotIn' && !isNamed;
}
