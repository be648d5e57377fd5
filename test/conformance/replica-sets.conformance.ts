import { expect, test } from 'vitest';
import { createSystemClock } from '../../src/lib/clock.ts';
import { at, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { runningStatus, workload } from './objects.ts';
import { nameOf, podsOf, run, untilReady } from './pods.ts';

/** Ages are compared by their order of magnitude only, so that a few seconds do not decide (feature LogarithmicScaleDown). */
const aMinuteAgo = (): string => new Date(createSystemClock().now() - 60_000).toISOString().replace(/\.\d+Z$/, 'Z');

describeOnBackends('ReplicaSets', (cluster) => {
  test('makes pods it owns, named after it, with the labels of its template', async () => {
    const { post, get, must, namespace, eventually } = cluster();
    const space = await namespace();
    const owner = await must(post(space.replicaSets, workload('a', 3)));
    const made = await podsOf(cluster(), space, 3);
    for (const item of made) {
      expect(item).toMatchObject({
        metadata: {
          name: expect.stringMatching(/^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/),
          generateName: 'a-',
          labels: { app: 'a' },
          ownerReferences: [
            {
              apiVersion: 'apps/v1',
              kind: 'ReplicaSet',
              name: 'a',
              uid: textAt(owner, 'metadata', 'uid'),
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
      });
    }
    await eventually(async () => {
      expect((await get(`${space.replicaSets}/a`)).body).toMatchObject({
        status: { replicas: 3, fullyLabeledReplicas: 3, observedGeneration: 1 },
      });
    });
  });

  test('replaces a pod as soon as its deletion begins', async () => {
    const { post, get, must, delete: remove, namespace, node } = cluster();
    const space = await namespace();
    await must(post(space.replicaSets, workload('a', 1)));
    const [first] = await podsOf(cluster(), space, 1);
    const name = nameOf(first ?? {});
    await run(cluster(), space, name, await node());
    await must(remove(`${space.pods}/${name}`));
    const [second] = await podsOf(cluster(), space, 1);
    expect(nameOf(second ?? {})).not.toBe(name);
    expect((await get(`${space.pods}/${name}`)).status).toBe(200);
  });

  test('scaled from 10 to 4, keeps the four of highest deletion cost', async () => {
    const { post, must, mergePatch, namespace, node } = cluster();
    const space = await namespace();
    const nodeName = await node();
    await must(post(space.replicaSets, workload('a', 10)));
    const names = (await podsOf(cluster(), space, 10)).map(nameOf);
    for (const [index, name] of names.entries()) {
      // Slot 1 is dearest: a lower slot goes last.
      const annotations = { 'controller.kubernetes.io/pod-deletion-cost': String(-(index + 1)) };
      await must(mergePatch(`${space.pods}/${name}`, { metadata: { annotations } }));
      await run(cluster(), space, name, nodeName);
    }
    await untilReady(cluster(), `${space.replicaSets}/a`, 10);
    await must(mergePatch(`${space.replicaSets}/a/scale`, { spec: { replicas: 4 } }));
    const kept = await podsOf(cluster(), space, 4);
    expect(kept.map(nameOf)).toEqual(names.slice(0, 4));
  });

  test.each([
    ['an unbound one before a bound one', 'unbound'],
    ['a pending one before a running one', 'pending'],
    ['one not ready before a ready one', 'unready'],
    ['the one ready for a shorter time', 'younger'],
    ['the one with more restarts', 'restarted'],
  ])('scaled down, gives up %s, whatever its name', async (_, odd) => {
    const { post, must, mergePatch, namespace, node } = cluster();
    const space = await namespace();
    const nodes = [await node(), await node()];
    await must(post(space.replicaSets, workload('a', 2)));
    const names = (await podsOf(cluster(), space, 2)).map(nameOf);
    // In some cases the first by name is kept, in some the last: the name must not matter.
    const [keep = '', give = ''] = odd.length % 2 === 0 ? names.toReversed() : names;
    if (odd === 'pending') await run(cluster(), space, give, nodes[1] ?? '', { phase: 'Pending' });
    if (odd === 'unready') await run(cluster(), space, give, nodes[1] ?? '', runningStatus(undefined, false));
    if (odd === 'younger') await run(cluster(), space, give, nodes[1] ?? '', runningStatus(aMinuteAgo()));
    if (odd === 'restarted') {
      const status = runningStatus();
      const containerStatuses = [{ ...Object(at(status, 'containerStatuses', 0)), restartCount: 3 }];
      await run(cluster(), space, give, nodes[1] ?? '', { ...status, containerStatuses });
    }
    await run(cluster(), space, keep, nodes[0] ?? '');
    await untilReady(cluster(), `${space.replicaSets}/a`, odd === 'younger' || odd === 'restarted' ? 2 : 1);
    await must(mergePatch(`${space.replicaSets}/a/scale`, { spec: { replicas: 1 } }));
    const kept = await podsOf(cluster(), space, 1);
    expect(kept.map(nameOf)).toEqual([keep]);
  });

  test('scaled down, thins out the fuller node first, but only under a Deployment', async () => {
    const { post, must, mergePatch, namespace, node } = cluster();
    const space = await namespace();
    const full = await node();
    const single = await node();
    // Only ReplicaSets of one owner are counted together; one without an owner counts nothing.
    await must(post(space.deployments, workload('a', 3)));
    const [alone = '', ...together] = (await podsOf(cluster(), space, 3)).map(nameOf);
    await run(cluster(), space, alone, single);
    for (const name of together) await run(cluster(), space, name, full);
    await untilReady(cluster(), `${space.deployments}/a`, 3);
    await must(mergePatch(`${space.deployments}/a/scale`, { spec: { replicas: 2 } }));
    const kept = (await podsOf(cluster(), space, 2)).map(nameOf);
    expect(kept).toContain(alone);
  });
});
