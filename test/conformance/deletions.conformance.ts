import { expect, test } from 'vitest';
import { at, itemsOf, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { untilCollectorKnows } from './garbage-collection.ts';
import { pod, workload } from './objects.ts';

const toSeconds = (time: string): number => Date.parse(time) / 1000;

describeOnBackends('deletions', (cluster) => {
  test('delete answers Status with the uid, and the object is gone', async () => {
    const { post, get, delete: remove, must, namespace } = cluster();
    const { configMaps } = await namespace();
    const created = await must(post(configMaps, { metadata: { name: 'a' } }));
    const deleted = await remove(`${configMaps}/a`);
    expect(deleted.status).toBe(200);
    expect(deleted.body).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: textAt(created, 'metadata', 'uid') },
    });
    expect((await get(`${configMaps}/a`)).status).toBe(404);
  });

  test.each([
    ['uid', { uid: 'another' }, 'the UID in the precondition (another) does not match the UID in record'],
    [
      'resourceVersion',
      { resourceVersion: '1' },
      'the ResourceVersion in the precondition (1) does not match the ResourceVersion in record',
    ],
  ])('delete with another %s as precondition conflicts', async (_, preconditions, message) => {
    const { post, get, delete: remove, must, namespace } = cluster();
    const { configMaps } = await namespace();
    await must(post(configMaps, { metadata: { name: 'a' } }));
    const { status, body } = await remove(`${configMaps}/a`, { preconditions });
    expect(status).toBe(409);
    expect(body).toMatchObject({ reason: 'Conflict' });
    expect(body['message']).toContain(message);
    expect((await get(`${configMaps}/a`)).status).toBe(200);
  });

  test('a dry run asked for in the body of a delete deletes nothing', async () => {
    const { post, get, delete: remove, must, namespace } = cluster();
    const { configMaps } = await namespace();
    await must(post(configMaps, { metadata: { name: 'a' } }));
    expect((await remove(`${configMaps}/a`, { dryRun: ['All'] })).status).toBe(200);
    expect((await get(`${configMaps}/a`)).status).toBe(200);
    expect((await remove(configMaps, { dryRun: ['All'] })).status).toBe(200);
    expect((await get(`${configMaps}/a`)).status).toBe(200);
    expect((await remove(`${configMaps}/a`, { dryRun: ['Some'] })).status).toBe(422);
  });

  test('a namespace that goes stays while something in it does, whoever writes to it meanwhile', async () => {
    const { post, get, delete: remove, mergePatch, must, namespace } = cluster();
    const { name, configMaps } = await namespace();
    await must(post(configMaps, { metadata: { name: 'a', finalizers: ['stowage.test/hold'] } }));
    await must(remove(`/api/v1/namespaces/${name}`));
    await must(mergePatch(`/api/v1/namespaces/${name}`, { metadata: { labels: { touched: 'yes' } } }));
    expect((await get(`/api/v1/namespaces/${name}`)).body).toMatchObject({ status: { phase: 'Terminating' } });
    await must(mergePatch(`${configMaps}/a`, { metadata: { finalizers: [] } }));
  });

  test('a finalizer keeps a deleted object until it is removed', async () => {
    const { post, get, delete: remove, mergePatch, must, namespace } = cluster();
    const { configMaps } = await namespace();
    await must(post(configMaps, { metadata: { name: 'a', finalizers: ['stowage.test/hold'] } }));
    const deleted = await remove(`${configMaps}/a`);
    expect(deleted.status).toBe(200);
    expect((await get(`${configMaps}/a`)).body).toHaveProperty('metadata.deletionTimestamp');
    const added = await mergePatch(`${configMaps}/a`, {
      metadata: { finalizers: ['stowage.test/hold', 'stowage.test/more'] },
    });
    expect(added.status).toBe(422);
    await must(mergePatch(`${configMaps}/a`, { metadata: { finalizers: [] } }));
    expect((await get(`${configMaps}/a`)).status).toBe(404);
  });

  test('delete of a collection takes what the selector matches', async () => {
    const { post, get, delete: remove, must, namespace } = cluster();
    const { configMaps } = await namespace();
    for (const [name, tier] of [
      ['a', 'x'],
      ['b', 'x'],
      ['c', 'y'],
    ])
      await must(post(configMaps, { metadata: { name, labels: { tier } } }));
    const { status, body } = await remove(`${configMaps}?labelSelector=tier%3Dx`);
    expect(status).toBe(200);
    expect(body['kind']).toBe('ConfigMapList');
    const left = await get(`${configMaps}?labelSelector=tier`);
    expect(left.body).toMatchObject({ items: [{ metadata: { name: 'c' } }] });
  });

  test('a namespace that is being deleted refuses new content and then goes', async () => {
    const { post, get, delete: remove, must, eventually, namespace } = cluster();
    const { configMaps, pods, name } = await namespace();
    // A pod with a finalizer keeps the namespace terminating for as long as the test needs.
    const held = { metadata: { name: 'held', finalizers: ['stowage.test/hold'] }, data: {} };
    await must(post(configMaps, held));
    const deleted = await remove(`/api/v1/namespaces/${name}`);
    expect(deleted.status).toBe(200);
    expect(deleted.body).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } });
    const late = await post(configMaps, { metadata: { name: 'late' } });
    expect(late.status).toBe(403);
    expect(late.body).toMatchObject({
      reason: 'Forbidden',
      details: {
        name: 'late',
        kind: 'configmaps',
        causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }],
      },
    });
    expect(late.body['message']).toBe(
      `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
    );
    expect((await post(pods, { metadata: { name: 'late' } })).status).not.toBe(201);
    await eventually(async () => {
      expect((await get(`${configMaps}/held`)).body).toHaveProperty('metadata.deletionTimestamp');
    });
    await must(cluster().mergePatch(`${configMaps}/held`, { metadata: { finalizers: null } }));
    await eventually(async () => expect((await get(`/api/v1/namespaces/${name}`)).status).toBe(404));
  });

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
    await untilCollectorKnows(cluster(), replicaSets, workload('orphan', 0));
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
    await untilCollectorKnows(cluster(), pods, pod('orphan'));
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
