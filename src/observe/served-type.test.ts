import { describe, expect, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { createMemoryApi } from '../kube/testing/memory-api.ts';
import { kubeError } from '../kube/testing/scripted-api.ts';
import { ConnectionError } from '../kube/transport/transport.ts';
import { lookForType, pauseAfter } from './served-type.ts';

const { signal } = new AbortController();
const rollouts = { plural: 'rollouts', kind: 'Rollout', namespaced: true, subresources: [] };
const sought = { apiVersion: 'argoproj.io/v1alpha1', isIt: ({ kind }: { kind: string }) => kind === 'Rollout' };

/** An API that serves Rollouts and answers a list with `list`. */
function serving(list: KubeApi['list']): KubeApi {
  return { ...createMemoryApi().api, discover: async () => [rollouts], list };
}
const failing = (error: unknown) => serving(() => Promise.reject(error));

describe('looking for a type', () => {
  test('served and to be read: the type is told as the cluster names it', async () => {
    const asked: unknown[] = [];
    const api = serving(async (type, options) => {
      asked.push(type, options?.namespace);
      return { items: [], resourceVersion: '1' };
    });
    const found = await lookForType(api, { ...sought, probeNamespaces: ['shop'] }, signal);
    expect(found).toMatchObject({ kind: 'served', type: { group: 'argoproj.io', version: 'v1alpha1', ...rollouts } });
    expect(asked[1]).toBe('shop');
  });

  test.each([
    ['forbidden', kubeError(403, 'Forbidden', 'rollouts is forbidden'), { kind: 'unavailable', cause: 'forbidden' }],
    ['gone since discovery', kubeError(404, 'NotFound', 'no such type'), { kind: 'unavailable', cause: 'not-served' }],
    ['busy', kubeError(503, 'ServiceUnavailable', 'later'), { kind: 'unknown' }],
    ['cut off', new ConnectionError('reset'), { kind: 'unknown' }],
  ])('%s', async (_, error, expected) => {
    expect(await lookForType(failing(error), sought, signal)).toMatchObject(expected);
  });

  test('of several namespaces it is enough that it may be read in one', async () => {
    const readable = new Set(['mail']);
    const api = serving(async (_, options) => {
      if (!readable.has(options?.namespace ?? '')) throw kubeError(403, 'Forbidden', `not in ${options?.namespace}`);
      return { items: [], resourceVersion: '1' };
    });
    const look = () => lookForType(api, { ...sought, probeNamespaces: ['shop', 'mail', 'tools'] }, signal);
    expect(await look()).toMatchObject({ kind: 'served' });
    readable.clear();
    expect(await look()).toMatchObject({ cause: 'forbidden', error: expect.stringContaining('not in shop') });
  });

  test('a cluster without the type, or without discovery, does not serve it', async () => {
    const { discover: _, ...without } = failing(new Error('must not be asked'));
    expect(await lookForType({ ...without, discover: async () => [] }, sought, signal)).toMatchObject({
      cause: 'not-served',
      error: undefined,
    });
    expect(await lookForType(without, sought, signal)).toMatchObject({ cause: 'not-served' });
  });
});

test('an answer that says nothing is asked again soon, any other after a minute', () => {
  expect(pauseAfter({ kind: 'unknown', error: 'reset' })).toBe(2_000);
  expect(pauseAfter({ kind: 'unavailable', cause: 'not-served', error: undefined })).toBe(60_000);
});
