import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { isAlreadyExists, isConflict, isExpired, isNotFound, isTooLargeResourceVersion } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createApiServer } from './api-server.ts';

const START = Date.UTC(2026, 0, 1);

function setUp(options: { historyLimit?: number } = {}) {
  const clock = createVirtualClock(START);
  const server = createApiServer({ clock, random: createSeededRandom(1), ...options });
  return { clock, server, api: server.client() };
}

function pod(name: string, spec: Partial<Pod['spec']> = {}): Pod {
  return {
    metadata: { name, namespace: 'default', labels: { app: name } },
    spec: { containers: [{ name: 'main', image: 'image:1' }], ...spec },
  };
}

const inDefault = { namespace: 'default' };

describe('objects', () => {
  test('create gives an object its identity; neither what was sent nor the answer is a way to change it', async () => {
    const { api } = setUp();
    const input = pod('a');
    const created = await api.create(resources.pods, input);
    expect(created.metadata).toMatchObject({
      name: 'a',
      namespace: 'default',
      creationTimestamp: '2026-01-01T00:00:00Z',
    });
    expect(created.metadata?.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(() => Object.assign(created.metadata ?? {}, { name: 'changed' })).toThrow(TypeError);
    if (input.metadata?.labels !== undefined) input.metadata.labels['app'] = 'changed';
    const read = await api.get(resources.pods, 'a', inDefault);
    expect(read.metadata?.name).toBe('a');
    expect(read.metadata?.labels).toEqual({ app: 'a' });
  });

  test('generateName makes names of the base and five letters', async () => {
    const { api } = setUp();
    const created = await api.create(resources.pods, {
      ...pod(''),
      metadata: { generateName: 'web-', namespace: 'default' },
    });
    expect(created.metadata?.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  test('a generated name that is taken is drawn again, eight times at most', async () => {
    let equalDraws = Number.POSITIVE_INFINITY;
    const random = { next: () => (equalDraws-- > 0 ? 0 : 0.5) };
    const api = createApiServer({ clock: createVirtualClock(START), random }).client();
    const make = () =>
      api.create(resources.pods, { ...pod(''), metadata: { generateName: 'web-', namespace: 'default' } });
    expect((await make()).metadata?.name).toBe('web-bbbbb');
    const error = await make().catch((reason: unknown) => reason);
    expect(isAlreadyExists(error)).toBe(true);
    expect(error).toMatchObject({
      message: 'pods "web-bbbbb" already exists, the server was not able to generate a unique name for the object',
      status: { details: { name: 'web-bbbbb', kind: 'pods', retryAfterSeconds: 1 } },
    });
    // Two collisions and a bit: uids are drawn, too.
    equalDraws = 30;
    expect((await make()).metadata?.name).toMatch(/^web-(?!bbbbb)/);
  });

  test('a name can be taken once', async () => {
    const { api } = setUp();
    await api.create(resources.pods, pod('a'));
    const error = await api.create(resources.pods, pod('a')).catch((reason: unknown) => reason);
    expect(isAlreadyExists(error)).toBe(true);
    expect(error).toMatchObject({
      message: 'pods "a" already exists',
      status: { details: { name: 'a', kind: 'pods' } },
    });
  });

  test('what does not exist is not found, by name and by namespace', async () => {
    const { api } = setUp();
    await expect(api.get(resources.deployments, 'x', inDefault)).rejects.toSatisfy(isNotFound);
    await expect(api.get(resources.deployments, 'x', inDefault)).rejects.toThrow('deployments.apps "x" not found');
    await expect(api.create(resources.pods, pod('a'), { namespace: 'nowhere' })).rejects.toThrow(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
    const lost = { ...pod('a'), metadata: { name: 'a', namespace: 'nowhere' } };
    await expect(api.create(resources.pods, lost)).rejects.toThrow('namespaces "nowhere" not found');
  });

  test('replace with a stale version conflicts, without a version it wins', async () => {
    const { api } = setUp();
    const first = await api.create(resources.configMaps, {
      metadata: { name: 'c', namespace: 'default' },
      data: { a: '1' },
    });
    await api.replace(resources.configMaps, { ...first, data: { a: '2' } });
    const error = await api
      .replace(resources.configMaps, { ...first, data: { a: '3' } })
      .catch((reason: unknown) => reason);
    expect(isConflict(error)).toBe(true);
    expect(error).toMatchObject({
      message:
        'Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again',
    });
    const won = await api.replace(resources.configMaps, {
      metadata: { name: 'c', namespace: 'default' },
      data: { a: '4' },
    });
    expect(won.data).toEqual({ a: '4' });
  });

  test('a write that changes nothing keeps the version', async () => {
    const { api, server } = setUp();
    const first = await api.create(resources.configMaps, {
      metadata: { name: 'c', namespace: 'default' },
      data: { a: '1' },
    });
    const before = server.core.revision();
    const again = await api.patch(resources.configMaps, 'c', { type: 'merge', body: { data: { a: '1' } } }, inDefault);
    expect(again.metadata?.resourceVersion).toBe(first.metadata?.resourceVersion);
    expect(server.core.revision()).toBe(before);
  });

  test('generation follows the spec, not labels or status', async () => {
    const { api } = setUp();
    const spec = {
      replicas: 1,
      selector: { matchLabels: { app: 'd' } },
      template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'm', image: 'i' }] } },
    };
    await api.create(resources.deployments, { metadata: { name: 'd', namespace: 'default' }, spec });
    const labelled = await api.patch(
      resources.deployments,
      'd',
      { type: 'merge', body: { metadata: { labels: { x: 'y' } } } },
      inDefault,
    );
    expect(labelled.metadata?.generation).toBe(1);
    const scaled = await api.patch(
      resources.deployments,
      'd',
      { type: 'merge', body: { spec: { replicas: 3 }, status: { replicas: 9 } } },
      inDefault,
    );
    expect(scaled.metadata?.generation).toBe(2);
    expect(scaled.status?.replicas).toBeUndefined();
    const reported = await api.patch(
      resources.deployments,
      'd',
      { type: 'merge', body: { spec: { replicas: 7 }, status: { replicas: 3 } } },
      { ...inDefault, subresource: 'status' },
    );
    expect(reported.metadata?.generation).toBe(2);
    expect(reported.spec?.replicas).toBe(3);
    expect(reported.status?.replicas).toBe(3);
  });

  test('dry run validates and answers, but stores nothing', async () => {
    const { api } = setUp();
    const answer = await api.create(resources.pods, pod('a'), { dryRun: true });
    expect(answer.metadata?.uid).toBeDefined();
    await expect(api.get(resources.pods, 'a', inDefault)).rejects.toSatisfy(isNotFound);
  });
});

describe('deletion', () => {
  test('a pod nobody runs goes at once; a bound one waits for its kubelet', async () => {
    const { api } = setUp();
    await api.create(resources.pods, pod('free'));
    await api.delete(resources.pods, 'free', inDefault);
    await expect(api.get(resources.pods, 'free', inDefault)).rejects.toSatisfy(isNotFound);

    await api.create(resources.pods, pod('bound', { nodeName: 'n1', terminationGracePeriodSeconds: 20 }));
    await api.delete(resources.pods, 'bound', inDefault);
    const waiting = await api.get(resources.pods, 'bound', inDefault);
    expect(waiting.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:20Z',
      deletionGracePeriodSeconds: 20,
    });
    await api.delete(resources.pods, 'bound', { ...inDefault, gracePeriodSeconds: 0 });
    await expect(api.get(resources.pods, 'bound', inDefault)).rejects.toSatisfy(isNotFound);
  });

  test('finalizers hold an object until the last one is removed', async () => {
    const { api } = setUp();
    await api.create(resources.configMaps, {
      metadata: { name: 'c', namespace: 'default', finalizers: ['example.com/hold'] },
    });
    await api.delete(resources.configMaps, 'c', inDefault);
    expect((await api.get(resources.configMaps, 'c', inDefault)).metadata?.deletionTimestamp).toBeDefined();
    await api.patch(resources.configMaps, 'c', { type: 'merge', body: { metadata: { finalizers: null } } }, inDefault);
    await expect(api.get(resources.configMaps, 'c', inDefault)).rejects.toSatisfy(isNotFound);
  });

  test('preconditions on uid and version', async () => {
    const { api } = setUp();
    const created = await api.create(resources.configMaps, { metadata: { name: 'c', namespace: 'default' } });
    await expect(api.delete(resources.configMaps, 'c', { ...inDefault, uid: 'other' })).rejects.toSatisfy(isConflict);
    await expect(api.delete(resources.configMaps, 'c', { ...inDefault, resourceVersion: '1' })).rejects.toSatisfy(
      isConflict,
    );
    await api.delete(resources.configMaps, 'c', { ...inDefault, uid: created.metadata?.uid ?? '' });
    await expect(api.get(resources.configMaps, 'c', inDefault)).rejects.toSatisfy(isNotFound);
  });
});

