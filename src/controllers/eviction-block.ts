/** Answers of the eviction API that mean "not now", as a guard would have said them. */
import type { EvictionOutcome } from '../act/eviction-outcome.ts';
import type { Block } from '../guard/context.ts';
import { object } from '../guard/objection.ts';
import { describeReason } from '../lib/reasons.ts';
import type { Millis } from '../lib/units.ts';

/** Neither an eviction nor a failure. */
export type HeldEviction = Extract<
  EvictionOutcome,
  { readonly result: 'blocked-by-pdb' | 'multiple-pdbs' | 'changed' | 'throttled' }
>;

/** @param retryMillis when to ask again, where the API server does not say. */
export function blockOfEviction(outcome: HeldEviction, pod: string, retryMillis: Millis): Block {
  if (outcome.result === 'throttled') return blockOfThrottling(outcome.retryAfterMillis);
  if (outcome.result === 'changed') return { rule: 'api', ...object('PreconditionFailed', { pod }, retryMillis) };
  const reason = outcome.result === 'blocked-by-pdb' ? 'BlockedByPdb' : 'MultiplePdbs';
  const { advice } = describeReason(reason);
  // The API server's own words: they name the budgets.
  return { rule: 'api', reason, message: outcome.message, advice, retryAfterMillis: retryMillis };
}

export function blockOfThrottling(retryAfterMillis: Millis): Block {
  const retryAfter = `${Math.ceil(retryAfterMillis / 1000)}s`;
  return { rule: 'api', ...object('ThrottledByApi', { retryAfter }, retryAfterMillis) };
}
