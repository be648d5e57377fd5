import { expect, test } from 'vitest';
import { at, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';
import { pod, workload } from './objects.ts';
import { nameOf, podsOf } from './pods.ts';
import { CONFIGURATIONS, MARK, useWebhooks } from './registered-webhooks.ts';
import { annotate, patching, type Verdict } from './webhook-server.ts';

const seen = (request: Json): Verdict => ({ response: annotate(request, MARK, 'yes') });

describeOnBackends('mutating webhooks', (cluster) => {
  const { serve, register } = useWebhooks(cluster);

  test('are called over TLS with the whole request, and their patch is applied', async () => {
    const { post, namespace } = cluster();
    const server = await serve(seen);
    const space = await namespace();
    await register(cluster(), space, server);
    const { status, body } = await post(space.pods, pod('a', { annotations: { mine: '1' } }));
    expect(status).toBe(201);
    expect(at(body, 'metadata', 'annotations')).toEqual({ mine: '1', [MARK]: 'yes' });
    const request = server.requests.at(-1);
    expect(request).toMatchObject({
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      requestKind: { group: '', version: 'v1', kind: 'Pod' },
      requestResource: { group: '', version: 'v1', resource: 'pods' },
      name: 'a',
      namespace: space.name,
      operation: 'CREATE',
      userInfo: { username: expect.any(String), groups: expect.arrayContaining(['system:authenticated']) },
      object: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', namespace: space.name } },
      oldObject: null,
      dryRun: false,
    });
    // Defaults have been applied before admission.
    expect(at(request, 'object', 'spec', 'restartPolicy')).toBe('Always');
  });

  test('see pods of controllers without a name, but with generateName and owner', async () => {
    const { post, must, namespace } = cluster();
    const server = await serve(seen);
    const space = await namespace();
    await register(cluster(), space, server);
    server.requests.length = 0;
    await must(post(space.replicaSets, workload('a', 1)));
    const [made] = await podsOf(cluster(), space, 1);
    expect(at(made, 'metadata', 'annotations', MARK)).toBe('yes');
    const [request] = server.requests;
    expect(request).toMatchObject({
      operation: 'CREATE',
      object: { metadata: { generateName: 'a-', ownerReferences: [{ kind: 'ReplicaSet', name: 'a' }] } },
      userInfo: { username: expect.any(String) },
    });
    expect(nameOf(made)).toMatch(/^a-/);
  });

  test('are told of a dry run, and it stores nothing', async () => {
    const { post, get, namespace } = cluster();
    const server = await serve(seen);
    const space = await namespace();
    await register(cluster(), space, server);
    const { status, body } = await post(`${space.pods}?dryRun=All`, pod('dry'));
    expect(status).toBe(201);
    expect(at(body, 'metadata', 'annotations', MARK)).toBe('yes');
    expect(server.requests.at(-1)).toMatchObject({ dryRun: true, name: 'dry' });
    expect((await get(`${space.pods}/dry`)).status).toBe(404);
  });

  test('are not called for namespaces, operations and resources they do not select', async () => {
    const { post, mergePatch, must, namespace } = cluster();
    const server = await serve(seen);
    const space = await namespace();
    const elsewhere = await namespace();
    await register(cluster(), space, server);
    await must(post(space.pods, pod('a')));
    server.requests.length = 0;
    await must(post(elsewhere.pods, pod('a')));
    await must(post(space.configMaps, { metadata: { name: 'a' } }));
    await must(mergePatch(`${space.pods}/a`, { metadata: { labels: { b: 'c' } } }));
    await must(mergePatch(`${space.pods}/a/status`, { status: { phase: 'Running' } }));
    expect(server.requests).toEqual([]);
  });

  test('with an objectSelector see only objects with these labels', async () => {
    const { post, must, namespace } = cluster();
    const server = await serve(seen);
    const space = await namespace();
    const isActive = async (): Promise<void> => {
      const { body } = await post(`${space.pods}?dryRun=All`, pod('probe', { labels: { managed: 'true' } }));
      expect(at(body, 'metadata', 'annotations', MARK)).toBe('yes');
    };
    await register(cluster(), space, server, { objectSelector: { matchLabels: { managed: 'true' } } }, isActive);
    const other = await must(post(space.pods, pod('a', { labels: { managed: 'false' } })));
    expect(at(other, 'metadata', 'annotations')).toBeUndefined();
  });

  test('that deny give their reason to the caller', async () => {
    const { post, namespace } = cluster();
    let isStrict = false;
    const server = await serve((request) =>
      isStrict
        ? { response: { uid: textAt(request, 'uid'), allowed: false, status: { code: 403, message: 'not today' } } }
        : seen(request),
    );
    const space = await namespace();
    await register(cluster(), space, server);
    isStrict = true;
    const { status, body } = await post(space.pods, pod('a'));
    expect(status).toBe(403);
    expect(body['message']).toBe('admission webhook "pods.conformance.stowage.test" denied the request: not today');
  });

  test('can warn the caller', async () => {
    const { post, namespace } = cluster();
    const server = await serve((request) => ({
      response: { ...annotate(request, MARK, 'yes'), warnings: ['mind the gap'] },
    }));
    const space = await namespace();
    await register(cluster(), space, server);
    const { headers } = await post(space.pods, pod('a'));
    expect(String(headers['warning'])).toContain('299 - "mind the gap"');
  });

  test('what they make of an object is validated again', async () => {
    const { post, namespace } = cluster();
    let isBroken = false;
    const server = await serve((request) => {
      if (!isBroken) return seen(request);
      return { response: patching(request, [{ op: 'replace', path: '/spec/restartPolicy', value: 'Sometimes' }]) };
    });
    const space = await namespace();
    await register(cluster(), space, server);
    isBroken = true;
    expect((await post(space.pods, pod('a'))).status).toBe(422);
  });

  test('what they make of a pod decides its QoS class and what it is given by default', async () => {
    const { post, must, namespace, eventually } = cluster();
    const amounts = { cpu: '100m', memory: '64Mi' };
    const server = await serve((request) => ({
      response: patching(request, [
        { op: 'add', path: '/metadata/annotations', value: { [MARK]: 'yes' } },
        { op: 'add', path: '/spec/containers/0/resources', value: { requests: amounts, limits: amounts } },
        { op: 'add', path: '/spec/containers/-', value: { name: 'proxy', image: 'example.test/proxy:1' } },
      ]),
    }));
    const space = await namespace();
    await register(cluster(), space, server);
    const { body: made } = await post(`${space.pods}?dryRun=All`, pod('a'));
    expect(at(made, 'status', 'qosClass')).toBe('Burstable');
    expect(at(server.requests.at(-1), 'object', 'status')).toEqual({});
    const limits = [{ type: 'Container', default: amounts }];
    const ranges = `/api/v1/namespaces/${space.name}/limitranges`;
    await must(post(ranges, { metadata: { name: 'defaults' }, spec: { limits } }));
    // API servers learn of limits by watch.
    await eventually(async () => {
      const { body } = await post(`${space.pods}?dryRun=All`, pod('a'));
      expect(body).toMatchObject({
        spec: { containers: [{ name: 'main' }, { name: 'proxy', resources: { requests: amounts, limits: amounts } }] },
        status: { phase: 'Pending', qosClass: 'Guaranteed' },
      });
    });
  });

  test('a ReplicaSet whose pods are all refused tries one at a time, and says so', async () => {
    const { post, get, must, namespace, eventually } = cluster();
    let isStrict = false;
    const server = await serve((request) =>
      isStrict
        ? { response: { uid: textAt(request, 'uid'), allowed: false, status: { message: 'never' } } }
        : seen(request),
    );
    const space = await namespace();
    await register(cluster(), space, server);
    isStrict = true;
    server.requests.length = 0;
    await must(post(space.replicaSets, workload('a', 100)));
    await eventually(async () => {
      expect((await get(`${space.replicaSets}/a`)).body).toMatchObject({
        status: { replicas: 0, conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }] },
      });
    });
    // Slow start: the first batch of each attempt is one pod, and its failure ends the attempt. Before as many attempts as there are pods
    // their back-off (5 ms, twice as long each time) would have lasted for years.
    expect(server.requests.length).toBeLessThan(100);
  });

  test.each([
    ['no side effects named', { sideEffects: undefined }, 'webhooks[0].sideEffects'],
    ['no review versions', { admissionReviewVersions: [] }, 'webhooks[0].admissionReviewVersions'],
    ['a timeout above 30 s', { timeoutSeconds: 31 }, 'webhooks[0].timeoutSeconds'],
    ['a plain http URL', { clientConfig: { url: 'http://127.0.0.1/' } }, 'webhooks[0].clientConfig.url'],
  ])('a configuration with %s is 422', async (_, settings, field) => {
    const { post, namespace } = cluster();
    const { name } = await namespace();
    const webhook = {
      name: 'pods.conformance.stowage.test',
      clientConfig: { url: 'https://127.0.0.1/' },
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      ...settings,
    };
    const { status, body } = await post(`${CONFIGURATIONS}?dryRun=All`, { metadata: { name }, webhooks: [webhook] });
    expect(status).toBe(422);
    expect(body).toMatchObject({ details: { causes: expect.arrayContaining([expect.objectContaining({ field })]) } });
  });
});
