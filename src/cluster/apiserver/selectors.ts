/** Label and field selectors of list and watch, parsed once into predicates. */
import { parseRequirements } from './label-selector.ts';
import { badRequest } from './status-error.ts';

/** Labels absent from the object are simply not there: `!=` and `notin` hold for them. */
export type LabelPredicate = (labels: Readonly<Record<string, string>>) => boolean;

/** `key op values`, as in the query string and in LabelSelector.matchExpressions. */
function requirement(key: string, operator: string, values: readonly string[]): LabelPredicate {
  const isMet = (meets: (value: string | undefined) => boolean): LabelPredicate => {
    // `constructor` is a label like any other, and no object has it by itself.
    return (labels) => meets(Object.hasOwn(labels, key) ? labels[key] : undefined);
  };
  switch (operator) {
    case 'exists':
      return isMet((value) => value !== undefined);
    case '!':
      return isMet((value) => value === undefined);
    case 'in':
      return isMet((value) => value !== undefined && values.includes(value));
    case 'notin':
      return isMet((value) => value === undefined || !values.includes(value));
    case '>':
      return isMet((value) => value !== undefined && Number(value) > Number(values[0]));
    default:
      return isMet((value) => value !== undefined && Number(value) < Number(values[0]));
  }
}

/** Parses a label selector; empty or absent selects everything (undefined). Throws 400 for bad syntax. */
export function parseLabelSelector(text: string | undefined): LabelPredicate | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const terms = parseRequirements(text).map(({ key, operator, values }) => requirement(key, operator, values));
  return (labels) => terms.every((term) => term(labels));
}

interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | undefined }[]
    | undefined;
}

/** A `metav1.LabelSelector` as predicate: absent selects nothing, empty selects everything. */
export function selectorPredicate(selector: LabelSelectorObject | undefined): LabelPredicate {
  if (selector === undefined) return () => false;
  const terms = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => requirement(key, 'in', [value]));
  const operators: Record<string, string> = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' };
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    terms.push(requirement(key, operators[operator] ?? 'in', values ?? []));
  }
  return (labels) => terms.every((term) => term(labels));
}

/** One `field=value` or `field!=value`. */
export interface FieldTerm {
  readonly field: string;
  readonly value: string;
  readonly negated: boolean;
}

/** Parses a field selector into its terms; empty or absent gives none. Throws 400 for bad syntax. */
export function parseFieldSelector(text: string | undefined): readonly FieldTerm[] {
  if (text === undefined || text.trim() === '') return [];
  return text.split(',').map((term) => {
    const match = /^\s*([^=!\s]+)\s*(!=|==|=)\s*(.*?)\s*$/.exec(term);
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    return { field: match[1] ?? '', value: match[3] ?? '', negated: match[2] === '!=' };
  });
}

/**
 * The name a selector demands (`metadata.name=a`); undefined where it demands none or cannot be read.
 * Source: apiserver pkg/endpoints/request/requestinfo.go, which takes such a list or watch for a request for that object.
 */
export function selectedNameOf(fieldSelector: string | undefined): string | undefined {
  if (fieldSelector?.includes('metadata.name') !== true) return undefined;
  try {
    return parseFieldSelector(fieldSelector).find(({ field, negated }) => field === 'metadata.name' && !negated)?.value;
  } catch {
    // The list itself refuses it.
    return undefined;
  }
}
