import { createServer } from 'node:https';
import { afterEach, describe, expect, test } from 'vitest';
import type { MutatingWebhookConfiguration } from '../../../api/core.ts';
import { resources } from '../../../api/resources.ts';
import { createAuthority, issueServerCertificate } from '../../../lib/certificates.ts';
import { createSystemClock } from '../../../lib/clock.ts';
import { createSeededRandom } from '../../../lib/random.ts';
import { createApiServer } from '../api-server.ts';
import { isObject, type JsonObject, stringAt } from '../json.ts';
import { createTestServer, IN_DEFAULT, testPod } from '../testing/test-server.ts';

function configuration(name: string, settings: object = {}): MutatingWebhookConfiguration {
  // The published type of rules lacks `resources`; a value that is not written in place may have more than its type.
  const hook = {
    name: `${name}.stowage.test`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: { service: { namespace: 'default', name } },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    ...settings,
  };
  return { metadata: { name }, webhooks: [hook] };
}

/** An answer that adds a label. */
function labelling(review: JsonObject, key: string, value: string): object {
  const patch = [{ op: 'add', path: `/metadata/labels/${key}`, value }];
  return answer(review, {
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
  });
}

function answer(review: JsonObject, response: object): object {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: stringAt(review, 'request', 'uid'), ...response },
  };
}

describe('mutating webhooks in-process', () => {
  test('see the request and change the object, in the order of their configurations', async () => {
    const { server, api } = createTestServer();
    const seen: JsonObject[] = [];
    server.core.localWebhooks.set('default/second', (review) => {
      if (isObject(review['request'])) seen.push(review['request']);
      return labelling(review, 'second', 'yes');
    });
    server.core.localWebhooks.set('default/first', (review) => labelling(review, 'first', 'yes'));
    await api.create(resources.mutatingWebhookConfigurations, configuration('second'));
    await api.create(resources.mutatingWebhookConfigurations, configuration('first'));
    const pod = await server.client({ user: 'alice' }).create(resources.pods, testPod('a'));
    expect(pod.metadata?.labels).toEqual({ app: 'a', first: 'yes', second: 'yes' });
    expect(seen).toMatchObject([
      {
        operation: 'CREATE',
        name: 'a',
        namespace: 'default',
        dryRun: false,
        kind: { group: '', version: 'v1', kind: 'Pod' },
        resource: { group: '', version: 'v1', resource: 'pods' },
        userInfo: { username: 'alice' },
        object: { metadata: { labels: { first: 'yes' } } },
        oldObject: null,
      },
    ]);
  });

  test('deny with their message and code', async () => {
    const { server, api } = createTestServer();
    server.core.localWebhooks.set('default/no', (review) =>
      answer(review, { allowed: false, status: { message: 'not today', code: 403, reason: 'Forbidden' } }),
    );
    await api.create(resources.mutatingWebhookConfigurations, configuration('no'));
    await expect(api.create(resources.pods, testPod('a'))).rejects.toMatchObject({
      httpStatus: 403,
      message: 'admission webhook "no.stowage.test" denied the request: not today',
    });
  });

  test.each([
    ['Ignore', true],
    ['Fail', false],
  ])('that never answer are given up after their timeout: failurePolicy %s', async (failurePolicy, created) => {
    const { server, api, clock } = createTestServer();
    server.core.localWebhooks.set('default/slow', () => new Promise(() => undefined));
    await api.create(
      resources.mutatingWebhookConfigurations,
      configuration('slow', { failurePolicy, timeoutSeconds: 2 }),
    );
    const outcome = api.create(resources.pods, testPod('a')).then(
      () => 'created',
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    await clock.advance(2_000);
    expect(await outcome).toBe(
      created
        ? 'created'
        : 'Internal error occurred: failed calling webhook "slow.stowage.test": failed to call webhook: context deadline exceeded',
    );
  });

  test.each([
    ['another uid', { uid: 'x', allowed: true }, 'expected response.uid='],
    [
      'a patch without its type',
      { allowed: true, patch: 'W10=' },
      'webhook returned response.patch but not response.patchType',
    ],
    ['no JSON patch', { allowed: true, patchType: 'JSONPatch', patch: 'bm9uZQ==' }, 'failed calling webhook'],
  ])('that answer with %s have failed', async (_, response, message) => {
    const { server, api } = createTestServer();
    server.core.localWebhooks.set('default/odd', (review) => answer(review, response));
    await api.create(resources.mutatingWebhookConfigurations, configuration('odd'));
    await expect(api.create(resources.pods, testPod('a'))).rejects.toThrow(message);
  });

  test.each<[string, object, boolean]>([
    [
      'other resources',
      { rules: [{ apiGroups: ['apps'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }] },
      false,
    ],
    [
      'a subresource only',
      { rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['pods/eviction'] }] },
      false,
    ],
    ['everything', { rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }] }, true],
    [
      'cluster scope',
      { rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['*'], scope: 'Cluster' }] },
      false,
    ],
    ['a namespace label', { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } }, true],
    [
      'another namespace',
      {
        namespaceSelector: {
          matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['default'] }],
        },
      },
      false,
    ],
    ['an object label', { objectSelector: { matchLabels: { app: 'a' } } }, true],
    [
      'a label the object lacks',
      { objectSelector: { matchExpressions: [{ key: 'managed', operator: 'Exists' }] } },
      false,
    ],
    [
      'a condition that holds',
      {
        matchConditions: [
          { name: 'c', expression: "has(object.metadata.labels) && object.metadata.labels.app == 'a'" },
        ],
      },
      true,
    ],
    [
      'a condition that does not',
      { matchConditions: [{ name: 'c', expression: "request.userInfo.username.startsWith('system:node:')" }] },
      false,
    ],
  ])('are asked by what they select: %s', async (_, settings, asked) => {
    const { server, api } = createTestServer();
    server.core.localWebhooks.set('default/hook', (review) => labelling(review, 'seen', 'yes'));
    await api.create(resources.mutatingWebhookConfigurations, configuration('hook', settings));
    const pod = await api.create(resources.pods, testPod('a'));
    expect(pod.metadata?.labels?.['seen']).toBe(asked ? 'yes' : undefined);
  });

  test('are asked again when a later one changed the object and they want to know', async () => {
    const { server, api } = createTestServer();
    let calls = 0;
    server.core.localWebhooks.set('default/a', (review) => {
      calls++;
      return answer(review, { allowed: true });
    });
    server.core.localWebhooks.set('default/b', (review) => labelling(review, 'b', 'yes'));
    await api.create(resources.mutatingWebhookConfigurations, configuration('a', { reinvocationPolicy: 'IfNeeded' }));
    await api.create(resources.mutatingWebhookConfigurations, configuration('b'));
    await api.create(resources.pods, testPod('a'));
    expect(calls).toBe(2);
  });

  test('that select by a label an earlier one gives are asked; a patch for what is being deleted is an error', async () => {
    const { server, api } = createTestServer();
    server.core.localWebhooks.set('default/a', (review) => labelling(review, 'a', 'yes'));
    server.core.localWebhooks.set('default/b', (review) => labelling(review, 'b', 'yes'));
    await api.create(resources.mutatingWebhookConfigurations, configuration('a'));
    await api.create(
      resources.mutatingWebhookConfigurations,
      configuration('b', { objectSelector: { matchLabels: { a: 'yes' } } }),
    );
    expect((await api.create(resources.pods, testPod('x'))).metadata?.labels).toEqual({ app: 'x', a: 'yes', b: 'yes' });
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['pods'] }];
    await api.create(resources.mutatingWebhookConfigurations, {
      ...configuration('c', { clientConfig: { service: { namespace: 'default', name: 'a' } }, rules }),
    });
    await expect(api.delete(resources.pods, 'x', IN_DEFAULT)).rejects.toMatchObject({
      httpStatus: 500,
      message: expect.stringContaining('attempted to modify the object, which is not supported for this operation'),
    });
  });

  test('with side effects refuse dry runs; what they return is validated', async () => {
    const { server, api } = createTestServer();
    server.core.localWebhooks.set('default/hook', (review) => labelling(review, 'bad', 'not a label!'));
    await api.create(resources.mutatingWebhookConfigurations, configuration('hook'));
    await expect(api.create(resources.pods, testPod('a'))).rejects.toMatchObject({ httpStatus: 422 });
    await expect(api.get(resources.pods, 'a', IN_DEFAULT)).rejects.toMatchObject({ httpStatus: 404 });
  });
});

