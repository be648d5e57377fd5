/** Parser of the CEL expressions used in match conditions and schema rules: operators, calls, macros, literals. Source: the CEL language definition. */

/** Macros are calls until they are evaluated: their first argument then is a name, not a value. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: null | boolean | number | string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'member'; readonly target: Expression; readonly name: string; readonly optional: boolean }
  | { readonly kind: 'index'; readonly target: Expression; readonly index: Expression; readonly optional: boolean }
  | {
      readonly kind: 'call';
      readonly target: Expression | undefined;
      readonly name: string;
      readonly args: readonly Expression[];
    }
  | { readonly kind: 'unary'; readonly operator: string; readonly operand: Expression }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'conditional'; readonly test: Expression; readonly yes: Expression; readonly no: Expression }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Expression, Expression])[] };

/** The text is no CEL expression, or uses something outside the subset. */
export class CelSyntaxError extends Error {
  override readonly name = 'CelSyntaxError';
  readonly code = 'CEL_SYNTAX';
}

interface Token {
  readonly kind: 'number' | 'string' | 'name' | 'operator' | 'end';
  readonly text: string;
  readonly at: number;
}

/** Longest expression read, and deepest nesting: bounds the work an object in the store can cause. */
const MAX_LENGTH = 10_000;
const MAX_DEPTH = 100;

const TOKEN =
  /\s+|(\d+\.\d+|\d+)u?|(r?"(?:[^"\\]|\\.)*"|r?'(?:[^'\\]|\\.)*')|([A-Za-z_][A-Za-z0-9_]*)|(&&|\|\||==|!=|<=|>=|\.\?|[-+*/%!<>?:.,()[\]{}])/y;
/** Escapes by number are outside the subset. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...['\\', '"', "'", '`', '?'].map((char): [string, string] => [char, char]),
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
]);

function unquote(text: string): string {
  const raw = text.startsWith('r');
  const inner = text.slice(raw ? 2 : 1, -1);
  if (raw) return inner;
  return inner.replace(/\\(.)/g, (sequence, char: string) => {
    const meant = ESCAPES.get(char);
    if (meant === undefined) throw new CelSyntaxError(`unknown escape ${sequence} in ${text}`);
    return meant;
  });
}

function tokenize(source: string): Token[] {
  if (source.length > MAX_LENGTH) throw new CelSyntaxError(`expression longer than ${MAX_LENGTH} characters`);
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  while (pattern.lastIndex < source.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(source);
    if (match === null)
      throw new CelSyntaxError(
        `unexpected character ${JSON.stringify(source[at])} at ${at} in ${JSON.stringify(source)}`,
      );
    const [, number, text, name, operator] = match;
    if (number !== undefined) tokens.push({ kind: 'number', text: number, at });
    else if (text !== undefined) tokens.push({ kind: 'string', text: unquote(text), at });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name, at });
    else if (operator !== undefined) tokens.push({ kind: 'operator', text: operator, at });
  }
  tokens.push({ kind: 'end', text: 'end of expression', at: source.length });
  return tokens;
}

const PRECEDENCE: Readonly<Record<string, number>> = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '<': 3,
  '<=': 3,
  '>': 3,
  '>=': 3,
  in: 3,
  '+': 4,
  '-': 4,
  '*': 5,
  '/': 5,
  '%': 5,
};

/** @throws CelSyntaxError */
export function parseCel(source: string): Expression {
  const tokens = tokenize(source);
  let position = 0;
  let depth = 0;
  const peek = (): Token => tokens[position] ?? { kind: 'end', text: 'end of expression', at: source.length };
  const next = (): Token => {
    const token = peek();
    position++;
    return token;
  };
  const is = (text: string): boolean => peek().text === text && peek().kind !== 'string';
  const accept = (text: string): boolean => {
    if (!is(text)) return false;
    position++;
    return true;
  };
  const expect = (text: string): void => {
    if (!accept(text))
      throw new CelSyntaxError(
        `expected ${JSON.stringify(text)} at ${peek().at}, found ${JSON.stringify(peek().text)} in ${JSON.stringify(source)}`,
      );
  };
  const listUntil = (close: string): Expression[] => {
    const items: Expression[] = [];
    while (!accept(close)) {
      items.push(conditional());
      if (!is(close)) expect(',');
    }
    return items;
  };

  const conditional = (): Expression => {
    if (++depth > MAX_DEPTH) throw new CelSyntaxError(`expression nested deeper than ${MAX_DEPTH}`);
    const test = binary(1);
    let result = test;
    if (accept('?')) {
      const yes = conditional();
      expect(':');
      result = { kind: 'conditional', test, yes, no: conditional() };
    }
    depth--;
    return result;
  };
  const binary = (lowest: number): Expression => {
    let left = unary();
    for (;;) {
      const token = peek();
      const precedence = token.kind === 'string' ? undefined : PRECEDENCE[token.text];
      if (precedence === undefined || precedence < lowest) return left;
      position++;
      left = { kind: 'binary', operator: token.text, left, right: binary(precedence + 1) };
    }
  };
  const unary = (): Expression => {
    if (is('!') || is('-')) {
      const operator = next().text;
      return { kind: 'unary', operator, operand: unary() };
    }
    return postfix(primary());
  };
  const postfix = (start: Expression): Expression => {
    let target = start;
    // What may be absent has no members that must be there.
    let optional = false;
    for (;;) {
      const asks = accept('.?');
      if (asks || accept('.')) {
        const { kind, text, at } = next();
        if (kind !== 'name') throw new CelSyntaxError(`expected a field name at ${at} in ${JSON.stringify(source)}`);
        const isCall = !asks && accept('(');
        optional = !isCall && (asks || optional);
        target = isCall
          ? { kind: 'call', target, name: text, args: listUntil(')') }
          : { kind: 'member', target, name: text, optional };
      } else if (accept('[')) {
        optional = accept('?') || optional;
        const index = conditional();
        expect(']');
        target = { kind: 'index', target, index, optional };
      } else return target;
    }
  };
  const primary = (): Expression => {
    const token = next();
    if (token.kind === 'number') return { kind: 'literal', value: Number(token.text) };
    if (token.kind === 'string') return { kind: 'literal', value: token.text };
    if (token.kind === 'name') {
      if (token.text === 'true' || token.text === 'false') return { kind: 'literal', value: token.text === 'true' };
      if (token.text === 'null') return { kind: 'literal', value: null };
      return accept('(')
        ? { kind: 'call', target: undefined, name: token.text, args: listUntil(')') }
        : { kind: 'name', name: token.text };
    }
    if (token.text === '(') {
      const inner = conditional();
      expect(')');
      return inner;
    }
    if (token.text === '[') return { kind: 'list', items: listUntil(']') };
    if (token.text === '{') {
      const entries: [Expression, Expression][] = [];
      while (!accept('}')) {
        const key = conditional();
        expect(':');
        entries.push([key, conditional()]);
        if (!is('}')) expect(',');
      }
      return { kind: 'map', entries };
    }
    throw new CelSyntaxError(`unexpected ${JSON.stringify(token.text)} at ${token.at} in ${JSON.stringify(source)}`);
  };

  const expression = conditional();
  if (peek().kind !== 'end')
    throw new CelSyntaxError(`unexpected ${JSON.stringify(peek().text)} at ${peek().at} in ${JSON.stringify(source)}`);
  return expression;
}
