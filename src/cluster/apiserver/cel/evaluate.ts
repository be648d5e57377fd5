/** Evaluation of CEL expressions over JSON values. */
import { ascending } from '../../../lib/ascending.ts';
import { ownMember } from '../../../lib/own-member.ts';
import { tryParseQuantity } from '../../../lib/quantity.ts';
import { equalJson, isObject, type Json, type JsonObject, setMember, textOf } from '../json.ts';
import type { Expression } from './expression.ts';

/** The expression failed at run time: a missing field, a wrong type, an unknown function. */
export class CelRuntimeError extends Error {
  override readonly name = 'CelRuntimeError';
  readonly code = 'CEL_RUNTIME';
}

/** By name; `self`, `oldSelf`, `object`, `oldObject` and `request` here, and those of macros. */
export type Variables = Readonly<Record<string, Json | undefined>>;

/** Evaluates to JSON. @throws CelRuntimeError */
export function evaluateCel(expression: Expression, variables: Variables): Json {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'name': {
      const value = ownMember(variables, expression.name);
      if (value === undefined) throw new CelRuntimeError(`undeclared reference to '${expression.name}'`);
      return value;
    }
    case 'member': {
      const target = evaluateCel(expression.target, variables);
      const value = isObject(target) ? ownMember(target, expression.name) : undefined;
      if (value === undefined && expression.optional) return null;
      if (value === undefined) throw new CelRuntimeError(`no such key: ${expression.name}`);
      return value;
    }
    case 'index': {
      const target = evaluateCel(expression.target, variables);
      const index = evaluateCel(expression.index, variables);
      const value =
        Array.isArray(target) && typeof index === 'number'
          ? target[index]
          : isObject(target) && typeof index === 'string'
            ? ownMember(target, index)
            : undefined;
      if (value === undefined && expression.optional) return null;
      if (value === undefined) throw new CelRuntimeError(`no such key: ${textOf(index)}`);
      return value;
    }
    case 'list':
      return expression.items.map((item) => evaluateCel(item, variables));
    case 'map': {
      const map: JsonObject = {};
      for (const [key, value] of expression.entries)
        setMember(map, textOf(evaluateCel(key, variables)), evaluateCel(value, variables));
      return map;
    }
    case 'unary': {
      const operand = evaluateCel(expression.operand, variables);
      if (expression.operator === '!') return !asBoolean(operand);
      return -asNumber(operand);
    }
    case 'conditional':
      return evaluateCel(
        asBoolean(evaluateCel(expression.test, variables)) ? expression.yes : expression.no,
        variables,
      );
    case 'binary':
      return evaluateBinary(expression, variables);
    default:
      return evaluateCall(expression, variables);
  }
}

function asBoolean(value: Json): boolean {
  if (typeof value !== 'boolean') throw new CelRuntimeError(`expected a boolean, got ${JSON.stringify(value)}`);
  return value;
}

function asNumber(value: Json): number {
  if (typeof value !== 'number') throw new CelRuntimeError(`expected a number, got ${JSON.stringify(value)}`);
  return value;
}

function asText(value: Json | undefined): string {
  if (typeof value !== 'string') throw new CelRuntimeError(`expected a string, got ${JSON.stringify(value ?? null)}`);
  return value;
}

function asList(value: Json): Json[] {
  if (Array.isArray(value)) return value;
  if (isObject(value)) return Object.keys(value);
  throw new CelRuntimeError(`expected a list or map, got ${JSON.stringify(value)}`);
}

function evaluateBinary({ operator, left, right }: Expression & { kind: 'binary' }, variables: Variables): Json {
  if (operator === '&&' || operator === '||') return evaluateLogical(operator, left, right, variables);
  const a = evaluateCel(left, variables);
  const b = evaluateCel(right, variables);
  switch (operator) {
    case '==':
      return equalJson(a, b);
    case '!=':
      return !equalJson(a, b);
    case 'in':
      return Array.isArray(b)
        ? b.some((item) => equalJson(item, a))
        : isObject(b) && typeof a === 'string' && ownMember(b, a) !== undefined;
    case '+':
      if (typeof a === 'string' && typeof b === 'string') return a + b;
      if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b];
      return asNumber(a) + asNumber(b);
    case '-':
      return asNumber(a) - asNumber(b);
    case '*':
      return asNumber(a) * asNumber(b);
    case '/':
      return divide(asNumber(a), asNumber(b));
    case '%':
      return remainder(asNumber(a), asNumber(b));
    default:
      return compare(operator, a, b);
  }
}

function divide(a: number, b: number): number {
  if (b === 0) throw new CelRuntimeError('division by zero');
  return Number.isInteger(a) && Number.isInteger(b) ? Math.trunc(a / b) : a / b;
}

function remainder(a: number, b: number): number {
  if (b === 0) throw new CelRuntimeError('modulus by zero');
  return a % b;
}

function compare(operator: string, a: Json, b: Json): boolean {
  if (
    typeof a !== typeof b ||
    (typeof a !== 'number' && typeof a !== 'string') ||
    (typeof b !== 'number' && typeof b !== 'string')
  ) {
    throw new CelRuntimeError(`cannot compare ${JSON.stringify(a)} and ${JSON.stringify(b)}`);
  }
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  return operator === '>' ? a > b : a >= b;
}

