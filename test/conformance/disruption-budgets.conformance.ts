import { expect, test } from 'vitest';
import { at } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { pod, workload, workloadSpec } from './objects.ts';
import { nameOf, podsOf, run } from './pods.ts';

describeOnBackends('PodDisruptionBudgets', (cluster) => {
  test.each([
    ['minAvailable 3 of 5, all healthy', { minAvailable: 3 }, 5, 5, { disruptionsAllowed: 2, desiredHealthy: 3 }],
    ['minAvailable 50 % of 5, rounded up', { minAvailable: '50%' }, 5, 5, { disruptionsAllowed: 2, desiredHealthy: 3 }],
    ['maxUnavailable 1 of 5', { maxUnavailable: 1 }, 5, 5, { disruptionsAllowed: 1, desiredHealthy: 4 }],
    [
      'maxUnavailable 30 % of 5, rounded up',
      { maxUnavailable: '30%' },
      5,
      5,
      { disruptionsAllowed: 2, desiredHealthy: 3 },
    ],
    [
      'maxUnavailable 1 of 5 with 2 not ready',
      { maxUnavailable: 1 },
      5,
      3,
      { disruptionsAllowed: 0, desiredHealthy: 4 },
    ],
    ['maxUnavailable 100 %', { maxUnavailable: '100%' }, 3, 1, { disruptionsAllowed: 1, desiredHealthy: 0 }],
    ['minAvailable above the number of pods', { minAvailable: 9 }, 3, 3, { disruptionsAllowed: 0, desiredHealthy: 9 }],
    ['neither of the two', {}, 3, 3, { disruptionsAllowed: 0, desiredHealthy: 0, expectedPods: 0 }],
  ])('%s', async (_, spec, replicas, healthy, expected) => {
    const { post, get, must, namespace, node, eventually } = cluster();
    const space = await namespace();
    const nodeName = await node();
    await must(post(space.deployments, workload('a', replicas)));
    const made = await podsOf(cluster(), space, replicas);
    for (const item of made.slice(0, healthy)) await run(cluster(), space, nameOf(item), nodeName);
    await must(
      post(space.budgets, { metadata: { name: 'a' }, spec: { selector: { matchLabels: { app: 'a' } }, ...spec } }),
    );
    await eventually(async () => {
      const { body } = await get(`${space.budgets}/a`);
      expect(body).toMatchObject({
        status: { observedGeneration: 1, expectedPods: replicas, currentHealthy: healthy, ...expected },
      });
      const isAllowed = expected.disruptionsAllowed > 0;
      expect(at(body, 'status', 'conditions', 0)).toMatchObject({
        type: 'DisruptionAllowed',
        status: isAllowed ? 'True' : 'False',
        reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
      });
    });
  });

  test('counts percentages of the scale, not of the pods that happen to exist', async () => {
    const { post, get, must, namespace, node, eventually } = cluster();
    const space = await namespace();
    const nodeName = await node();
    await must(
      post(space.statefulSets, { metadata: { name: 'a' }, spec: { ...workloadSpec('a', 4), serviceName: 'a' } }),
    );
    await podsOf(cluster(), space, 1);
    await run(cluster(), space, 'a-0', nodeName);
    await podsOf(cluster(), space, 2);
    await must(
      post(space.budgets, {
        metadata: { name: 'a' },
        spec: { selector: { matchLabels: { app: 'a' } }, minAvailable: '50%' },
      }),
    );
    await eventually(async () => {
      expect((await get(`${space.budgets}/a`)).body).toMatchObject({
        status: { expectedPods: 4, desiredHealthy: 2, currentHealthy: 1, disruptionsAllowed: 0 },
      });
    });
  });

  test('pods without a controller are not expected, but count as healthy; those of an unknown one stop everything', async () => {
    const { post, get, must, namespace, node, eventually } = cluster();
    const space = await namespace();
    const nodeName = await node();
    await must(post(space.deployments, workload('a', 2)));
    const made = await podsOf(cluster(), space, 2);
    for (const item of made) await run(cluster(), space, nameOf(item), nodeName);
    await must(post(space.pods, pod('bare', { labels: { app: 'b', budget: 'b' } })));
    await run(cluster(), space, 'bare', nodeName);
    const budget = (name: string, selector: object) =>
      must(post(space.budgets, { metadata: { name }, spec: { selector, maxUnavailable: 1 } }));
    await budget('mixed', { matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] });
    await eventually(async () =>
      expect((await get(`${space.budgets}/mixed`)).body).toMatchObject({
        status: { observedGeneration: 1, expectedPods: 2, desiredHealthy: 1, currentHealthy: 3, disruptionsAllowed: 2 },
      }),
    );
    // Of a kind that is not served, so that no garbage collector takes it for gone.
    const owner = { apiVersion: 'conformance.stowage.test/v1', kind: 'Ghost', name: 'a', uid: 'a', controller: true };
    const stray = pod('stray', { labels: { app: 'c' } });
    await must(
      post(space.pods, { ...stray, metadata: { name: 'stray', labels: { app: 'c' }, ownerReferences: [owner] } }),
    );
    const failed = (name: string) =>
      eventually(async () => {
        const { body } = await get(`${space.budgets}/${name}`);
        expect(body).toMatchObject({ status: { disruptionsAllowed: 0, conditions: [{ reason: 'SyncFailed' }] } });
        return body;
      });
    // The controller may meet the first budget before the pod, and count none; once that one failed, the pod is known.
    await budget('first', { matchLabels: { app: 'c' } });
    await failed('first');
    await budget('second', { matchLabels: { app: 'c' } });
    expect(at(await failed('second'), 'status', 'observedGeneration')).toBeUndefined();
  });
});
