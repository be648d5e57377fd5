/** The text form of label selectors, as in the query parameter `labelSelector` and in `kubectl -l`. */
import { ascending } from '../lib/ascending.ts';
import { InvalidValueError } from '../lib/errors.ts';
import type { LabelSelector } from './core.ts';
import { isLabelValue, isQualifiedName, type Requirement, selectorRequirements } from './label-selector.ts';

const ACCEPTED =
  'conditions joined by commas, such as app=web, tier!=db, env in (dev,qa), zone notin (a), team, !legacy';

/** The text of a selector, conditions in the order of their keys; empty for the selector that matches everything. */
export function formatLabelSelector(selector: LabelSelector): string {
  return formatRequirements(selectorRequirements(selector));
}

/** The text of conditions that must all hold, in the order of their keys. */
export function formatRequirements(requirements: readonly Requirement[]): string {
  const sorted = [...requirements].sort((a, b) => ascending(a.key, b.key));
  return sorted.map(formatRequirement).join(',');
}

function formatRequirement({ key, operator, values }: Requirement): string {
  const [first = ''] = values;
  const list = `(${[...values].sort().join(',')})`;
  switch (operator) {
    case 'In':
      return values.length === 1 ? `${key}=${first}` : `${key} in ${list}`;
    case 'NotIn':
      return values.length === 1 ? `${key}!=${first}` : `${key} notin ${list}`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'Gt':
      return `${key}>${first}`;
    case 'Lt':
      return `${key}<${first}`;
  }
}

/**
 * Reads the text form (grammar of k8s.io/apimachinery/pkg/labels/selector.go). Empty text gives no conditions: everything matches.
 * @throws InvalidValueError for anything that is no selector.
 */
export function parseLabelQuery(text: string): Requirement[] {
  const requirements: Requirement[] = [];
  const tokens = tokenize(text);
  let position = 0;
  const take = (): string => tokens[position++] ?? '';
  const refuse = (): never => {
    throw new InvalidValueError('label selector', text, ACCEPTED);
  };

  const takeKey = (): string => {
    const key = take();
    return isQualifiedName(key) ? key : refuse();
  };
  const takeValue = (): string => (isDelimiter(tokens[position]) ? '' : checked(take()));
  const checked = (value: string): string => (isLabelValue(value) ? value : refuse());
  const takeList = (): string[] => {
    if (take() !== '(') refuse();
    const values: string[] = [];
    for (;;) {
      values.push(takeValue());
      const separator = take();
      if (separator === ')') return values;
      if (separator !== ',') refuse();
    }
  };
  const takeRequirement = (): Requirement => {
    if (tokens[position] === '!') {
      position++;
      return { key: takeKey(), operator: 'DoesNotExist', values: [] };
    }
    const key = takeKey();
    if (tokens[position] === undefined || tokens[position] === ',') return { key, operator: 'Exists', values: [] };
    switch (take()) {
      case '=':
      case '==':
        return { key, operator: 'In', values: [takeValue()] };
      case '!=':
        return { key, operator: 'NotIn', values: [takeValue()] };
      case 'in':
        return { key, operator: 'In', values: takeList() };
      case 'notin':
        return { key, operator: 'NotIn', values: takeList() };
      case '>':
        return { key, operator: 'Gt', values: [takeInteger()] };
      case '<':
        return { key, operator: 'Lt', values: [takeInteger()] };
      default:
        return refuse();
    }
  };
  const takeInteger = (): string => {
    const value = take();
    return /^-?\d+$/.test(value) ? value : refuse();
  };

  if (tokens.length === 0) return text.trim() === '' ? requirements : refuse();
  for (;;) {
    requirements.push(takeRequirement());
    if (position === tokens.length) return requirements;
    if (take() !== ',') refuse();
  }
}

function tokenize(text: string): string[] {
  return text.match(/==|!=|[=!(),<>]|[^\s=!(),<>]+/g) ?? [];
}

function isDelimiter(token: string | undefined): boolean {
  return token === undefined || token === ',' || token === ')';
}
