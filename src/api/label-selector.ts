/** Label selectors, the object form of workloads and budgets, and their conditions. */
import { InvalidValueError } from '../lib/errors.ts';
import { quoted } from '../lib/shortened.ts';
import type { LabelSelector } from './core.ts';

export type Labels = Readonly<Record<string, string>>;
export type SelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

/** One condition on one label. All requirements of a selector must hold. */
export interface Requirement {
  readonly key: string;
  readonly operator: SelectorOperator;
  readonly values: readonly string[];
}

/** Undefined labels count as none. */
export type LabelMatcher = (labels: Labels | undefined) => boolean;

const NO_LABELS: Labels = {};
const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const OBJECT_OPERATORS: readonly string[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** True for `name` or `prefix/name` as Kubernetes allows them as label and annotation keys. */
export function isQualifiedName(key: string): boolean {
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  return (
    name.length <= 63 &&
    NAME.test(name) &&
    (prefix === undefined || (prefix.length <= 253 && DNS_SUBDOMAIN.test(prefix)))
  );
}

/** True for the empty text and for what Kubernetes allows as the value of a label. Files have nothing there, or numbers, too. */
export function isLabelValue(value: unknown): boolean {
  return value === '' || (typeof value === 'string' && value.length <= 63 && NAME.test(value));
}

/** What is wrong with a selector, a sentence each; empty when it is valid. */
export function validateLabelSelector(selector: LabelSelector): string[] {
  return selectorRequirements(selector).flatMap(validateRequirement);
}

/** What is wrong with one requirement of a label selector. */
function validateRequirement({ key, operator, values }: Requirement): string[] {
  const problems: string[] = [];
  if (!isQualifiedName(key)) problems.push(`${quoted(key)} is not a label key`);
  if (!OBJECT_OPERATORS.includes(operator)) {
    problems.push(`operator ${quoted(operator)} of ${quoted(key)} is none of ${OBJECT_OPERATORS.join(', ')}`);
  } else if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) problems.push(`operator ${operator} of ${quoted(key)} needs at least one value`);
  } else if (values.length > 0) {
    problems.push(`operator ${operator} of ${quoted(key)} takes no values`);
  }
  for (const value of values) {
    if (!isLabelValue(value)) problems.push(`${quoted(value)} is not a label value`);
  }
  return problems;
}

/** The conditions of a selector, matchLabels first. */
export function selectorRequirements(selector: LabelSelector): Requirement[] {
  const equalities = Object.entries(selector.matchLabels ?? {}).map(
    ([key, value]): Requirement => ({ key, operator: 'In', values: [value] }),
  );
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values }): Requirement => ({ key, operator: operator as SelectorOperator, values: values ?? [] }),
  );
  return [...equalities, ...expressions];
}

/**
 * Turns a selector into a fast predicate. As everywhere in Kubernetes an empty selector matches every object and a
 * missing one matches none.
 * @throws InvalidValueError naming everything that is wrong with the selector.
 */
export function compileLabelSelector(selector: LabelSelector | undefined): LabelMatcher {
  if (selector === undefined) return () => false;
  const problems = validateLabelSelector(selector);
  if (problems.length > 0) {
    throw new InvalidValueError(
      'label selector',
      JSON.stringify(selector),
      `a valid selector (${problems.join('; ')})`,
    );
  }
  return matcherOf(selectorRequirements(selector));
}

/** A predicate that holds where every requirement does; no requirements match everything. */
export function matcherOf(requirements: readonly Requirement[]): LabelMatcher {
  return (labels = NO_LABELS) => {
    for (const requirement of requirements) if (!meets(labels, requirement)) return false;
    return true;
  };
}

/** Whether `labels` meet one requirement. NotIn and DoesNotExist hold where the label is absent; Gt and Lt never do. */
export function meets(labels: Labels, { key, operator, values }: Requirement): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt':
      return compareIntegers(value, operator, values);
  }
}

function compareIntegers(value: string | undefined, operator: 'Gt' | 'Lt', bounds: readonly string[]): boolean {
  const [bound] = bounds;
  if (value === undefined || bound === undefined || bounds.length !== 1) return false;
  if (!isInteger(value) || !isInteger(bound)) return false;
  return operator === 'Gt' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
}

/** Go's strconv.ParseInt in base 10 takes a sign; BigInt takes no plus, so it is not offered here. */
function isInteger(text: string): boolean {
  return /^-?\d+$/.test(text);
}
