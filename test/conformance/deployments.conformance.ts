import { expect, test } from 'vitest';
import { refusedSince } from '../../src/observe/project-workload.ts';
import { at, itemsOf, type Namespace, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { workload, workloadSpec } from './objects.ts';
import { isLeaving, nameOf, podsOf, run } from './pods.ts';
import { quotaInForce } from './quotas.ts';

describeOnBackends('Deployments', (cluster) => {
  test('makes a ReplicaSet named after the hash of its template', async () => {
    const { post, get, must, namespace, eventually } = cluster();
    const { deployments, replicaSets } = await namespace();
    const owner = await must(post(deployments, workload('a', 4)));
    const made = await eventually(async () => {
      const [only] = itemsOf(await get(replicaSets));
      expect(only).toBeDefined();
      return only ?? {};
    });
    const hash = textAt(made, 'metadata', 'labels', 'pod-template-hash');
    expect(made).toMatchObject({
      metadata: {
        name: `a-${hash}`,
        labels: { app: 'a' },
        annotations: {
          'deployment.kubernetes.io/desired-replicas': '4',
          'deployment.kubernetes.io/max-replicas': '5',
          'deployment.kubernetes.io/revision': '1',
        },
        ownerReferences: [{ kind: 'Deployment', uid: textAt(owner, 'metadata', 'uid'), controller: true }],
      },
      spec: {
        replicas: 4,
        selector: { matchLabels: { app: 'a', 'pod-template-hash': hash } },
        template: { metadata: { labels: { app: 'a', 'pod-template-hash': hash } } },
      },
    });
    await eventually(async () => {
      expect((await get(`${deployments}/a`)).body).toMatchObject({
        metadata: { annotations: { 'deployment.kubernetes.io/revision': '1' } },
        status: { observedGeneration: 1, replicas: 4, updatedReplicas: 4, unavailableReplicas: 4 },
      });
    });
  });

  test('replaces pods within its surge and unavailability', async () => {
    const { post, get, must, mergePatch, namespace, node, eventually } = cluster();
    const space = await namespace();
    const nodeName = await node();
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    await must(post(space.deployments, { metadata: { name: 'a' }, spec: { ...workloadSpec('a', 2), strategy } }));
    const old = (await podsOf(cluster(), space, 2)).map(nameOf);
    for (const name of old) await run(cluster(), space, name, nodeName);
    await eventually(async () => {
      expect((await get(`${space.deployments}/a`)).body).toMatchObject({ status: { availableReplicas: 2 } });
    });
    await must(mergePatch(`${space.deployments}/a`, { spec: { template: { metadata: { annotations: { v: '2' } } } } }));
    // One more is made; none of the old goes while the new one is not ready.
    const during = (await podsOf(cluster(), space, 3)).map(nameOf);
    expect(during).toEqual(expect.arrayContaining(old));
    const [fresh = ''] = during.filter((name) => !old.includes(name));
    await run(cluster(), space, fresh, nodeName);
    await eventually(async () => {
      const staying = itemsOf(await get(space.pods))
        .filter((item) => !isLeaving(item))
        .map(nameOf);
      expect(staying).toContain(fresh);
      expect(staying.filter((name) => old.includes(name))).toHaveLength(1);
      expect(staying).toHaveLength(3);
    });
    expect(itemsOf(await get(space.replicaSets))).toHaveLength(2);
    expect((await get(`${space.deployments}/a`)).body).toMatchObject({
      metadata: { annotations: { 'deployment.kubernetes.io/revision': '2' } },
    });
  });

  test('is Available when enough pods are ready', async () => {
    const { post, get, must, namespace, node, eventually } = cluster();
    const space = await namespace();
    const nodeName = await node();
    await must(post(space.deployments, workload('a', 1)));
    const conditionsAre = (available: string) =>
      eventually(async () => {
        const { body } = await get(`${space.deployments}/a`);
        expect(at(body, 'status', 'conditions')).toEqual(
          expect.arrayContaining([expect.objectContaining({ type: 'Available', status: available })]),
        );
      });
    await conditionsAre('False');
    const [only] = await podsOf(cluster(), space, 1);
    await run(cluster(), space, nameOf(only ?? {}), nodeName);
    await conditionsAre('True');
    expect((await get(`${space.deployments}/a`)).body).toMatchObject({
      status: { replicas: 1, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 1 },
    });
  });

  test('tells why its pods are refused: by a LimitRange, which does not pass, or by a quota that is full', async () => {
    const { post, get, must, namespace, eventually } = cluster();
    const refusedIn = async (space: Namespace): Promise<number | undefined> => {
      await must(post(space.deployments, workload('a', 1)));
      return eventually(async () => {
        const { body } = await get(`${space.deployments}/a`);
        const conditions = at(body, 'status', 'conditions') as NonNullable<Parameters<typeof refusedSince>[0]>;
        expect(conditions).toContainEqual(expect.objectContaining({ type: 'ReplicaFailure', reason: 'FailedCreate' }));
        return refusedSince(conditions);
      });
    };
    const [full, bounded] = [await namespace(), await namespace()];
    await quotaInForce(cluster(), full, 'full', { hard: { pods: '0' } });
    const limits = [{ type: 'Pod', max: { cpu: '1' } }];
    await must(
      post(`/api/v1/namespaces/${bounded.name}/limitranges`, { metadata: { name: 'bounds' }, spec: { limits } }),
    );
    expect(await refusedIn(full)).toBeUndefined();
    expect(await refusedIn(bounded)).toEqual(expect.any(Number));
  });
});
