import { expect, test } from 'vitest';
import { at } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';
import { pod } from './objects.ts';
import { MARK, useWebhooks } from './registered-webhooks.ts';
import { annotate, type Verdict } from './webhook-server.ts';

const seen = (request: Json): Verdict => ({ response: annotate(request, MARK, 'yes') });

describeOnBackends('mutating webhooks that fail', (cluster) => {
  const { serve, register, close } = useWebhooks(cluster);

  test('that are down do no harm with failurePolicy Ignore', async () => {
    const { post, mergePatch, must, namespace } = cluster();
    const server = await serve(seen);
    const space = await namespace();
    await register(cluster(), space, server, { failurePolicy: 'Ignore' });
    await close(server);
    const { status, body } = await post(space.pods, pod('a'));
    expect(status).toBe(201);
    expect(at(body, 'metadata', 'annotations')).toBeUndefined();
    await must(mergePatch(`${space.pods}/a`, { metadata: { labels: { b: 'c' } } }));
  });

  test('that are down refuse everything with failurePolicy Fail', async () => {
    const { post, namespace, eventually } = cluster();
    const server = await serve(seen);
    const space = await namespace();
    await register(cluster(), space, server);
    await close(server);
    // The first call may still find a connection kept from before, and fail in another way.
    await eventually(async () => {
      const { status, body } = await post(space.pods, pod('a'));
      expect(status).toBe(500);
      expect(body).toMatchObject({ reason: 'InternalError', code: 500 });
      expect(body['message']).toMatch(
        /failed calling webhook "pods\.conformance\.stowage\.test": failed to call webhook: Post .*(?:connection refused|ECONNREFUSED)/,
      );
    });
  });

  test('whose certificate is signed by another authority are not trusted', async () => {
    const { post, namespace } = cluster();
    const server = await serve(seen);
    const stranger = await serve(seen);
    const space = await namespace();
    const isActive = async (): Promise<void> =>
      expect((await post(`${space.pods}?dryRun=All`, pod('probe'))).status).toBe(500);
    await register(cluster(), space, { url: server.url, caPem: stranger.caPem }, {}, isActive);
    expect(server.requests).toEqual([]);
  });

  test('that do not answer in time count as failed', async () => {
    const { post, namespace } = cluster();
    let isDeaf = false;
    const server = await serve((request) => (isDeaf ? 'never' : seen(request)));
    const space = await namespace();
    await register(cluster(), space, server, { timeoutSeconds: 1 });
    isDeaf = true;
    const { status, body } = await post(space.pods, pod('a'));
    expect(status).toBe(500);
    expect(body['message']).toMatch(/context deadline exceeded|timeout/i);
  });

  test.each<[string, (request: Json) => Verdict]>([
    ['another uid', (request) => ({ response: { ...annotate(request, MARK, 'yes'), uid: 'another' } })],
    ['no patchType', (request) => ({ response: { ...annotate(request, MARK, 'yes'), patchType: undefined } })],
    [
      'a patch that cannot be applied',
      ({ uid }) => ({
        response: {
          uid,
          allowed: true,
          patchType: 'JSONPatch',
          patch: Buffer.from('[{"op":"remove","path":"/metadata/none"}]').toString('base64'),
        },
      }),
    ],
    ['a 503', () => ({ status: 503 })],
  ])('that answer with %s count as failed', async (_, answer) => {
    const { post, get, namespace } = cluster();
    let isBroken = false;
    const server = await serve((request) => (isBroken ? answer(request) : seen(request)));
    const space = await namespace();
    await register(cluster(), space, server);
    isBroken = true;
    const { status } = await post(space.pods, pod('a'));
    expect(status).toBe(500);
    expect((await get(`${space.pods}/a`)).status).toBe(404);
  });

  test.each<[string, string, number]>([
    ['cannot be applied', '[{"op":"remove","path":"/metadata/none"}]', 500],
    ['cannot be read', 'none', 201],
  ])(
    'with failurePolicy Ignore are not forgiven a patch that %s unless it is no patch at all: %s',
    async (_, patch, expected) => {
      const { post, namespace } = cluster();
      let isBroken = false;
      const server = await serve((request) =>
        isBroken
          ? {
              response: {
                uid: request['uid'],
                allowed: true,
                patchType: 'JSONPatch',
                patch: Buffer.from(patch).toString('base64'),
              },
            }
          : seen(request),
      );
      const space = await namespace();
      await register(cluster(), space, server, { failurePolicy: 'Ignore' });
      isBroken = true;
      expect((await post(space.pods, pod('a'))).status).toBe(expected);
    },
  );

  test.each([
    ['Fail', 403],
    ['Ignore', 201],
  ])('whose conditions cannot be evaluated: failurePolicy %s is %s', async (failurePolicy, expected) => {
    const { post, namespace } = cluster();
    const server = await serve(seen);
    const space = await namespace();
    const expression = "object.metadata.name == 'probe' || object.metadata.annotations['none'] == 'x'";
    await register(cluster(), space, server, { failurePolicy, matchConditions: [{ name: 'odd', expression }] });
    server.requests.length = 0;
    const { status, body } = await post(space.pods, pod('a'));
    expect(status).toBe(expected);
    if (expected === 403) expect(body['message']).toMatch(/^pods "a" is forbidden: /);
    expect(server.requests).toEqual([]);
  });
});
