/**
 * One replica decides for all: the others send their reviews to the leader, and decide by themselves only when it does
 * not answer.
 */
import type { Clock } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';
import type { MutateHandler } from './handler.ts';
import { type HttpAnswer, problemAnswer } from './http-answer.ts';
import type { BodyHandler } from './server.ts';

/** Sends a review to the leader. Undefined: no answer within the budget, or nobody to ask. Never rejects. */
export type Forward = (body: string) => Promise<HttpAnswer | undefined>;

export interface CoordinationOptions {
  readonly decide: MutateHandler;
  readonly isLeader: () => boolean;
  /** The first lists are complete. */
  readonly isSynced: () => boolean;
  readonly forward: Forward;
  /** Told how long the leader's answer was waited for, whether or not it came. */
  readonly onForwarded: (tookMillis: Millis) => void;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Claims are exact only where one process makes them all (hazard H13). A follower that must decide alone has its pods
 * stamped as unconfirmed, and the leader repairs what came out wrong: a pod is never kept waiting for exactness.
 */
export function createCoordinatedHandler(options: CoordinationOptions): BodyHandler {
  const { decide, isLeader, isSynced, forward, onForwarded, clock } = options;
  return (body, isForwarded) => {
    // Whoever asks was ready before it was asked: it knows more than a leader that has just begun.
    if (isForwarded && !isSynced()) return problemAnswer(503, 'NOT_SYNCED', 'the first lists are not complete');
    if (isLeader()) return decide(body, true);
    // Leadership has moved meanwhile: answer, rather than send it round in circles.
    if (isForwarded) return decide(body, false);
    const startedAt = clock.now();
    return forward(body).then((answer) => {
      onForwarded(clock.now() - startedAt);
      return answer ?? decide(body, false);
    });
  };
}
