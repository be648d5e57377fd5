import { describe, expect, test } from 'vitest';
import type { KubeObject, Pod } from '../../api/core.ts';
import { KubeError } from '../../api/kube-error.ts';
import { createDeferred } from '../../lib/deferred.ts';
import { createBinder } from './binder.ts';
import { createClusterState } from './cluster-state.ts';
import { podInfoOf } from './pod-info.ts';

const pod: Pod = { metadata: { namespace: 'shop', name: 'a', uid: 'u' }, spec: { containers: [] } };
const NODE = { name: 'n1' };

function setUp(seen: Pod | undefined = pod) {
  const cluster = createClusterState();
  const answer = createDeferred<KubeObject>();
  const calls: unknown[] = [];
  const warnings: string[] = [];
  const state = { failures: 0 };
  const binder = createBinder({
    api: {
      createSubresource: (type, name, subresource, body, options) => {
        calls.push([type.plural, name, subresource, body, options]);
        return answer.promise;
      },
    },
    pods: { get: () => seen },
    cluster,
    log: { warn: (_fields, message) => warnings.push(message) },
    onFailed: () => void state.failures++,
  });
  return { binder, cluster, answer, calls, warnings, state };
}

describe('a pod that is bound', () => {
  test('counts on its node before the API server has answered', async () => {
    const { binder, cluster, answer, calls } = setUp();
    const bound = binder.bind(podInfoOf(pod), NODE);
    expect([cluster.nodeOf('u'), binder.isBinding('u')]).toEqual(['n1', true]);
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'a', namespace: 'shop', uid: 'u' },
      target: { apiVersion: 'v1', kind: 'Node', name: 'n1' },
    };
    expect(calls).toEqual([['pods', 'a', 'binding', body, { namespace: 'shop' }]]);
    answer.resolve({});
    await bound;
    expect([cluster.nodeOf('u'), binder.isBinding('u')]).toEqual(['n1', true]);
  });

  test('is being bound until it has been seen on its node', async () => {
    const { binder, cluster, answer } = setUp();
    answer.resolve({});
    await binder.bind(podInfoOf(pod), NODE);
    binder.settle('u');
    expect([cluster.nodeOf('u'), binder.isBinding('u')]).toEqual(['n1', false]);
  });
});

describe('a pod that could not be bound', () => {
  test.each([
    ['gives its room back and is told of', new KubeError(500, undefined, 'out of order'), 1],
    ['is not told of where it is gone', new KubeError(404, undefined, 'gone'), 0],
  ])('%s', async (_name, error, told) => {
    const { binder, cluster, answer, warnings, state } = setUp();
    answer.reject(error);
    await binder.bind(podInfoOf(pod), NODE);
    expect([cluster.nodeOf('u'), binder.isBinding('u'), state.failures]).toEqual([undefined, false, 1]);
    expect(warnings).toHaveLength(told);
  });

  test('keeps its room where it has been seen on a node all the same: only the answer was lost', async () => {
    const { binder, cluster, answer, state } = setUp({ ...pod, spec: { containers: [], nodeName: 'n1' } });
    answer.reject(new Error('connection reset'));
    await binder.bind(podInfoOf(pod), NODE);
    expect([cluster.nodeOf('u'), binder.isBinding('u'), state.failures]).toEqual(['n1', false, 1]);
  });
});
