import { describe, expect, test } from 'vitest';
import type { Pod, PodDisruptionBudget } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { isBlockedByPdb, isConflict, isForbidden, isNotFound } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { createTestServer, IN_DEFAULT, testPod } from './testing/test-server.ts';

const evict = (api: KubeApi, name: string, options: object = {}, dryRun = false) =>
  api.createSubresource(
    resources.pods,
    name,
    'eviction',
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...options },
    { ...IN_DEFAULT, dryRun },
  );

async function runningPod(api: KubeApi, { ready = true, phase = 'Running' } = {}): Promise<Pod> {
  await api.create(resources.pods, testPod('a', { nodeName: 'n1' }));
  const status = { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] };
  return api.patch(resources.pods, 'a', { type: 'merge', body: { status } }, { ...IN_DEFAULT, subresource: 'status' });
}

async function budget(api: KubeApi, status: object, spec: object = {}, name = 'budget'): Promise<void> {
  await api.create<PodDisruptionBudget>(resources.podDisruptionBudgets, {
    metadata: { name, namespace: 'default' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } }, ...spec },
  });
  await api.patch(
    resources.podDisruptionBudgets,
    name,
    { type: 'merge', body: { status: { observedGeneration: 1, ...status } } },
    { ...IN_DEFAULT, subresource: 'status' },
  );
}

