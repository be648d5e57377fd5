/** Assertions of a scenario: a figure of the report, a comparison, and a number or another figure. */
import * as z from 'zod';
import { type Figure, type Figures, figureMeanings, isFigure } from '../figures.ts';

/** Exact: figures are rounded for people only. */
const operators = {
  '<=': (left: number, right: number) => left <= right,
  '>=': (left: number, right: number) => left >= right,
  '==': (left: number, right: number) => left === right,
  '<': (left: number, right: number) => left < right,
  '>': (left: number, right: number) => left > right,
} as const;
type Operator = keyof typeof operators;

export interface Assertion {
  /** As written. */
  readonly text: string;
  readonly figure: Figure;
  readonly operator: Operator;
  readonly limit: number | Figure;
}

export interface CheckedAssertion {
  readonly text: string;
  readonly actual: number;
  readonly limit: number;
  readonly ok: boolean;
}

const FORM =
  'write a figure, a comparison and a number or figure, such as "spotGap <= 2" or "evictions <= evictionsBound"';

/** Refuses what could never be checked, with all that could: a misspelt figure must not pass for one that holds. */
export const assertion = z.string().transform((text, context): Assertion => {
  const [, figure = '', operator = '', right = ''] = /^\s*(\w+)\s*(<=|>=|==|<|>)\s*(\S+)\s*$/.exec(text) ?? [];
  const fail = (message: string): never => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  if (!isOperator(operator)) return fail(`${JSON.stringify(text)} is no assertion: ${FORM}`);
  if (!isFigure(figure)) return fail(unknownFigure(figure));
  if (isFigure(right)) return { text: text.trim(), figure, operator, limit: right };
  if (!/^-?\d+(\.\d+)?$/.test(right)) return fail(`${right} is neither a number nor a figure: ${FORM}`);
  return { text: text.trim(), figure, operator, limit: Number(right) };
});

export function checkAssertion({ text, figure, operator, limit }: Assertion, figures: Figures): CheckedAssertion {
  const actual = figures[figure];
  const right = typeof limit === 'number' ? limit : figures[limit];
  return { text, actual, limit: right, ok: operators[operator](actual, right) };
}

function isOperator(text: string): text is Operator {
  return Object.hasOwn(operators, text);
}

function unknownFigure(name: string): string {
  return `there is no figure ${JSON.stringify(name)}; there are ${Object.keys(figureMeanings).join(', ')}`;
}
