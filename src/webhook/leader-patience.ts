/**
 * How long the leader's answers are waited for: while it shows signs of life, up to a limit; else only for a moment.
 */
import type { Clock, Timer } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';

/** One for all waits: what one answer tells of the leader holds for those that wait for theirs. */
export interface LeaderPatience {
  /** Something has come from the leader, for whomever: it is only busy. */
  signOfLife(): void;
  /** Begins to wait for one answer. */
  wait(): Wait;
}

export interface Wait {
  /** Aborts when there is no point in waiting any longer. */
  readonly signal: AbortSignal;
  end(): void;
}

export interface LeaderPatienceOptions {
  readonly clock: Clock;
  /** The leader is given up when nothing at all has come from it for so long. A multiple of 20 ms, as the next. */
  readonly silenceMillis: Millis;
  /**
   * The same once it has been given up, until it shows a sign of life: it is asked on, but nobody waits long any more.
   */
  readonly mutedSilenceMillis: Millis;
  /** The longest wait for one answer, whatever comes for others. */
  readonly limitMillis: Millis;
}

/**
 * Silence is counted in steps of the own event loop, and a step that comes late counts once: a process that was held up
 * itself has heard nothing because it did not listen. What arrived meanwhile is read before the next step.
 */
const STEP_MILLIS: Millis = 20;

export function createLeaderPatience(options: LeaderPatienceOptions): LeaderPatience {
  const { clock, silenceMillis, mutedSilenceMillis, limitMillis } = options;
  const waiting = new Set<{ readonly begunStep: number; readonly limit: Millis; readonly giveUp: AbortController }>();
  let steps = 0;
  let lastSignStep = 0;
  let isMuted = false;
  let timer: Timer | undefined;

  const step = (): void => {
    steps++;
    const now = clock.now();
    const tolerated = isMuted ? mutedSilenceMillis : silenceMillis;
    for (const { begunStep, limit, giveUp } of waiting) {
      const silence = (steps - Math.max(begunStep, lastSignStep)) * STEP_MILLIS;
      if (silence < tolerated && now < limit) continue;
      isMuted ||= silence >= tolerated;
      giveUp.abort(new Error('the leader did not answer in time'));
    }
    timer = waiting.size > 0 ? clock.setTimer(STEP_MILLIS, step) : undefined;
  };

  return {
    signOfLife() {
      lastSignStep = steps;
      isMuted = false;
    },
    wait() {
      const giveUp = new AbortController();
      const entry = { begunStep: steps, limit: clock.now() + limitMillis, giveUp };
      waiting.add(entry);
      timer ??= clock.setTimer(STEP_MILLIS, step);
      return {
        signal: giveUp.signal,
        end() {
          waiting.delete(entry);
          if (waiting.size > 0) return;
          timer?.cancel();
          timer = undefined;
        },
      };
    },
  };
}
