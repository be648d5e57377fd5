import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { isExpired } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import { describeError } from '../lib/errors.ts';
import type { createKubeApi } from './client.ts';
import type { RequestSample } from './requester.ts';
import { inTime, scriptedClient } from './testing/scripted-client.ts';
import { failure } from './testing/scripted-transport.ts';

const pods = resources.pods;

describe('requests', () => {
  test.each([
    ['get', (api) => api.get(pods, 'p', { namespace: 'ns' }), 'GET', '/api/v1/namespaces/ns/pods/p', undefined],
    ['get, cluster-wide', (api) => api.get(resources.nodes, 'n'), 'GET', '/api/v1/nodes/n', undefined],
    [
      'create',
      (api) => api.create(pods, { metadata: { name: 'p', namespace: 'ns' } }),
      'POST',
      '/api/v1/namespaces/ns/pods',
      'application/json',
    ],
    [
      'create, not stored',
      (api) => api.create(resources.deployments, {}, { namespace: 'ns', dryRun: true, fieldManager: 'me' }),
      'POST',
      '/apis/apps/v1/namespaces/ns/deployments?fieldManager=me&dryRun=All',
      'application/json',
    ],
    [
      'evict',
      (api) => api.createSubresource(pods, 'p', 'eviction', {}, { namespace: 'ns' }),
      'POST',
      '/api/v1/namespaces/ns/pods/p/eviction',
      'application/json',
    ],
    [
      'replace the status',
      (api) => api.replace(pods, { metadata: { name: 'p', namespace: 'ns' } }, { subresource: 'status' }),
      'PUT',
      '/api/v1/namespaces/ns/pods/p/status',
      'application/json',
    ],
    [
      'json patch',
      (api) => api.patch(pods, 'p', { type: 'json', body: [] }, { namespace: 'n' }),
      'PATCH',
      '/api/v1/namespaces/n/pods/p',
      'application/json-patch+json',
    ],
    [
      'merge patch',
      (api) => api.patch(pods, 'p', { type: 'merge', body: {} }, { namespace: 'n' }),
      'PATCH',
      '/api/v1/namespaces/n/pods/p',
      'application/merge-patch+json',
    ],
    [
      'resize',
      (api) => api.patch(pods, 'p', { type: 'strategic', body: {} }, { namespace: 'n', subresource: 'resize' }),
      'PATCH',
      '/api/v1/namespaces/n/pods/p/resize',
      'application/strategic-merge-patch+json',
    ],
    [
      'apply',
      (api) => api.patch(pods, 'p', { type: 'apply', body: {}, force: true }, { namespace: 'n' }),
      'PATCH',
      '/api/v1/namespaces/n/pods/p?fieldManager=stowage&force=true',
      'application/apply-patch+yaml',
    ],
  ] as [string, (api: ReturnType<typeof createKubeApi>) => Promise<unknown>, string, string, string | undefined][])(
    '%s',
    async (_, call, method, path, contentType) => {
      const { api, scripted } = scriptedClient();
      await call(api);
      const request = scripted.requests[0];
      // The server's own path, as some proxies have one, comes first.
      expect([request?.method, request?.path]).toEqual([method, `/k8s/clusters/c-1${path}`]);
      expect(request?.headers['content-type']).toBe(contentType);
      expect(request?.headers).toMatchObject({
        authorization: 'Bearer first',
        accept: 'application/json',
        'user-agent': 'stowage',
      });
      expect(request?.lane).toBe('control');
    },
  );

  test('delete sends its preconditions in the body', async () => {
    const { api, scripted } = scriptedClient();
    await api.delete(pods, 'p', {
      namespace: 'ns',
      uid: 'u',
      resourceVersion: '5',
      gracePeriodSeconds: 0,
      propagationPolicy: 'Orphan',
    });
    expect(scripted.requests[0]?.method).toBe('DELETE');
    expect(JSON.parse(scripted.requests[0]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'u', resourceVersion: '5' },
      gracePeriodSeconds: 0,
      propagationPolicy: 'Orphan',
    });
  });

  test('a missing name or namespace is refused here: the URL would mean the whole collection', async () => {
    const { api, scripted } = scriptedClient();
    await expect(api.get(pods, '', { namespace: 'ns' })).rejects.toThrow(/Pod needs a name/);
    await expect(api.delete(pods, '', { namespace: 'ns' })).rejects.toThrow(/Pod needs a name/);
    await expect(api.delete(pods, 'p')).rejects.toThrow(/lives in a namespace/);
    await expect(api.create(pods, { metadata: { name: 'p' } })).rejects.toThrow(/lives in a namespace/);
    expect(scripted.requests).toHaveLength(0);
  });

  test('names and selectors cannot leave their place in the URL', async () => {
    const { api, scripted } = scriptedClient();
    scripted.answer = () => ({ body: { metadata: { resourceVersion: '1' }, items: [] } });
    await api.get(pods, 'a/../b?c', { namespace: 'n s' });
    await api.list(pods, { labelSelector: 'a in (b,c),d!=e&f', limit: 5, continueToken: 'x=/+' });
    expect(scripted.requests.map(({ path }) => path.replace('/k8s/clusters/c-1', ''))).toEqual([
      '/api/v1/namespaces/n%20s/pods/a%2F..%2Fb%3Fc',
      '/api/v1/pods?labelSelector=a+in+%28b%2Cc%29%2Cd%21%3De%26f&limit=5&continue=x%3D%2F%2B',
    ]);
  });
});

