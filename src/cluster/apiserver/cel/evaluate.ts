/** Evaluation of CEL expressions over JSON values. */
import { ownMember } from '../../../lib/own-member.ts';
import { equalJson, isObject, type Json, type JsonObject, setMember, textOf } from '../json.ts';
import type { Expression } from './expression.ts';
import { callFunction, callMethod } from './functions.ts';
import { CelRuntimeError } from './runtime-error.ts';

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

function evaluateCall(call: Expression & { kind: 'call' }, variables: Variables): Json {
  const { target, name, args } = call;
  const [first, second, third] = args;
  if (name === 'has') return first?.kind === 'member' && hasField(first, variables);
  if (target === undefined)
    return callFunction(
      name,
      args.map((arg) => evaluateCel(arg, variables)),
    );
  if (MACROS.has(name) && first?.kind === 'name' && second !== undefined) {
    return evaluateMacro(name, asList(evaluateCel(target, variables)), first.name, second, third, variables);
  }
  const self = evaluateCel(target, variables);
  return callMethod(
    name,
    self,
    args.map((arg) => evaluateCel(arg, variables)),
  );
}

function hasField(member: Expression & { kind: 'member' }, variables: Variables): boolean {
  const target = evaluateCel(member.target, variables);
  return isObject(target) && ownMember(target, member.name) !== undefined;
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
