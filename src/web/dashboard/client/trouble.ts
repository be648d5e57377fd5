/** What is told when the operator did not say what was asked: why, and of when what is still shown is. */
import { ApiError } from './api.ts';
import { timeOf } from './format.ts';

/** What went wrong with one refresh. */
export interface Trouble {
  readonly error: unknown;
  /** It took longer than anybody waits. */
  readonly isLate: boolean;
  /**
   * Of when what the page shows is, milliseconds since 1970 by the operator's clock; undefined: nothing is shown yet.
   */
  readonly drawnAt: number | undefined;
}

/** Whether the operator itself refused: then it can be reached, and what it said of itself holds. */
export const isRefusal = (error: unknown): boolean => error instanceof ApiError;

export function troubleText({ error, isLate, drawnAt }: Trouble): string {
  const age = drawnAt === undefined ? '' : ` What is shown is of ${timeOf(drawnAt)}.`;
  return `${cause(error, isLate)}${age}`;
}

function cause(error: unknown, isLate: boolean): string {
  if (error instanceof ApiError) return `${error.message}.`;
  return isLate || error instanceof TypeError
    ? 'The operator does not answer; trying again. Has the port-forward ended?'
    : `${String(error)}.`;
}