describe('lists', () => {
  test('items are handed over one by one with kind and version; the token and the version come at the end', async () => {
    const { api, scripted } = scriptedClient();
    const text = JSON.stringify({
      kind: 'PodList',
      metadata: { resourceVersion: '9', continue: 'more' },
      items: [{ metadata: { name: 'ä' } }, { metadata: { name: 'b' }, kind: 'Other' }],
    });
    scripted.answer = () => ({
      body: Buffer.from(text)
        .toString('binary')
        .split('')
        .map((char) => Buffer.from(char, 'binary')),
    });
    const items: unknown[] = [];
    const end = await api.listEach(pods, {}, (item) => items.push(item));
    expect(end).toEqual({ resourceVersion: '9', continueToken: 'more' });
    expect(items).toEqual([
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'ä' } },
      { apiVersion: 'v1', kind: 'Other', metadata: { name: 'b' } },
    ]);
    expect(scripted.requests[0]?.lane).toBe('bulk');
    expect(await api.list(pods)).toMatchObject({ items: [{ kind: 'Pod' }, {}], continueToken: 'more' });
  });

  test('a page may take a minute; one that stalls is given up then', async () => {
    const { api, scripted, clock } = scriptedClient();
    scripted.answer = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    let error: unknown;
    void api.list(pods).catch((reason: unknown) => {
      error = reason;
    });
    await clock.advance(59_999);
    expect(error).toBeUndefined();
    await clock.advance(1);
    expect(error).toMatchObject({ code: 'KUBE_REQUEST_TIMEOUT' });
  });

  test('on a slow line a page takes as long as something of it comes; one that breaks off is given up', async () => {
    const { api, scripted, clock } = scriptedClient();
    let body = new PassThrough();
    scripted.answer = () => ({ body });
    const listed = api.list(pods);
    const start = '{"metadata":{"resourceVersion":"9"},"items":[';
    for (const part of [start, '{"metadata":{"name":"a"}}', ',{"metadata":{"name":"b"}}', ']}']) {
      await clock.advance(59_000);
      body.write(part);
    }
    body.end();
    expect(await listed).toMatchObject({ items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }] });
    expect(clock.pendingTimers()).toBe(0);
    body = new PassThrough();
    body.write(start);
    const broken = api.list(pods).catch(describeError);
    await clock.advance(120_000);
    expect(await broken).toMatch(/^GET \/api\/v1\/pods: the answer .* broke off, nothing came for 60 s\.$/);
    expect([body.destroyed, clock.pendingTimers()]).toEqual([true, 0]);
  });

  test('an empty list and items of null', async () => {
    const { api, scripted } = scriptedClient();
    scripted.answer = () => ({ body: { metadata: { resourceVersion: '9', continue: '' }, items: null } });
    expect(await api.list(pods)).toEqual({ items: [], resourceVersion: '9' });
  });

  test.each(['', '{"metadata":{"resourceVersion":"9"},"items":[{"a":1}', '<html>', '[]'])(
    'a body that is no whole list is an error: %j',
    async (body) => {
      const { api, scripted } = scriptedClient();
      scripted.answer = () => ({ body });
      await expect(api.list(pods)).rejects.toMatchObject({ code: 'KUBE_MALFORMED_ANSWER' });
    },
  );
});

