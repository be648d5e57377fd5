import { describe, expect, test } from 'vitest';
import { at, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { pod, workload } from './objects.ts';
import { sizedNode } from './sized-node.ts';

describeOnBackends('subresources', (cluster) => {
  describe('status and generation', () => {
    test('a write to the object leaves the status, a write to the status leaves the spec', async () => {
      const { post, mergePatch, must, namespace } = cluster();
      const { budgets } = await namespace();
      // A budget that selects nothing has a status no controller changes again.
      const spec = { selector: { matchLabels: { app: 'a' } }, minAvailable: 1 };
      await must(post(budgets, { metadata: { name: 'a' }, spec }));
      const object = await mergePatch(`${budgets}/a`, {
        status: { disruptionsAllowed: 7 },
        metadata: { labels: { by: 'object' } },
      });
      expect(object.body).toMatchObject({ metadata: { labels: { by: 'object' } }, status: { disruptionsAllowed: 0 } });
      const status = await mergePatch(`${budgets}/a/status`, {
        spec: { minAvailable: 5 },
        status: { disruptedPods: { x: '2026-01-01T00:00:00Z' } },
      });
      expect(status.status).toBe(200);
      expect(status.body).toMatchObject({
        spec: { minAvailable: 1 },
        status: { disruptedPods: { x: '2026-01-01T00:00:00Z' } },
      });
    });

    test('generation counts changes of the spec only', async () => {
      const { post, mergePatch, must, namespace } = cluster();
      const { deployments } = await namespace();
      await must(post(deployments, workload('a', 0)));
      const generationAfter = async (path: string, body: object): Promise<unknown> =>
        at(await must(mergePatch(`${deployments}/${path}`, body)), 'metadata', 'generation');
      expect(await generationAfter('a', { metadata: { labels: { a: 'b' } } })).toBe(1);
      expect(await generationAfter('a', { spec: { paused: true } })).toBe(2);
      expect(await generationAfter('a', { spec: { paused: true } })).toBe(2);
      expect(await generationAfter('a/status', { status: { observedGeneration: 1 } })).toBe(2);
    });

    test('the client cannot set the generation', async () => {
      const { post, namespace } = cluster();
      const { deployments } = await namespace();
      const { body } = await post(deployments, { ...workload('a', 0), metadata: { name: 'a', generation: 77 } });
      expect(body).toMatchObject({ metadata: { generation: 1 } });
    });
  });

  describe('scale', () => {
    test('shows and sets replicas, and counts as a generation of its object', async () => {
      const { post, get, mergePatch, put, must, namespace } = cluster();
      const { deployments, name } = await namespace();
      await must(post(deployments, { ...workload('a', 0), metadata: { name: 'a' } }));
      const scale = await get(`${deployments}/a/scale`);
      expect(scale.body).toMatchObject({
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name: 'a', namespace: name },
        status: { replicas: 0, selector: 'app=a' },
      });
      const patched = await mergePatch(`${deployments}/a/scale`, { spec: { replicas: 1 } });
      expect(patched.body).toMatchObject({ spec: { replicas: 1 } });
      const replaced = await put(`${deployments}/a/scale`, {
        metadata: { name: 'a', namespace: name },
        spec: { replicas: 0 },
      });
      expect(replaced.status).toBe(200);
      expect((await get(`${deployments}/a`)).body).toMatchObject({
        metadata: { generation: 3 },
        spec: { replicas: 0 },
      });
    });

    test('refuses negative replicas and stale versions, and what does not exist', async () => {
      const { post, get, mergePatch, put, must, namespace } = cluster();
      const { statefulSets, name } = await namespace();
      await must(post(statefulSets, { ...workload('a', 0), metadata: { name: 'a' } }));
      const negative = await mergePatch(`${statefulSets}/a/scale`, { spec: { replicas: -1 } });
      expect(negative.status).toBe(422);
      expect(negative.body['message']).toBe(
        'Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      );
      const stale = { metadata: { name: 'a', namespace: name, resourceVersion: '1' }, spec: { replicas: 1 } };
      const conflict = await put(`${statefulSets}/a/scale`, stale);
      expect(conflict.status).toBe(409);
      expect(conflict.body).toMatchObject({
        reason: 'Conflict',
        details: { name: 'a', group: 'apps', kind: 'statefulsets' },
      });
      expect((await get(`${statefulSets}/none/scale`)).status).toBe(404);
    });
  });

  describe('binding', () => {
    test('puts a pod on a node once', async () => {
      const { post, get, must, namespace, node } = cluster();
      const { pods } = await namespace();
      const nodeName = await node();
      await must(post(pods, pod('a')));
      const binding = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'a' },
        target: { kind: 'Node', name: nodeName },
      };
      const bound = await post(`${pods}/a/binding`, binding);
      expect(bound.status).toBe(201);
      expect(bound.body).toMatchObject({ kind: 'Status', status: 'Success' });
      expect((await get(`${pods}/a`)).body).toMatchObject({
        spec: { nodeName },
        status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
      });
      const again = await post(`${pods}/a/binding`, binding);
      expect(again.status).toBe(409);
      expect(again.body).toMatchObject({ reason: 'Conflict' });
      expect(again.body['message']).toBe(
        `Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "${nodeName}"`,
      );
    });

    test('of another uid conflicts, of no pod is 404', async () => {
      const { post, must, namespace } = cluster();
      const { pods } = await namespace();
      await must(post(pods, pod('a')));
      const target = { kind: 'Node', name: 'anywhere' };
      expect((await post(`${pods}/a/binding`, { metadata: { name: 'a', uid: 'another' }, target })).status).toBe(409);
      expect((await post(`${pods}/none/binding`, { metadata: { name: 'none' }, target })).status).toBe(404);
    });
  });

  describe('resize', () => {
    const resize = (resources: object) => ({ spec: { containers: [{ name: 'main', resources }] } });

    test('changes requests and limits, and counts as a generation', async () => {
      const { post, strategicPatch, must, namespace } = cluster();
      const { pods } = await namespace();
      const resources = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m', memory: '64Mi' } };
      await must(post(pods, pod('a', { resources })));
      const { status, body } = await strategicPatch(
        `${pods}/a/resize`,
        resize({ requests: { cpu: '150m' }, limits: { cpu: '300m' } }),
      );
      expect(status).toBe(200);
      expect(body).toMatchObject({ metadata: { generation: 2 } });
      expect(at(body, 'spec', 'containers', 0, 'resources')).toEqual({
        requests: { cpu: '150m', memory: '64Mi' },
        limits: { cpu: '300m', memory: '64Mi' },
      });
    });

    test('ignores everything else in the body', async () => {
      const { post, strategicPatch, must, namespace } = cluster();
      const { pods } = await namespace();
      await must(post(pods, pod('a')));
      const { status, body } = await strategicPatch(`${pods}/a/resize`, {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'main', image: 'example.test/app:2' }] },
      });
      expect(status).toBe(200);
      expect(at(body, 'spec', 'containers', 0, 'image')).toBe('example.test/app:1');
      expect(body).not.toHaveProperty('metadata.labels');
      expect(body).toMatchObject({ metadata: { generation: 1 } });
    });

    test.each([
      [
        'away from Guaranteed',
        { limits: { cpu: '1', memory: '1Gi' } },
        { requests: { cpu: '500m' } },
        'spec: Invalid value: "Guaranteed": Pod QOS Class may not change as a result of resizing',
      ],
      [
        'from BestEffort',
        {},
        { requests: { cpu: '500m' } },
        'spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of resizing',
      ],
      [
        'that removes a limit',
        { requests: { cpu: '1' }, limits: { cpu: '2' } },
        { limits: { cpu: null } },
        'resource limits cannot be removed',
      ],
      [
        'that removes a request',
        { requests: { cpu: '1', memory: '1Gi' } },
        { requests: { cpu: null } },
        'resource requests cannot be removed',
      ],
      [
        'of storage',
        { requests: { cpu: '1', 'ephemeral-storage': '1Gi' } },
        { requests: { 'ephemeral-storage': '2Gi' } },
        'only cpu and memory resources are mutable',
      ],
      [
        'above its limit',
        { requests: { cpu: '1' }, limits: { cpu: '2' } },
        { requests: { cpu: '3' } },
        'must be less than or equal to cpu limit of 2',
      ],
    ])('%s is refused', async (_, before, after, message) => {
      const { post, strategicPatch, must, namespace } = cluster();
      const { pods } = await namespace();
      await must(post(pods, pod('a', { resources: before })));
      const answer = await strategicPatch(`${pods}/a/resize`, resize(after));
      expect(answer.status).toBe(422);
      expect(textAt(answer.body, 'message')).toContain(message);
    });

    test('to more than the node can hold is 403 with cause NodeCapacity', async () => {
      const { post, strategicPatch, mergePatch, must, namespace } = cluster();
      const { pods } = await namespace();
      const nodeName = await sizedNode(cluster(), { cpu: '4', memory: '8Gi', pods: '110' });
      await must(post(pods, pod('a', { nodeName, resources: { requests: { cpu: '1' } } })));
      await must(mergePatch(`${pods}/a/status`, { status: { phase: 'Running' } }));
      const answer = await strategicPatch(`${pods}/a/resize`, resize({ requests: { cpu: '5' } }));
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({
        reason: 'Forbidden',
        details: { name: 'a', kind: 'pods', causes: [{ reason: 'NodeCapacity' }] },
      });
      expect(answer.body['message']).toContain(
        "node didn't have enough allocatable resources: cpu, requested: 5000, allocatable: 4000",
      );
      expect((await strategicPatch(`${pods}/a/resize`, resize({ requests: { cpu: '4' } }))).status).toBe(200);
    });
  });

  test('a subresource that does not exist is 404', async () => {
    const { post, get, must, namespace } = cluster();
    const { configMaps } = await namespace();
    await must(post(configMaps, { metadata: { name: 'a' } }));
    expect((await get(`${configMaps}/a/status`)).status).toBe(404);
  });
});
