/**
 * Finds in an expression what {@link evaluateCel} does not know, before it is put in force: a function, a name, a macro of another form.
 * The real server's compiler finds it there, too; types are not looked at.
 */
import { CelSyntaxError, type Expression } from './expression.ts';

/** Functions, by the number of their arguments. */
const FUNCTIONS: ReadonlyMap<string, number> = new Map(
  ['size', 'string', 'int', 'double', 'dyn', 'quantity', 'isQuantity'].map((name) => [name, 1]),
);
const METHODS: ReadonlyMap<string, number> = new Map([
  ['startsWith', 1],
  ['endsWith', 1],
  ['contains', 1],
  ['matches', 1],
  ['size', 0],
  ['lowerAscii', 0],
  ['split', 1],
  ['orValue', 1],
  ['hasValue', 0],
  ['isGreaterThan', 1],
  ['isLessThan', 1],
  ['compareTo', 1],
]);
/** Numbers of arguments: the variable, what is said of it and, of `map` alone, what is made of it. */
const MACROS: ReadonlyMap<string, readonly number[]> = new Map([
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
  ['filter', [2]],
  ['map', [2, 3]],
]);

export interface Declared {
  readonly names: ReadonlySet<string>;
  /** Members of `variables`, where that is declared. */
  readonly variables?: ReadonlySet<string>;
}

/** @throws CelSyntaxError for the first thing that is not known */
export function checkExpression(expression: Expression, declared: Declared): void {
  const check = (...all: readonly Expression[]): void => {
    for (const each of all) checkExpression(each, declared);
  };
  switch (expression.kind) {
    case 'literal':
      return;
    case 'name':
      if (!declared.names.has(expression.name)) throw undeclared(expression.name);
      return;
    case 'member': {
      const { target, name } = expression;
      check(target);
      const isVariable = target.kind === 'name' && target.name === 'variables';
      if (isVariable && declared.variables?.has(name) === false) throw new CelSyntaxError(`undefined field '${name}'`);
      return;
    }
    case 'index':
      check(expression.target, expression.index);
      return;
    case 'list':
      check(...expression.items);
      return;
    case 'map':
      check(...expression.entries.flat());
      return;
    case 'unary':
      check(expression.operand);
      return;
    case 'binary':
      check(expression.left, expression.right);
      return;
    case 'conditional':
      check(expression.test, expression.yes, expression.no);
      return;
    default:
      checkCall(expression, declared);
  }
}

function checkCall({ target, name, args }: Expression & { kind: 'call' }, declared: Declared): void {
  const [first, ...rest] = args;
  if (target === undefined && name === 'has') {
    if (rest.length > 0 || first?.kind !== 'member' || first.optional)
      throw new CelSyntaxError('invalid argument to has() macro');
    checkExpression(first, declared);
    return;
  }
  if (target !== undefined) checkExpression(target, declared);
  const counts = target === undefined ? undefined : MACROS.get(name);
  if (counts !== undefined) {
    if (first?.kind !== 'name' || !counts.includes(args.length))
      throw new CelSyntaxError(`invalid arguments to ${name}() macro`);
    const inside = { ...declared, names: new Set([...declared.names, first.name]) };
    for (const each of rest) checkExpression(each, inside);
    return;
  }
  const known = target === undefined ? FUNCTIONS : METHODS;
  if (known.get(name) !== args.length) throw undeclared(name);
  for (const each of args) checkExpression(each, declared);
}

function undeclared(name: string): CelSyntaxError {
  return new CelSyntaxError(`undeclared reference to '${name}'`);
}
