/**
 * Whether a watch can be resumed where it stood after it failed. Where it cannot, everything is listed anew, which is
 * what an API server in trouble can bear least; where it is resumed at what can never be read, nothing is learnt any more.
 */
import { isExpired, isThrottled, isTooLargeResourceVersion, KubeError } from '../api/kube-error.ts';
import type { Clock } from '../lib/clock.ts';
import { StowageError } from '../lib/errors.ts';
import type { Millis } from '../lib/units.ts';
import { MalformedAnswerError } from './json-stream.ts';

/**
 * The API server has not come as far as what was seen of it: a backup was restored. It takes a watch from there all the
 * same, and is silent until it gets there, which may take hours.
 */
export class AheadOfServerError extends StowageError {
  override readonly name = 'AheadOfServerError';

  constructor(plural: string, position: string, current: string) {
    const what = `The API server is at version ${current} of ${plural}, behind ${position}, which it has sent before`;
    super('KUBE_AHEAD_OF_SERVER', `${what}: a backup was restored. They are listed anew.`);
  }
}

/** The server does not serve the position: too old, or newer than its own. */
export function isPositionRefused(error: unknown): boolean {
  return isExpired(error) || isTooLargeResourceVersion(error);
}

export interface PositionTrust {
  /**
   * Call once for each failure.
   * @param position where the watch stood; undefined: nothing was listed yet.
   * @param wasOpen the watch had been accepted when it failed.
   */
  keeps(error: unknown, position: string | undefined, wasOpen: boolean): boolean;
  /** A watch brought nothing new, and was ended before its time without a failure. */
  endedEarly(position: string | undefined): void;
  /**
   * Whether the server may be behind the position, which is to be asked before the next watch: what ends each quiet
   * watch before its time would keep that from ever being noticed. Told once in a while.
   */
  isToBeAsked(): boolean;
}

/** A position at which this many attempts in a row met trouble that may be its own is given up, or asked about. */
const MAX_ATTEMPTS = 3;
/** As seldom as after watches that are left alone: each question is a listing. */
const QUESTIONS_APART_MILLIS: Millis = 300_000;

/** For one reflector. */
export function createPositionTrust(clock: Clock): PositionTrust {
  const doubts = createTally();
  const cuts = createTally();
  let isToBeAsked = false;
  let askedMillis = Number.NEGATIVE_INFINITY;
  /** A quiet type keeps its position for days, and a backup may be restored at any time: it is asked about again. */
  const countCut = (position: string | undefined): void => {
    // The clock may have been set back since.
    const isTooSoon = Math.abs(clock.now() - askedMillis) < QUESTIONS_APART_MILLIS;
    isToBeAsked = cuts.add(position) >= MAX_ATTEMPTS && !isTooSoon;
  };
  /** Whether it is worth another attempt. */
  const tryAgain = (position: string | undefined): boolean => doubts.add(position) < MAX_ATTEMPTS;
  return {
    keeps(error, position, wasOpen) {
      // An event that cannot be read comes again wherever it is asked for from; a stream cut in the middle does not.
      if (error instanceof MalformedAnswerError) return tryAgain(position);
      if (error instanceof AheadOfServerError) return false;
      if (!(error instanceof KubeError)) {
        if (wasOpen) countCut(position);
        return true;
      }
      const { httpStatus, status } = error;
      if (isThrottled(error)) return true;
      if (isPositionRefused(error) || wasOpen) return false;
      const isTrouble = httpStatus >= 500 || httpStatus === 401 || httpStatus === 403;
      // What stands before the API server speaks no Status: it says nothing about what is behind it.
      return isTrouble && (status === undefined || tryAgain(position));
    },
    endedEarly: countCut,
    isToBeAsked() {
      const isNow = isToBeAsked;
      if (isNow) askedMillis = clock.now();
      isToBeAsked = false;
      return isNow;
    },
  };
}

/** Counts what happens at one position in a row. */
function createTally() {
  let at: string | undefined;
  let times = 0;
  return {
    add(position: string | undefined): number {
      times = position === at ? times + 1 : 1;
      at = position;
      return times;
    },
  };
}