describe('lists', () => {
  test('pages are consistent with the first one, whatever happens meanwhile', async () => {
    const { api } = setUp();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await api.create(resources.pods, pod(name));
    const first = await api.list(resources.pods, { ...inDefault, limit: 2 });
    await api.delete(resources.pods, 'd', inDefault);
    await api.create(resources.pods, pod('ca'));
    const names = first.items.map((item) => item.metadata?.name);
    let token = first.continueToken;
    while (token !== undefined) {
      const page = await api.list(resources.pods, { ...inDefault, limit: 2, continueToken: token });
      expect(page.resourceVersion).toBe(first.resourceVersion);
      names.push(...page.items.map((item) => item.metadata?.name));
      token = page.continueToken;
    }
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('a continue token outlived by compaction gets 410 and an inconsistent continuation', async () => {
    const { api, server } = setUp();
    for (const name of ['a', 'b', 'c']) await api.create(resources.pods, pod(name));
    const { continueToken = '' } = await api.list(resources.pods, { ...inDefault, limit: 1 });
    await api.create(resources.pods, pod('bb'));
    server.core.compact();
    const error = await api
      .list(resources.pods, { ...inDefault, limit: 1, continueToken })
      .catch((reason: unknown) => reason);
    expect(isExpired(error)).toBe(true);
    const fresh = (error as { status: { metadata: { continue: string } } }).status.metadata.continue;
    const rest = await api.list(resources.pods, { ...inDefault, continueToken: fresh });
    expect(rest.items.map((item) => item.metadata?.name)).toEqual(['b', 'bb', 'c']);
  });

  test('resourceVersion: exact reads the past, a future one is too large', async () => {
    const { api, server } = setUp();
    const a = await api.create(resources.pods, pod('a'));
    await api.create(resources.pods, pod('b'));
    const past = await api.list(resources.pods, {
      ...inDefault,
      resourceVersion: a.metadata?.resourceVersion ?? '',
      resourceVersionMatch: 'Exact',
    });
    expect(past.items.map((item) => item.metadata?.name)).toEqual(['a']);
    const future = String(server.core.revision() + 5);
    const error = await api
      .list(resources.pods, { resourceVersion: future, resourceVersionMatch: 'NotOlderThan' })
      .catch((reason: unknown) => reason);
    expect(isTooLargeResourceVersion(error)).toBe(true);
  });

  test.each([
    ['app=a', ['a']],
    ['app in (a,b)', ['a', 'b']],
    ['app notin (a,b)', ['c']],
    ['app!=a,app', ['b', 'c']],
    ['!app', []],
    ['app==c', ['c']],
  ])('label selector %s', async (labelSelector, expected) => {
    const { api } = setUp();
    for (const name of ['a', 'b', 'c']) await api.create(resources.pods, pod(name));
    const { items } = await api.list(resources.pods, { labelSelector });
    expect(items.map((item) => item.metadata?.name)).toEqual(expected);
  });
});
