import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { resources } from '../../../api/resources.ts';
import { createSystemClock } from '../../../lib/clock.ts';
import { createSeededRandom } from '../../../lib/random.ts';
import { type ApiServerOptions, createApiServer } from '../api-server.ts';
import { testPod } from '../testing/test-server.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

async function start(options: Partial<ApiServerOptions> = {}) {
  const server = createApiServer({ clock: createSystemClock(), random: createSeededRandom(1), ...options });
  const listening = await server.listen();
  undo.push(() => server.close());
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${listening.url}${path}`, init);
    const text = await response.text();
    const lines = text.trim().split('\n');
    const body: Record<string, unknown> =
      lines.length === 1 && text.startsWith('{') ? JSON.parse(text) : { text, lines };
    return { status: response.status, headers: response.headers, body };
  };
  return { server, listening, call, api: server.client() };
}

describe('plain HTTP', () => {
  test.each(['/healthz', '/readyz', '/livez', '/readyz/ping'])('%s says ok', async (path) => {
    const { call } = await start();
    expect(await call(path)).toMatchObject({ status: 200, body: { text: 'ok' } });
  });

  test.each([
    ['/nothing', 404],
    ['/apis/none/v1', 404],
    ['/api/v1/none', 404],
    ['/api/v1/pods/x', 400],
    ['/api/v1/namespaces/default/pods/x', 404],
    ['/api/v1/namespaces/default/pods?limit=x', 400],
    ['/api/v1/namespaces/default/pods?fieldSelector=spec.none%3Dx', 400],
    ['/api/v1/namespaces/default/pods?fieldSelector=constructor%3Dx', 400],
    ['/api/v1/namespaces/default/pods?resourceVersion=x', 400],
    ['/%E0%A4%A', 404],
  ])('GET %s is %s', async (path, status) => {
    const { call } = await start();
    expect((await call(path)).status).toBe(status);
  });

  test.each(['//', '//[', 'http://['])('a request for %s is answered, and the server lives', async (target) => {
    const { call, listening } = await start();
    const socket = connect(listening.port, '127.0.0.1');
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 404 /);
    expect((await call('/healthz')).status).toBe(200);
  });

  test('bodies that are no JSON, too large, or of an unknown patch type', async () => {
    const { call } = await start();
    const path = '/api/v1/namespaces/default/configmaps';
    const post = (body: string) =>
      call(path, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    expect((await post('{"metadata":')).status).toBe(400);
    expect((await post('[]')).status).toBe(400);
    expect((await post(JSON.stringify({ metadata: { name: 'a' }, data: { a: 'x'.repeat(3_200_000) } }))).status).toBe(
      413,
    );
    expect((await post('{"metadata":{"name":"a"}}')).status).toBe(201);
    expect(
      (await call(`${path}/a`, { method: 'PATCH', body: '{}', headers: { 'content-type': 'text/plain' } })).status,
    ).toBe(415);
    expect((await call(path, { method: 'PUT', body: '{}' })).status).toBe(405);
  });

  test('a warning that no header can hold is not told, and the server lives', async () => {
    const { call } = await start();
    const write = (name: string) =>
      call('/api/v1/namespaces/default/configmaps', {
        method: 'POST',
        body: JSON.stringify({ metadata: { name }, '\x7f': 1 }),
        headers: { 'content-type': 'application/json' },
      });
    const { status, headers } = await write('a');
    expect([status, headers.get('warning')]).toEqual([201, null]);
    expect((await write('a')).status).toBe(409);
  });

  test('more unknown fields than a header has room for are told as far as it goes', async () => {
    const { call } = await start();
    const odd = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`odd${index}`, 1]));
    const { status, headers } = await call('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      body: JSON.stringify({ ...odd, metadata: { name: 'a' } }),
      headers: { 'content-type': 'application/json' },
    });
    expect([status, headers.get('warning')]).toEqual([201, expect.stringMatching(/^299 - "unknown field \\"odd0\\""/)]);
  });

  test('a Status names what happened, and Retry-After when to come back', async () => {
    const { call, server } = await start();
    server.faults.add({ count: 1, effect: { kind: 'status', code: 429, retryAfterSeconds: 7 } });
    const answer = await call('/api/v1/namespaces/default/pods');
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'TooManyRequests', code: 429 });
  });

  test('dropped connections and frozen answers reach the client as such', async () => {
    const { call, server } = await start();
    server.faults.add({ count: 1, effect: { kind: 'drop' } });
    await expect(call('/api/v1/pods')).rejects.toThrow();
    // Whichever of the two is heard first.
    server.faults.add({ resources: ['pods'], count: 1, effect: { kind: 'freeze' } });
    const stop = new AbortController();
    const frozen = call('/api/v1/pods', { signal: stop.signal });
    expect((await call('/api/v1/nodes')).status).toBe(200);
    stop.abort();
    await expect(frozen).rejects.toThrow();
  });

  test('tables, metadata only, and items without a type', async () => {
    const { call, api } = await start();
    await api.create(resources.pods, testPod('a'));
    const path = '/api/v1/namespaces/default/pods';
    const table = await call(path, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
    });
    expect(table.body).toMatchObject({
      kind: 'Table',
      columnDefinitions: expect.arrayContaining([expect.objectContaining({ name: 'Ready' })]),
      rows: [
        { cells: expect.arrayContaining(['a', '0/1', 'Pending', '0']), object: { kind: 'PartialObjectMetadata' } },
      ],
    });
    const partial = await call(path, {
      headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
    });
    expect(partial.body).toMatchObject({ kind: 'PartialObjectMetadataList', items: [{ metadata: { name: 'a' } }] });
    const list = await call(path);
    expect(list.body).toMatchObject({ kind: 'PodList', apiVersion: 'v1', items: [{ metadata: { name: 'a' } }] });
    expect(list.body['items']).not.toMatchObject([{ kind: 'Pod' }]);
  });

  test('discovery in both forms, OpenAPI, version', async () => {
    const { call } = await start();
    expect((await call('/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const aggregated = await call('/apis', {
      headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json' },
    });
    expect(aggregated.headers.get('content-type')).toBe(
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    );
    expect(aggregated.body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
    expect((await call('/apis/apps')).body).toMatchObject({
      kind: 'APIGroup',
      preferredVersion: { groupVersion: 'apps/v1' },
    });
    expect((await call('/api/v1')).body['resources']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'pods/resize' }),
        expect.objectContaining({ name: 'pods/eviction', kind: 'Eviction', group: 'policy' }),
      ]),
    );
    expect((await call('/openapi/v3')).body['paths']).toHaveProperty(['apis/apps/v1']);
    expect((await call('/openapi/v3/apis/apps/v1')).body['paths']).toHaveProperty([
      '/apis/apps/v1/namespaces/{namespace}/deployments/{name}',
    ]);
    expect((await call('/version')).body).toMatchObject({ major: '1', minor: '37' });
  });

  test('of a watch whose client has gone nothing is left, not even for an outage to break', async () => {
    const { listening, server } = await start();
    const stop = new AbortController();
    await fetch(`${listening.url}/api/v1/pods?watch=1&resourceVersion=0`, { signal: stop.signal });
    const broken = (): number => {
      let asked = 0;
      const users = Object.assign(['nobody'], { some: () => asked++ < 0 });
      server.faults.add({ users, effect: { kind: 'outage' } }).remove();
      return asked;
    };
    expect(broken()).toBe(1);
    stop.abort();
    await expect.poll(broken).toBe(0);
  });

  test('watches stream lines, end by their timeout, and report a broken start', async () => {
    const { call, api, server } = await start();
    await api.create(resources.pods, testPod('a'));
    const path = '/api/v1/namespaces/default/pods?watch=1';
    const response = await call(
      `${path}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1`,
    );
    expect(response.status).toBe(200);
    expect(String(response.body['lines'])).toMatch(
      /^\{"type":"ADDED".*,\{"type":"BOOKMARK".*k8s\.io\/initial-events-end/,
    );
    await api.create(resources.pods, testPod('b'));
    server.core.compact();
    const broken = await call(`${path}&resourceVersion=1`);
    expect(broken.status).toBe(200);
    expect(broken.body).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    expect((await call(`${path}&labelSelector=a(`)).status).toBe(400);
    expect(server.accessLog.entries()).toEqual(
      expect.arrayContaining([expect.objectContaining({ verb: 'watch', resource: 'pods', namespace: 'default' })]),
    );
  });
});

describe('callers', () => {
  test('tokens are known, expire, and can be revoked', async () => {
    const { call, server } = await start();
    server.authentication.addToken('good', 'alice');
    server.authentication.addToken('old', 'bob', 0);
    const as = (token: string) =>
      call('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
        method: 'POST',
        body: '{}',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      });
    expect((await as('good')).body).toMatchObject({
      status: { userInfo: { username: 'alice', groups: ['system:authenticated'] } },
    });
    expect(await as('old')).toMatchObject({ status: 401, body: { reason: 'Unauthorized', message: 'Unauthorized' } });
    expect((await call('/api/v1/pods')).status).toBe(401);
    server.authentication.revokeToken('good');
    expect((await as('good')).status).toBe(401);
  });

  test('roles decide, anonymous callers and refusals are told apart, administrators may impersonate', async () => {
    const { call, server, api } = await start({ rbac: true });
    const rbac = (plural: string, kind: string, namespaced: boolean) => ({
      group: 'rbac.authorization.k8s.io',
      version: 'v1',
      plural,
      kind,
      namespaced,
    });
    server.authentication.addToken('alice', 'alice');
    server.authentication.addToken('root', { name: 'root', groups: ['system:masters'] });
    const roles = { rules: [{ apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'list'] }] };
    await api.create(rbac('roles', 'Role', true), { metadata: { name: 'reader', namespace: 'default' }, ...roles });
    const binding = { subjects: [{ kind: 'User', name: 'alice' }], roleRef: { kind: 'Role', name: 'reader' } };
    await api.create(rbac('rolebindings', 'RoleBinding', true), {
      metadata: { name: 'reader', namespace: 'default' },
      ...binding,
    });
    const as = (token: string, path: string, method = 'GET', more: Record<string, string> = {}) =>
      call(path, { method, headers: { authorization: `Bearer ${token}`, ...more } });
    expect((await as('alice', '/api/v1/namespaces/default/pods')).status).toBe(200);
    expect((await as('alice', '/api/v1/namespaces/default/pods/x/status')).status).toBe(404);
    expect(await as('alice', '/api/v1/namespaces/kube-system/pods')).toMatchObject({
      status: 403,
      body: {
        message:
          'pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "kube-system"',
      },
    });
    expect((await as('alice', '/api/v1/nodes/n')).body['message']).toBe(
      'nodes "n" is forbidden: User "alice" cannot get resource "nodes" in API group "" at the cluster scope',
    );
    expect((await as('alice', '/api/v1/namespaces/default/pods/x', 'DELETE')).status).toBe(403);
    expect((await call('/api/v1/pods')).body['message']).toContain(
      'User "system:anonymous" cannot list resource "pods"',
    );
    expect((await as('root', '/api/v1/nodes', 'GET', { 'impersonate-user': 'alice' })).status).toBe(403);
    expect((await as('alice', '/api/v1/nodes', 'GET', { 'impersonate-user': 'root' })).body['message']).toContain(
      'cannot impersonate',
    );
  });
});
