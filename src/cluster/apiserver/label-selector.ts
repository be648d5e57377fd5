/** Label selectors as clients write them: `app=web,tier in (a,b),!old`. Source: apimachinery pkg/labels/selector.go. */
import { labelValueProblem, qualifiedNameProblem } from './object-meta.ts';
import { badRequest } from './status-error.ts';

/** One term: what is asked of the label `key`. */
export interface Requirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | '!' | '>' | '<';
  readonly values: readonly string[];
}

type Token =
  | { readonly kind: 'symbol'; readonly text: string }
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'end'; readonly text: '' };

const SYMBOLS = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'];
const END: Token = { kind: 'end', text: '' };

/** Words end at white space and at symbols; whatever else is in them is judged later. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /\s+|(==|!=|[=!(),<>])|([^\s=!(),<>]+)/g;
  for (const [, symbol, word] of text.matchAll(pattern)) {
    if (symbol !== undefined && SYMBOLS.includes(symbol)) tokens.push({ kind: 'symbol', text: symbol });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
  }
  return [...tokens, END];
}

/** What is wrong with one term; told after `unable to parse requirement`. */
class BadRequirement extends Error {
  override readonly name = 'BadRequirement';
}

/** @throws 400 in the words of the real server */
export function parseRequirements(text: string): readonly Requirement[] {
  const tokens = tokensOf(text);
  let position = 0;
  const peek = (): Token => tokens[position] ?? END;
  const next = (): Token => {
    const token = peek();
    position++;
    return token;
  };
  const is = (symbol: string): boolean => peek().kind === 'symbol' && peek().text === symbol;

  const valueList = (): string[] => {
    const open = next();
    if (open.kind !== 'symbol' || open.text !== '(') throw new BadRequirement(`found '${open.text}' expected: '('`);
    if (is(')')) {
      next();
      return [''];
    }
    const first = peek();
    if (first.kind !== 'word' && !is(','))
      throw new BadRequirement(`found '${first.text}', expected: ',', ')' or identifier`);
    const values = new Set<string>();
    for (;;) {
      const token = next();
      if (token.kind === 'word') {
        values.add(token.text);
        if (is(')')) break;
        if (!is(',')) throw new BadRequirement(`found '${peek().text}', expected: ',' or ')'`);
      } else if (token.kind === 'symbol' && token.text === ',') {
        if (values.size === 0 || is(',') || is(')')) values.add('');
        if (is(')')) break;
      } else throw new BadRequirement(`found '${token.text}', expected: ',', or identifier`);
    }
    next();
    return [...values].sort();
  };

  const exactValue = (): string => {
    if (peek().kind === 'end' || is(',')) return '';
    const token = next();
    if (token.kind !== 'word') throw new BadRequirement(`found '${token.text}', expected: identifier`);
    return token.text;
  };

  const requirement = (): Requirement => {
    const isAbsent = is('!');
    if (isAbsent) next();
    const { kind, text: key } = next();
    if (kind !== 'word') throw new BadRequirement(`found '${key}', expected: identifier`);
    const problem = qualifiedNameProblem(key);
    if (problem !== undefined)
      throw new BadRequirement(
        `<nil>: Invalid value: ${JSON.stringify(key)}: ${problem.replace('a qualified name', 'a valid label key')}`,
      );
    if (isAbsent) return { key, operator: '!', values: [] };
    if (peek().kind === 'end' || is(',')) return { key, operator: 'exists', values: [] };
    const { kind: operatorKind, text: operator } = next();
    if (operatorKind === 'word' && (operator === 'in' || operator === 'notin'))
      return checked({ key, operator, values: valueList() });
    if (operatorKind === 'symbol' && ['=', '==', '!=', '>', '<'].includes(operator)) {
      const values = [exactValue()];
      if (operator === '>' || operator === '<') return checked({ key, operator, values });
      return checked({ key, operator: operator === '!=' ? 'notin' : 'in', values });
    }
    throw new BadRequirement(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
  };

  const requirements: Requirement[] = [];
  while (peek().kind !== 'end') {
    if (peek().kind !== 'word' && !is('!'))
      throw badRequest(`found '${peek().text}', expected: !, identifier, or 'end of string'`);
    try {
      requirements.push(requirement());
    } catch (error) {
      if (error instanceof BadRequirement) throw badRequest(`unable to parse requirement: ${error.message}`);
      throw error;
    }
    if (peek().kind === 'end') break;
    if (!is(',')) throw badRequest(`found '${peek().text}', expected: ',' or 'end of string'`);
    next();
    if (peek().kind !== 'word' && !is('!')) throw badRequest(`found '${peek().text}', expected: identifier after ','`);
  }
  return requirements;
}

function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  for (const [index, value] of values.entries()) {
    if ((operator === '>' || operator === '<') && !/^[+-]?\d+$/.test(value))
      throw new BadRequirement(
        `values[${index}]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    const problem = labelValueProblem(value);
    if (problem !== undefined)
      throw new BadRequirement(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${problem}`);
  }
  return requirement;
}
