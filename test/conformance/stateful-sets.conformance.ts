import { expect, test } from 'vitest';
import { at, namesOf, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';
import { workloadSpec } from './objects.ts';
import { nameOf, podsOf, run } from './pods.ts';

describeOnBackends('StatefulSets', (cluster) => {
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const stateful = (extra: object, replicas = 3): Json => ({
    metadata: { name: 'a' },
    spec: { ...workloadSpec('a', replicas), serviceName: 'a', ...extra },
  });

  test('makes one pod at a time, from the first ordinal, each after the one before is ready', async () => {
    const { post, must, namespace, node } = cluster();
    const space = await namespace();
    const nodeName = await node();
    await must(post(space.statefulSets, stateful({ ordinals: { start: 2 } })));
    for (const [made, name] of ['a-2', 'a-3', 'a-4'].entries()) {
      const names = (await podsOf(cluster(), space, made + 1)).map(nameOf);
      expect(names.at(-1)).toBe(name);
      await run(cluster(), space, name, nodeName);
    }
  });

  test('gives pods their identity and their claims', async () => {
    const { post, get, must, namespace } = cluster();
    const space = await namespace();
    await must(post(space.statefulSets, stateful({ volumeClaimTemplates: [claim] }, 1)));
    const [only] = await podsOf(cluster(), space, 1);
    expect(only).toMatchObject({
      metadata: {
        name: 'a-0',
        labels: {
          app: 'a',
          'apps.kubernetes.io/pod-index': '0',
          'statefulset.kubernetes.io/pod-name': 'a-0',
          'controller-revision-hash': expect.stringMatching(/^a-[0-9a-z]+$/),
        },
        ownerReferences: [{ kind: 'StatefulSet', name: 'a', controller: true, blockOwnerDeletion: true }],
      },
      spec: { hostname: 'a-0', volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-a-0' } }] },
    });
    expect((await get(`${space.claims}/data-a-0`)).body).toMatchObject({
      metadata: { labels: { app: 'a' } },
      spec: { accessModes: ['ReadWriteOnce'] },
      status: { phase: 'Pending' },
    });
  });

  test('with the Parallel policy makes all at once', async () => {
    const { post, must, namespace } = cluster();
    const space = await namespace();
    await must(post(space.statefulSets, stateful({ podManagementPolicy: 'Parallel' })));
    expect((await podsOf(cluster(), space, 3)).map(nameOf)).toEqual(['a-0', 'a-1', 'a-2']);
  });

  test('scaled down, gives up the highest ordinal and keeps its claim', async () => {
    const { post, get, must, mergePatch, delete: remove, namespace, node, eventually } = cluster();
    const space = await namespace();
    const nodeName = await node();
    await must(post(space.statefulSets, stateful({ podManagementPolicy: 'Parallel', volumeClaimTemplates: [claim] })));
    for (const item of await podsOf(cluster(), space, 3)) await run(cluster(), space, nameOf(item), nodeName);
    await eventually(async () => {
      expect((await get(`${space.statefulSets}/a`)).body).toMatchObject({ status: { readyReplicas: 3 } });
    });
    await must(mergePatch(`${space.statefulSets}/a/scale`, { spec: { replicas: 2 } }));
    expect((await podsOf(cluster(), space, 2)).map(nameOf)).toEqual(['a-0', 'a-1']);
    await must(remove(`${space.pods}/a-2`, { gracePeriodSeconds: 0 }));
    expect(namesOf(await get(space.claims))).toEqual(['data-a-0', 'data-a-1', 'data-a-2']);
  });

  test('makes a deleted pod anew under its name, only after the old one is gone', async () => {
    const { post, get, must, delete: remove, namespace, node, eventually } = cluster();
    const space = await namespace();
    await must(post(space.statefulSets, stateful({}, 1)));
    const [only] = await podsOf(cluster(), space, 1);
    await run(cluster(), space, 'a-0', await node());
    const oldUid = textAt(only, 'metadata', 'uid');
    await must(remove(`${space.pods}/a-0`));
    expect(at((await get(`${space.pods}/a-0`)).body, 'metadata', 'uid')).toBe(oldUid);
    await must(remove(`${space.pods}/a-0`, { gracePeriodSeconds: 0 }));
    await eventually(async () => {
      const { status, body } = await get(`${space.pods}/a-0`);
      expect(status).toBe(200);
      expect(at(body, 'metadata', 'uid')).not.toBe(oldUid);
    });
  });

  test('updates from the highest ordinal down to its partition', async () => {
    const { post, get, must, mergePatch, namespace, node, eventually } = cluster();
    const space = await namespace();
    const nodeName = await node();
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } };
    await must(post(space.statefulSets, stateful({ podManagementPolicy: 'Parallel', updateStrategy })));
    for (const item of await podsOf(cluster(), space, 3)) await run(cluster(), space, nameOf(item), nodeName);
    await eventually(async () => {
      expect((await get(`${space.statefulSets}/a`)).body).toMatchObject({ status: { readyReplicas: 3 } });
    });
    await must(
      mergePatch(`${space.statefulSets}/a`, { spec: { template: { metadata: { annotations: { v: '2' } } } } }),
    );
    await eventually(async () => {
      expect((await get(`${space.pods}/a-2`)).body).toHaveProperty('metadata.deletionTimestamp');
    });
    // Written after the pods were looked at.
    await eventually(async () => {
      const { body } = await get(`${space.statefulSets}/a`);
      expect(textAt(body, 'status', 'updateRevision')).not.toBe(textAt(body, 'status', 'currentRevision'));
    });
    for (const name of ['a-0', 'a-1']) {
      expect((await get(`${space.pods}/${name}`)).body).not.toHaveProperty('metadata.deletionTimestamp');
    }
  });
});
