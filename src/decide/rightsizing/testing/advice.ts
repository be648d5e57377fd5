/** Advice for tests of what is made of it. */
import type { ResourceAdvice } from '../advice.ts';

/** A change to this request that is due, in one step, with nothing noted about how it came to be. */
export function dueAdvice(request: number, limit?: number): ResourceAdvice {
  return { target: request, request, limit, targetLimit: limit, isDue: true, held: undefined, notes: [] };
}
