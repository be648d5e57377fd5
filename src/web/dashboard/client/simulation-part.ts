/** Figures of simulations, wherever they are shown. */
import type { FigureTold } from '../simulation-answer.ts';
import { count } from './format.ts';
import { badge } from './parts.ts';

export const verdict = (hasPassed: boolean): HTMLElement =>
  hasPassed ? badge('passed', 'good') : badge('failed', 'bad', 'An assertion or an invariant does not hold');

export const figureValue = (figures: readonly FigureTold[], name: string): number | undefined =>
  figures.find((figure) => figure.name === name)?.value;

/** `-` for one that is not there. */
export function figureText(figures: readonly FigureTold[], name: string): string {
  const value = figureValue(figures, name);
  return value === undefined ? '-' : figureOf(value);
}

/** As `stowage simulate` writes it. */
export const figureOf = (value: number): string => (Number.isInteger(value) ? count(value) : value.toFixed(2));

/** `+1.50`, `-3`, nothing where there is no difference. */
export function differenceOf(left: number, right: number): string {
  const by = right - left;
  return by === 0 ? '' : `${by > 0 ? '+' : ''}${figureOf(by)}`;
}