function evaluateLogical(operator: '&&' | '||', left: Expression, right: Expression, variables: Variables): boolean {
  return decide(operator === '||', [left, right], (side) => asBoolean(evaluateCel(side, variables)));
}

/** CEL's logic is commutative: an error on one side, or of one item, does not matter where another decides. */
function decide<T>(decisive: boolean, sides: readonly T[], holds: (side: T) => boolean): boolean {
  let failed: unknown;
  for (const side of sides) {
    try {
      if (holds(side) === decisive) return decisive;
    } catch (error) {
      failed = error;
    }
  }
  if (failed !== undefined) throw failed;
  return !decisive;
}

/** Longest regular expression an object in the store may bring. */
const MAX_PATTERN = 500;

function evaluateCall(call: Expression & { kind: 'call' }, variables: Variables): Json {
  const { target, name, args } = call;
  const [first, second, third] = args;
  if (name === 'has') return first?.kind === 'member' && hasField(first, variables);
  if (target === undefined)
    return evaluateFunction(
      name,
      args.map((arg) => evaluateCel(arg, variables)),
    );
  if (MACROS.has(name) && first?.kind === 'name' && second !== undefined) {
    return evaluateMacro(name, asList(evaluateCel(target, variables)), first.name, second, third, variables);
  }
  const self = evaluateCel(target, variables);
  const values = args.map((arg) => evaluateCel(arg, variables));
  const [argument] = values;
  switch (name) {
    case 'startsWith':
      return asText(self).startsWith(asText(argument));
    case 'endsWith':
      return asText(self).endsWith(asText(argument));
    case 'contains':
      return asText(self).includes(asText(argument));
    case 'matches':
      return matches(asText(self), asText(argument));
    case 'size':
      return sizeOf(self);
    case 'lowerAscii':
      return asText(self).toLowerCase();
    case 'split':
      return asText(self).split(asText(argument));
    case 'orValue':
      return self ?? argument ?? null;
    case 'hasValue':
      return self !== null;
    case 'isGreaterThan':
      return nanosOf(self) > nanosOf(argument);
    case 'isLessThan':
      return nanosOf(self) < nanosOf(argument);
    case 'compareTo':
      return ascending(nanosOf(self), nanosOf(argument));
    default:
      throw new CelRuntimeError(`undeclared reference to '${name}'`);
  }
}

function matches(text: string, pattern: string): boolean {
  if (pattern.length > MAX_PATTERN)
    throw new CelRuntimeError(`regular expression longer than ${MAX_PATTERN} characters`);
  try {
    return new RegExp(pattern).test(text);
  } catch {
    throw new CelRuntimeError(`error parsing regexp: ${pattern}`);
  }
}

function nanosOf(value: Json | undefined): bigint {
  const quantity = typeof value === 'string' || typeof value === 'number' ? tryParseQuantity(String(value)) : undefined;
  if (quantity === undefined) throw new CelRuntimeError(`not a quantity: ${JSON.stringify(value ?? null)}`);
  return quantity.nanos;
}

/** @param form of texts that are numbers */
function numberOf(value: Json | undefined, form: RegExp): number {
  const number =
    typeof value === 'number' || (typeof value === 'string' && form.test(value)) ? Number(value) : Number.NaN;
  if (Number.isNaN(number)) throw new CelRuntimeError(`type conversion error: not a number: ${textOf(value)}`);
  return number;
}

function sizeOf(value: Json | undefined): number {
  if (typeof value === 'string') return Array.from(value).length;
  if (Array.isArray(value)) return value.length;
  if (isObject(value)) return Object.keys(value).length;
  throw new CelRuntimeError('size() takes a string, list or map');
}

function hasField(member: Expression & { kind: 'member' }, variables: Variables): boolean {
  const target = evaluateCel(member.target, variables);
  return isObject(target) && ownMember(target, member.name) !== undefined;
}

function evaluateFunction(name: string, values: readonly Json[]): Json {
  const [value] = values;
  switch (name) {
    case 'size':
      return sizeOf(value);
    case 'string':
      return typeof value === 'string' ? value : JSON.stringify(value ?? null);
    case 'int':
      return Math.trunc(numberOf(value, /^[+-]?\d+$/));
    case 'double':
      return numberOf(value, /^\S+$/);
    case 'dyn':
      return value ?? null;
    case 'quantity':
      // One form for one amount: they are equal then.
      return `${nanosOf(value)}n`;
    case 'isQuantity':
      return typeof value === 'string' && tryParseQuantity(value) !== undefined;
    default:
      throw new CelRuntimeError(`undeclared reference to '${name}'`);
  }
}

/** Macros over a map see its keys, as in CEL. */
const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter', 'map']);

function evaluateMacro(
  name: string,
  list: readonly Json[],
  variable: string,
  body: Expression,
  mapped: Expression | undefined,
  variables: Variables,
): Json {
  const run = (item: Json, expression: Expression): Json => evaluateCel(expression, { ...variables, [variable]: item });
  const holds = (item: Json): boolean => asBoolean(run(item, body));
  switch (name) {
    case 'all':
      return decide(false, list, holds);
    case 'exists':
      return decide(true, list, holds);
    case 'exists_one':
      return list.filter(holds).length === 1;
    case 'filter':
      return list.filter(holds);
    default:
      return mapped === undefined
        ? list.map((item) => run(item, body))
        : list.filter(holds).map((item) => run(item, mapped));
  }
}