describe('watches', () => {
  test('asks for bookmarks, tells when it is accepted, and yields each event', async () => {
    const { api, scripted } = scriptedClient();
    const lines = [
      { type: 'ADDED', object: { metadata: { name: 'a' } } },
      { type: 'BOOKMARK', object: { metadata: { resourceVersion: '7' } } },
      { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } },
    ];
    scripted.answer = () => ({ body: lines.map((line) => `${JSON.stringify(line)}\n`).join('') });
    const seen: unknown[] = [];
    const onOpen = () => seen.push('open');
    for await (const event of api.watch(pods, { resourceVersion: '5', timeoutSeconds: 300, onOpen })) seen.push(event);
    expect(seen).toEqual(['open', ...lines]);
    expect(scripted.requests[0]).toMatchObject({
      path: '/k8s/clusters/c-1/api/v1/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=5',
      lane: 'bulk',
      maxSilenceMillis: 310_000,
    });
  });

  test('WatchList is asked for the way the API server takes it', async () => {
    const { api, scripted } = scriptedClient();
    scripted.answer = () => ({ body: '' });
    for await (const _ of api.watch(pods, { sendInitialEvents: true, resourceVersion: '', namespace: 'ns' }));
    const query = new URLSearchParams(scripted.requests[0]?.path.split('?')[1]);
    expect(Object.fromEntries(query)).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
    });
  });

  test('410 as the HTTP answer is a KubeError before any event', async () => {
    const { api, scripted } = scriptedClient();
    scripted.answer = () => failure(410, 'Expired');
    const error = await api
      .watch(pods, {})
      [Symbol.asyncIterator]()
      .next()
      .catch((reason: unknown) => reason);
    expect(isExpired(error)).toBe(true);
  });

  test('a line that is no watch event is an error', async () => {
    const { api, scripted } = scriptedClient();
    scripted.answer = () => ({ body: '{"type":"SURPRISE","object":{}}\n' });
    await expect(api.watch(pods, {})[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'KUBE_MALFORMED_ANSWER',
    });
  });

  test('429 is left to the caller at once', async () => {
    const { api, scripted } = scriptedClient();
    scripted.answer = () => failure(429, 'TooManyRequests', { retryAfter: '1' });
    await expect(api.watch(pods, {})[Symbol.asyncIterator]().next()).rejects.toMatchObject({ retryAfterMillis: 1_000 });
    expect(scripted.requests).toHaveLength(1);
  });
});

test('each attempt is reported for metrics, with the time the rate limit cost', async () => {
  const samples: RequestSample[] = [];
  const { api, clock } = scriptedClient({
    limits: { qps: 1, burst: 1, reserve: 0 },
    onRequest: (sample) => samples.push(sample),
  });
  await inTime(clock, Promise.all([api.get(resources.nodes, 'a'), api.get(resources.nodes, 'b')]));
  expect(samples).toEqual([
    { method: 'GET', lane: 'control', status: 200, durationMillis: 0, throttledMillis: 0 },
    { method: 'GET', lane: 'control', status: 200, durationMillis: 0, throttledMillis: 1_000 },
  ]);
});

test('impersonation is sent on each request', async () => {
  const connection = {
    server: new URL('https://api'),
    description: '',
    namespace: '',
    trust: { current: async () => ({}), invalidate() {} },
    credentials: { current: async () => ({}), invalidate() {} },
    impersonation: { user: 'jane', uid: '7', groups: ['a', 'b'], extra: { 'acme.com/scopes': ['x', 'y'] } },
  };
  const { api, scripted } = scriptedClient({ connection });
  await api.get(resources.nodes, 'n');
  expect(scripted.requests[0]?.headers).toMatchObject({
    'impersonate-user': 'jane',
    'impersonate-uid': '7',
    'impersonate-group': ['a', 'b'],
    'impersonate-extra-acme.com%2fscopes': ['x', 'y'],
  });
  expect(scripted.requests[0]?.headers).not.toHaveProperty('authorization');
});