describe('mutating webhooks over TLS', () => {
  const undo: (() => unknown)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0)) await step();
  });

  test('are verified by caBundle, and failures are told', async () => {
    const clock = createSystemClock();
    const validity = { notBeforeMillis: clock.now() - 60_000, notAfterMillis: clock.now() + 3_600_000 };
    const authority = await createAuthority({ ...validity, commonName: 'test-ca' });
    const stranger = await createAuthority({ ...validity, commonName: 'other-ca' });
    const pair = await issueServerCertificate(authority, {
      ...validity,
      commonName: 'hook',
      ipAddresses: ['127.0.0.1'],
    });
    const urls: (string | undefined)[] = [];
    const hook = createServer({ key: pair.privateKeyPem, cert: pair.certificatePem }, (request, response) => {
      urls.push(request.url);
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () =>
        response.end(JSON.stringify(labelling(JSON.parse(Buffer.concat(chunks).toString()), 'tls', 'yes'))),
      );
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    const address = hook.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const server = createApiServer({ clock, random: createSeededRandom(1) });
    undo.push(
      () => server.close(),
      () => hook.closeAllConnections(),
      () => new Promise((resolve) => hook.close(resolve)),
    );
    const api = server.client();
    const url = `https://127.0.0.1:${port}/mutate`;
    const bundle = (pem: string) => Buffer.from(pem).toString('base64');
    await api.create(
      resources.mutatingWebhookConfigurations,
      configuration('hook', { timeoutSeconds: 5, clientConfig: { url, caBundle: bundle(authority.certificatePem) } }),
    );
    expect((await api.create(resources.pods, testPod('a'))).metadata?.labels?.['tls']).toBe('yes');
    expect(urls).toEqual(['/mutate?timeout=5s']);

    await api.delete(resources.mutatingWebhookConfigurations, 'hook');
    await api.create(
      resources.mutatingWebhookConfigurations,
      configuration('hook', { clientConfig: { url, caBundle: bundle(stranger.certificatePem) } }),
    );
    await expect(api.create(resources.pods, testPod('b'))).rejects.toThrow('x509');
  });
});
