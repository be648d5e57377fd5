import { describe, expect, test } from 'vitest';
import type { Status } from './core.ts';
import {
  isAlreadyExists,
  isBlockedByPdb,
  isConflict,
  isExpired,
  isNotFound,
  isThrottled,
  isTooLargeResourceVersion,
  KubeError,
  missingRight,
  rightText,
  unless,
} from './kube-error.ts';

const refusal = (message: string, code = 403): KubeError => new KubeError(code, undefined, message);

describe('an answer other than success', () => {
  test('says what the server said, else what the client knows of it', () => {
    const status: Status = { message: 'pods "web-1" not found', reason: 'NotFound' };
    const told = new KubeError(404, status, 'HTTP 404', 2_000);
    expect(told).toMatchObject({ message: status.message, reason: 'NotFound', status, retryAfterMillis: 2_000 });
    expect(new KubeError(502, undefined, 'HTTP 502')).toMatchObject({
      message: 'HTTP 502',
      reason: '',
      httpStatus: 502,
    });
    expect(new KubeError(500, { message: '' }, 'HTTP 500').message).toBe('HTTP 500');
  });

  const meanings = {
    isNotFound,
    isConflict,
    isAlreadyExists,
    isExpired,
    isTooLargeResourceVersion,
    isBlockedByPdb,
    isThrottled,
  };
  const meaningsOf = (error: unknown): string[] =>
    Object.entries(meanings).flatMap(([name, holds]) => (holds(error) ? [name] : []));
  const caused = (reason: string): Status => ({ details: { causes: [{ reason }] } });

  test.each<[string, number, Status | undefined, readonly string[]]>([
    ['there is none', 404, undefined, ['isNotFound']],
    ['another wrote it', 409, { reason: 'Conflict' }, ['isConflict']],
    ['there is one', 409, { reason: 'AlreadyExists' }, ['isAlreadyExists']],
    ['too old', 410, undefined, ['isExpired']],
    ['too old, in a watch', 500, { reason: 'Expired' }, ['isExpired']],
    [
      'newer than the server',
      504,
      { reason: 'Timeout', ...caused('ResourceVersionTooLarge') },
      ['isTooLargeResourceVersion'],
    ],
    [
      'newer, from older servers',
      504,
      { reason: 'Timeout', message: 'Too large resource version: 9' },
      ['isTooLargeResourceVersion'],
    ],
    ['a time-out of another cause', 504, { reason: 'Timeout' }, []],
    ['a budget', 429, caused('DisruptionBudget'), ['isBlockedByPdb']],
    ['too much asked', 429, undefined, ['isThrottled']],
    ['not now', 503, undefined, ['isThrottled']],
    ['a budget told with another status', 500, caused('DisruptionBudget'), []],
  ])('has one meaning: %s', (_name, code, status, expected) => {
    expect(meaningsOf(new KubeError(code, status, ''))).toEqual(expected);
  });

  test('what the network says has none', () => {
    expect(meaningsOf(Object.assign(new Error('reset'), { httpStatus: 404, reason: 'Expired' }))).toEqual([]);
  });
});

describe('the right that is missing', () => {
  test.each([
    [
      'pods "web-1" is forbidden: User "system:serviceaccount:s:stowage" cannot patch resource "pods/resize" in API group "" in the namespace "shop"',
      'patch pods/resize in namespace shop',
    ],
    [
      'nodes is forbidden: User "x" cannot list resource "nodes" in API group "" at the cluster scope',
      'list nodes in the whole cluster',
    ],
    [
      'podallocations.allocation.mbcas.io "a" is forbidden: User "x" cannot create resource "podallocations" in API group "allocation.mbcas.io" in the namespace "shop": RBAC: role.rbac "y" not found',
      'create podallocations.allocation.mbcas.io in namespace shop',
    ],
  ])('is named as authorization says it: %s', (message, expected) => {
    const right = missingRight(refusal(message));
    expect(right && rightText(right)).toBe(expected);
  });

  test.each([
    [
      'a quota',
      refusal(
        'pods "web-1" is forbidden: exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=1, limited: requests.cpu=1',
      ),
    ],
    ['a webhook', refusal('admission webhook "sizes.example.com" denied the request: no')],
    ['a namespace that ends', refusal('unable to create new content in namespace shop because it is being terminated')],
    ['another answer with such a text', refusal('User "x" cannot list resource "nodes"', 500)],
    ['no answer', new Error('User "x" cannot list resource "nodes"')],
  ])('is none for %s', (_, error) => {
    expect(missingRight(error)).toBeUndefined();
  });
});

describe('a call unless', () => {
  const gone = new KubeError(404, { code: 404, reason: 'NotFound' }, 'gone');

  test('it fails as expected, which is no answer', async () => {
    expect(await unless(isNotFound, Promise.reject(gone))).toBeUndefined();
    expect(await unless(isNotFound, Promise.resolve('there'))).toBe('there');
  });

  test('any other failure is one', async () => {
    await expect(unless(isConflict, Promise.reject(gone))).rejects.toBe(gone);
  });
});
