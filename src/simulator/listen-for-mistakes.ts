/** Listens to logs for what none should tell: mistakes of the program, which its loops survive and try again. */
import { describeError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';

type Records = Readonly<Record<string, unknown>>;

/** What JavaScript itself throws where a program is wrong; whatever is expected to fail has classes of its own. */
const MISTAKES = [TypeError, ReferenceError, RangeError, SyntaxError] as const;

/**
 * Passes everything on to `log`.
 * @param onTrouble told of each warning and error that carries what was thrown: of the mistake behind it, if it is one.
 */
export function listenForMistakes(log: Logger, onTrouble: (mistake: string | undefined) => void): Logger {
  const listen = (fields: Records, message: string): void => {
    if (!('error' in fields)) return;
    const mistake = mistakeBehind(fields['error']);
    onTrouble(mistake === undefined ? undefined : `${message} ${describeError(mistake)} ${placeOf(mistake)}`);
  };
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn(fields, message) {
      listen(fields, message);
      log.warn(fields, message);
    },
    error(fields, message) {
      listen(fields, message);
      log.error(fields, message);
    },
    child: (name, fields) => listenForMistakes(log.child(name, fields), onTrouble),
  };
}

function mistakeBehind(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  if (MISTAKES.some((each) => error instanceof each)) return error;
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return inner.map(mistakeBehind).find((each) => each !== undefined);
}

/** The line it was thrown from. */
function placeOf({ stack = '' }: Error): string {
  return /at .*/.exec(stack)?.[0] ?? '';
}
