import { expect, test } from 'vitest';
import { at, itemsOf, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { pod, workload } from './objects.ts';

const toSeconds = (time: string): number => Date.parse(time) / 1000;

describeOnBackends('deletions', (cluster) => {
  test('an unbound pod goes at once', async () => {
    const { post, get, delete: remove, must, namespace } = cluster();
    const { pods } = await namespace();
    await must(post(pods, pod('a')));
    const answer = await remove(`${pods}/a`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ kind: 'Pod', metadata: { deletionGracePeriodSeconds: 0 } });
    expect((await get(`${pods}/a`)).status).toBe(404);
  });

  test('a bound pod stays until its kubelet deletes it with grace 0', async () => {
    const { post, get, delete: remove, must, namespace, node } = cluster();
    const { pods } = await namespace();
    await must(post(pods, pod('a', { nodeName: await node() })));
    const answer = await remove(`${pods}/a`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ kind: 'Pod', metadata: { deletionGracePeriodSeconds: 30, generation: 2 } });
    // The time is when the grace ends, not when the delete came.
    const ends = toSeconds(textAt(answer.body, 'metadata', 'deletionTimestamp'));
    expect(ends - toSeconds(textAt(answer.body, 'metadata', 'creationTimestamp'))).toBeGreaterThanOrEqual(30);
    expect((await get(`${pods}/a`)).status).toBe(200);
    await must(remove(`${pods}/a`, { gracePeriodSeconds: 0 }));
    expect((await get(`${pods}/a`)).status).toBe(404);
  });

  test('the grace can be shortened, not extended', async () => {
    const { post, get, delete: remove, must, namespace, node } = cluster();
    const { pods } = await namespace();
    await must(post(pods, pod('a', { nodeName: await node() })));
    await must(remove(`${pods}/a`));
    await must(remove(`${pods}/a`, { gracePeriodSeconds: 5 }));
    expect((await get(`${pods}/a`)).body).toMatchObject({ metadata: { deletionGracePeriodSeconds: 5 } });
    await must(remove(`${pods}/a`, { gracePeriodSeconds: 50 }));
    expect((await get(`${pods}/a`)).body).toMatchObject({ metadata: { deletionGracePeriodSeconds: 5 } });
  });

  test('a pod that has ended goes at once, though bound', async () => {
    const { post, get, delete: remove, must, mergePatch, namespace, node } = cluster();
    const { pods } = await namespace();
    await must(post(pods, pod('a', { nodeName: await node() })));
    await must(mergePatch(`${pods}/a/status`, { status: { phase: 'Failed' } }));
    await must(remove(`${pods}/a`));
    expect((await get(`${pods}/a`)).status).toBe(404);
  });

  test('in the background takes dependents after the owner', async () => {
    const { post, get, delete: remove, must, namespace, eventually } = cluster();
    const { deployments, replicaSets, pods } = await namespace();
    await must(post(deployments, workload('a', 2)));
    await eventually(async () => expect(itemsOf(await get(pods))).toHaveLength(2));
    const answer = await remove(`${deployments}/a`, { propagationPolicy: 'Background' });
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Success' });
    expect((await get(`${deployments}/a`)).status).toBe(404);
    await eventually(async () => {
      expect(itemsOf(await get(replicaSets))).toEqual([]);
      expect(itemsOf(await get(pods))).toEqual([]);
    });
  });

  test('in the foreground keeps the owner until its dependents are gone', async () => {
    const { post, get, delete: remove, must, mergePatch, namespace, eventually } = cluster();
    const { deployments, replicaSets } = await namespace();
    await must(post(deployments, workload('a', 0)));
    const name = await eventually(async () => {
      const found = textAt((await get(replicaSets)).body, 'items', 0, 'metadata', 'name');
      return found;
    });
    await must(mergePatch(`${replicaSets}/${name}`, { metadata: { finalizers: ['stowage.test/hold'] } }));
    const answer = await remove(`${deployments}/a`, { propagationPolicy: 'Foreground' });
    expect(answer.body).toMatchObject({ kind: 'Deployment', metadata: { finalizers: ['foregroundDeletion'] } });
    await eventually(async () =>
      expect((await get(`${replicaSets}/${name}`)).body).toHaveProperty('metadata.deletionTimestamp'),
    );
    expect((await get(`${deployments}/a`)).status).toBe(200);
    await must(mergePatch(`${replicaSets}/${name}`, { metadata: { finalizers: null } }));
    await eventually(async () => expect((await get(`${deployments}/a`)).status).toBe(404));
  });

  test('orphaned dependents stay, without their owner', async () => {
    const { post, get, delete: remove, must, namespace, eventually } = cluster();
    const { replicaSets, pods } = await namespace();
    await must(post(replicaSets, workload('a', 1)));
    await eventually(async () => expect(itemsOf(await get(pods))).toHaveLength(1));
    await must(remove(`${replicaSets}/a`, { propagationPolicy: 'Orphan' }));
    await eventually(async () => {
      expect((await get(`${replicaSets}/a`)).status).toBe(404);
      const [left] = itemsOf(await get(pods));
      expect(left).toBeDefined();
      expect(at(left, 'metadata', 'ownerReferences')).toBeUndefined();
    });
  });

  test('an object whose owner does not exist is collected', async () => {
    const { post, get, must, namespace, eventually } = cluster();
    const { configMaps } = await namespace();
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: '00000000-0000-4000-8000-000000000000' },
    ];
    await must(post(configMaps, { metadata: { name: 'a', ownerReferences } }));
    await eventually(async () => expect((await get(`${configMaps}/a`)).status).toBe(404));
  });
});
