/** What is told when the operator did not say what was asked: why, and of when what is still shown is. */
import { ApiError, SilenceError } from './api.ts';
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

/** Whether nothing is heard: then nobody knows whether what the operator said of itself still holds. */
export const isSilence = ({ error, isLate }: Pick<Trouble, 'error' | 'isLate'>): boolean =>
  isLate || error instanceof SilenceError;

export function troubleText(trouble: Trouble): string {
  const { drawnAt } = trouble;
  const age = drawnAt === undefined ? '' : ` What is shown is of ${timeOf(drawnAt)}.`;
  return `${cause(trouble)}${age}`;
}

function cause({ error, isLate }: Trouble): string {
  if (error instanceof ApiError) return `${error.message}.`;
  if (isSilence({ error, isLate })) return 'The operator does not answer; trying again. Has the port-forward ended?';
  // A page that was left open while the operator was upgraded.
  return `What the operator answers cannot be shown (${String(error)}). Load the page anew: it may be of another version.`;
}
