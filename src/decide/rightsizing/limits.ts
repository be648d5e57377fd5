/**
 * Limits: what becomes of a container's limit when its request changes, and what an unchanged limit means for the
 * request.
 */
import type { LimitRule } from './policy.ts';

export interface LimitContext {
  readonly request: number | undefined;
  readonly limit: number | undefined;
  /** The limit never goes below this: the highest use seen. 0 for CPU, which is throttled and not killed. */
  readonly leastLimit: number;
  /** Why it is not lowered now, in words; left out or undefined: it may be. */
  readonly keptFor?: string | undefined;
}

/** What the container gets; `text` is for the explanation, and undefined where there is nothing to say. */
export interface LimitResult {
  readonly request: number;
  /** Undefined: the limit stays as it is. */
  readonly limit: number | undefined;
  readonly text: string | undefined;
}

/**
 * What the rule makes of the limit for this request. A container without a limit gets none: in place it could never be
 * taken away again (KEP-1287). A limit is never below its request, nor below `leastLimit`. By default none moves at
 * all: a CPU limit that shrank with its request made probes fail (rightsizing bug 23).
 */
export function applyLimitRule(request: number, rule: LimitRule, current: LimitContext): LimitResult {
  if (current.limit === undefined) return { request, limit: undefined, text: undefined };
  const wanted = wantedLimit(request, rule, current, current.limit);
  if (wanted === undefined) {
    if (request <= current.limit) return { request, limit: undefined, text: undefined };
    return {
      request: current.limit,
      limit: undefined,
      text: `the limit of ${current.limit} stays, and caps the request`,
    };
  }
  const limit = Math.max(wanted, Math.ceil(current.leastLimit), request);
  if (limit < current.limit && current.keptFor !== undefined)
    return { request, limit: current.limit, text: `the limit stays at ${current.limit}: ${current.keptFor}` };
  const why = limit > wanted ? ', held above the highest use seen' : '';
  return { request, limit, text: `limit ${current.limit} -> ${limit} (${rule.policy})${why}` };
}

function wantedLimit(request: number, rule: LimitRule, current: LimitContext, limit: number): number | undefined {
  switch (rule.policy) {
    case 'Keep':
      return undefined;
    case 'Ratio':
      // A request of 0 is set on purpose, and has no ratio to anything.
      if (current.request === 0) return undefined;
      // Without a request the limit was the request (the API's own default), so the ratio is 1. Up, so that no fraction
      // of a byte is ever asked for (kubernetes/autoscaler#3965).
      return Math.ceil((request * limit) / (current.request ?? limit));
    case 'Headroom':
      return request + rule.headroom;
    case 'Multiplier':
      return Math.trunc(request * rule.factor);
  }
}
