/**
 * One replica decides for all: the others send their reviews to the leader, and decide by themselves only when it does
 * not answer.
 */
import type { MutateHandler } from './handler.ts';
import type { HttpAnswer } from './http-answer.ts';
import type { BodyHandler } from './server.ts';

/** Sends a review to the leader. Undefined: no answer within the budget, or nobody to ask. Never rejects. */
export type Forward = (body: string) => Promise<HttpAnswer | undefined>;

export interface CoordinationOptions {
  readonly decide: MutateHandler;
  readonly isLeader: () => boolean;
  readonly forward: Forward;
}

/**
 * Claims are exact only where one process makes them all (hazard H13). A follower that must decide alone has its pods
 * stamped as unconfirmed, and the leader repairs what came out wrong: a pod is never kept waiting for exactness.
 */
export function createCoordinatedHandler({ decide, isLeader, forward }: CoordinationOptions): BodyHandler {
  return (body, isForwarded) => {
    if (isLeader()) return decide(body, true);
    // Leadership has moved meanwhile: answer, rather than send it round in circles.
    if (isForwarded) return decide(body, false);
    return forward(body).then((answer) => answer ?? decide(body, false));
  };
}