describe('evictions', () => {
  test('without a budget mark the pod and begin its deletion', async () => {
    const { api } = createTestServer();
    await runningPod(api);
    expect(await evict(api, 'a')).toMatchObject({ status: 'Success' });
    expect(await api.get(resources.pods, 'a', IN_DEFAULT)).toMatchObject({
      metadata: { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 },
      status: {
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }),
        ]),
      },
    });
  });

  test('take one disruption from the budget, and name the pod until its controller has seen it', async () => {
    const { api } = createTestServer();
    await runningPod(api);
    await budget(api, { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 });
    await evict(api, 'a');
    expect((await api.get(resources.podDisruptionBudgets, 'budget', IN_DEFAULT)).status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { a: '2026-01-01T00:00:00Z' },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    });
  });

  test.each([
    [
      'none left',
      { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 },
      isBlockedByPdb,
      'The disruption budget budget needs 1 healthy pods and has 1 currently',
    ],
    [
      'status behind the spec',
      { observedGeneration: 0, disruptionsAllowed: 1 },
      isBlockedByPdb,
      'The disruption budget budget is still being processed by the server.',
    ],
    [
      'healthy, yet none allowed',
      { disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 1 },
      isBlockedByPdb,
      'The disruption budget budget does not allow evicting pods currently',
    ],
    [
      'failed sync',
      {
        disruptionsAllowed: 0,
        conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: 'no controller' }],
      },
      isBlockedByPdb,
      'The disruption budget budget does not allow evicting pods currently because it failed sync: no controller',
    ],
    [
      'negative',
      { disruptionsAllowed: -1 },
      isForbidden,
      'The disruption budget budget does not allow evicting pods currently: pdb disruptions allowed is negative',
    ],
  ])('are refused by a budget: %s', async (_, status, meaning, message) => {
    const { api } = createTestServer();
    await runningPod(api);
    await budget(api, status);
    const error = await evict(api, 'a').catch((reason: unknown) => reason);
    expect(meaning(error)).toBe(true);
    expect(error).toMatchObject({ status: { details: { causes: [{ reason: 'DisruptionBudget', message }] } } });
    expect((await api.get(resources.pods, 'a', IN_DEFAULT)).metadata?.deletionTimestamp).toBeUndefined();
  });

  test('with several budgets on the pod are a server error', async () => {
    const { api } = createTestServer();
    await runningPod(api);
    await budget(api, { disruptionsAllowed: 5 }, {}, 'one');
    await budget(api, { disruptionsAllowed: 5 }, {}, 'two');
    await expect(evict(api, 'a')).rejects.toMatchObject({
      httpStatus: 500,
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  });

  test.each(['Pending', 'Succeeded', 'Failed'])('of a pod in phase %s need no budget', async (phase) => {
    const { api } = createTestServer();
    await runningPod(api, { phase, ready: false });
    await budget(api, { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1 });
    await evict(api, 'a');
    const left = await api.get(resources.pods, 'a', IN_DEFAULT).catch((reason: unknown) => reason);
    expect(isNotFound(left) || (left as Pod).metadata?.deletionTimestamp !== undefined).toBe(true);
  });

  test.each([
    ['AlwaysAllow', { currentHealthy: 0, desiredHealthy: 1 }, true],
    ['IfHealthyBudget', { currentHealthy: 0, desiredHealthy: 1 }, false],
    ['IfHealthyBudget', { currentHealthy: 1, desiredHealthy: 1 }, true],
    [undefined, { currentHealthy: 1, desiredHealthy: 1 }, true],
    [undefined, { currentHealthy: 0, desiredHealthy: 0 }, false],
  ])('of an unready pod under policy %s with %o: %s', async (policy, health, allowed) => {
    const { api } = createTestServer();
    await runningPod(api, { ready: false });
    await budget(
      api,
      { disruptionsAllowed: 0, ...health },
      policy === undefined ? {} : { unhealthyPodEvictionPolicy: policy },
    );
    const outcome = await evict(api, 'a').then(
      () => true,
      (error: unknown) => !isBlockedByPdb(error),
    );
    expect(outcome).toBe(allowed);
    // Unready pods do not use up the budget.
    expect((await api.get(resources.podDisruptionBudgets, 'budget', IN_DEFAULT)).status?.disruptionsAllowed).toBe(0);
  });

  test('honour preconditions, and dry run changes nothing', async () => {
    const { api } = createTestServer();
    const { metadata } = await runningPod(api);
    await budget(api, { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 });
    await expect(evict(api, 'a', { deleteOptions: { preconditions: { uid: 'another' } } }, true)).rejects.toSatisfy(
      isConflict,
    );
    await evict(api, 'a', {}, true);
    await evict(api, 'a', { deleteOptions: { dryRun: ['All'] } });
    expect((await api.get(resources.pods, 'a', IN_DEFAULT)).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
    expect((await api.get(resources.podDisruptionBudgets, 'budget', IN_DEFAULT)).status?.disruptionsAllowed).toBe(1);
    await evict(api, 'a', { deleteOptions: { preconditions: { uid: metadata?.uid }, gracePeriodSeconds: 5 } });
    expect((await api.get(resources.pods, 'a', IN_DEFAULT)).metadata?.deletionGracePeriodSeconds).toBe(5);
  });

  test('of what is not there are 404, under another name 400', async () => {
    const { api } = createTestServer();
    await expect(evict(api, 'a')).rejects.toSatisfy(isNotFound);
    await runningPod(api);
    await expect(evict(api, 'a', { metadata: { name: 'b' } })).rejects.toThrow(
      'name in URL does not match name in Eviction object',
    );
  });
});

describe('bindings', () => {
  const bind = (api: KubeApi, node: string) =>
    api.createSubresource(
      resources.pods,
      'a',
      'binding',
      { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name: node } },
      IN_DEFAULT,
    );

  test('assign a pod once, with the zone of its node', async () => {
    const { api } = createTestServer();
    await api.create(resources.nodes, { metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'z1' } } });
    await api.create(resources.pods, testPod('a'));
    await bind(api, 'n1');
    expect(await api.get(resources.pods, 'a', IN_DEFAULT)).toMatchObject({
      metadata: { generation: 1, labels: { 'topology.kubernetes.io/zone': 'z1' } },
      spec: { nodeName: 'n1' },
      status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
    });
    await expect(bind(api, 'n2')).rejects.toThrow(
      'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
    );
  });

  test('refuse gated pods', async () => {
    const { api } = createTestServer();
    await api.create(resources.pods, {
      ...testPod('a'),
      spec: { containers: [{ name: 'm', image: 'i' }], schedulingGates: [{ name: 'example.com/gate' }] },
    });
    await expect(bind(api, 'n1')).rejects.toThrow('pod a has non-empty .spec.schedulingGates');
  });
});
