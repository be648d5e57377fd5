import { describe, expect, test } from 'vitest';
import { KubeError, missingRight, rightText } from './kube-error.ts';

const refusal = (message: string, code = 403): KubeError => new KubeError(code, undefined, message);

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
