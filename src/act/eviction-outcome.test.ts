import { describe, expect, test } from 'vitest';
import { KubeError } from '../api/kube-error.ts';
import {
  type EvictionOutcome,
  type EvictionResult,
  isEnding,
  mayBeGone,
  outcomeOfEvictionError,
} from './eviction-outcome.ts';

const pdbCause = { causes: [{ reason: 'DisruptionBudget', message: 'needs 2 healthy pods and has 2 currently' }] };
const answer = (httpStatus: number, fields: object = {}, retryAfterMillis?: number) =>
  new KubeError(httpStatus, { message: 'said so', ...fields }, 'fallback', retryAfterMillis);

describe('case 68: answers of the eviction API are told apart', () => {
  test.each<[string, unknown, EvictionResult]>([
    ['404', answer(404, { reason: 'NotFound' }), 'gone'],
    ['409 for the uid', answer(409, { reason: 'Conflict' }), 'changed'],
    ['429 with a budget as cause', answer(429, { reason: 'TooManyRequests', details: pdbCause }), 'blocked-by-pdb'],
    ['429 without cause', answer(429, { reason: 'TooManyRequests' }), 'throttled'],
    ['503', answer(503), 'throttled'],
    [
      '500 for several budgets',
      answer(500, { message: 'This pod has more than one PodDisruptionBudget, which is not supported' }),
      'multiple-pdbs',
    ],
    ['500 otherwise', answer(500), 'failed'],
    ['500 of etcd', answer(500, { message: 'etcdserver: request timed out' }), 'unknown'],
    [
      '500 of the connection to etcd, which broke with the write on its way',
      answer(500, { message: 'rpc error: code = Unavailable desc = error reading from server: EOF' }),
      'unknown',
    ],
    ['500 of a time that ran out', answer(500, { message: 'context deadline exceeded' }), 'unknown'],
    [
      '500 of a webhook, before anything was done',
      answer(500, { message: 'failed calling webhook "x": context deadline exceeded (timed out)' }),
      'failed',
    ],
    ['502 of a gateway', answer(502), 'unknown'],
    ['504: the API server gave up waiting', answer(504, { reason: 'Timeout' }), 'unknown'],
    ['403', answer(403, { reason: 'Forbidden' }), 'forbidden'],
    ['422', answer(422), 'failed'],
    ['a broken connection', new Error('socket hang up'), 'unknown'],
    ['something thrown that is no error', 'odd', 'unknown'],
  ])('%s', (_, error, result) => {
    expect(outcomeOfEvictionError(error).result).toBe(result);
  });
});

describe('case 71: throttling is not a budget', () => {
  test('Retry-After is passed on', () => {
    expect(outcomeOfEvictionError(answer(429, {}, 7_000))).toEqual({ result: 'throttled', retryAfterMillis: 7_000 });
  });

  test('without Retry-After a second is waited', () => {
    expect(outcomeOfEvictionError(answer(503))).toEqual({ result: 'throttled', retryAfterMillis: 1_000 });
  });

  test('a budget that also says Retry-After is still a budget', () => {
    const error = answer(429, { details: pdbCause }, 10_000);
    expect(outcomeOfEvictionError(error)).toEqual({ result: 'blocked-by-pdb', message: 'said so' });
  });
});

describe('what an outcome means for the budget and for the cooldown', () => {
  const message = '';
  test.each<[EvictionOutcome, boolean, boolean]>([
    [{ result: 'evicted' }, true, true],
    [{ result: 'unknown', message }, true, true],
    [{ result: 'gone' }, false, true],
    [{ result: 'changed' }, false, false],
    [{ result: 'blocked-by-pdb', message }, false, false],
    [{ result: 'multiple-pdbs', message }, false, false],
    [{ result: 'throttled', retryAfterMillis: 1 }, false, false],
    [{ result: 'forbidden', message }, false, false],
    [{ result: 'failed', message }, false, false],
  ])('%j: keeps its place: %s; counts as disrupted: %s', (outcome, keepsPlace, isDisrupted) => {
    expect(isEnding(outcome)).toBe(keepsPlace);
    expect(mayBeGone(outcome)).toBe(isDisrupted);
  });
});
