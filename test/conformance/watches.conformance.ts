import { describe, expect, onTestFinished, test } from 'vitest';
import { at, type Cluster, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { type RawWatchEvent, RefusedWatch } from './endpoint.ts';
import { pod } from './objects.ts';

/** Takes events until one satisfies `isLast` (included), then closes the watch. */
async function takeUntil(
  events: AsyncIterable<RawWatchEvent>,
  isLast: (event: RawWatchEvent) => boolean,
): Promise<RawWatchEvent[]> {
  const taken: RawWatchEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (isLast(event)) break;
  }
  return taken;
}

const nameOf = (event: RawWatchEvent): unknown => at(event.object, 'metadata', 'name');
const typesAndNames = (events: readonly RawWatchEvent[]): string[] =>
  events.map((event) => `${event.type} ${nameOf(event)}`);
const isNamed =
  (name: string, type?: string) =>
  (event: RawWatchEvent): boolean =>
    nameOf(event) === name && (type === undefined || event.type === type);
const isInitialEnd = (event: RawWatchEvent): boolean =>
  event.type === 'BOOKMARK' && at(event.object, 'metadata', 'annotations', 'k8s.io/initial-events-end') === 'true';

const MINE = 'labelSelector=mine';
const labelled = (name: string, data = 'x') => ({ metadata: { name, labels: { mine: '' } }, data: { key: data } });

async function listVersion({ get }: Cluster, path: string): Promise<string> {
  return textAt((await get(`${path}?${MINE}`)).body, 'metadata', 'resourceVersion');
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'conformance.stowage.test';

/** Serves one more type, removed with the test, and returns the path of its objects in the namespace. */
async function newType({ post, get, must, delete: remove, eventually }: Cluster, namespace: string): Promise<string> {
  const plural = `things${namespace.replaceAll('-', '')}`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await must(
    post(DEFINITIONS, {
      metadata: { name: `${plural}.${GROUP}` },
      spec: {
        group: GROUP,
        scope: 'Namespaced',
        names: { plural, singular: plural, kind: `Kind${plural}`, listKind: `Kind${plural}List` },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    }),
  );
  onTestFinished(async () => void (await remove(`${DEFINITIONS}/${plural}.${GROUP}`)));
  const path = `/apis/${GROUP}/v1/namespaces/${namespace}/${plural}`;
  await eventually(async () => expect((await get(path)).status).toBe(200));
  return path;
}

describeOnBackends('watches', (cluster) => {
  test('from a list, show each change once and in order, with the object whole', async () => {
    const { post, mergePatch, delete: remove, must, namespace, backend } = cluster();
    const { configMaps } = await namespace();
    await must(post(configMaps, labelled('old')));
    const version = await listVersion(cluster(), configMaps);
    await must(post(configMaps, labelled('a', '1')));
    await must(mergePatch(`${configMaps}/a`, { data: { key: '2' } }));
    await must(remove(`${configMaps}/a`));
    const events = await takeUntil(
      backend.admin.watch(`${configMaps}?watch=true&${MINE}&resourceVersion=${version}`),
      isNamed('a', 'DELETED'),
    );
    expect(typesAndNames(events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
    expect(events.map((event) => at(event.object, 'data', 'key'))).toEqual(['1', '2', '2']);
    expect(events[0]?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    const versions = events.map((event) => Number(textAt(event.object, 'metadata', 'resourceVersion')));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    // The last one is that of the deletion itself, so that a watch resumed from it does not see it again.
    expect(new Set(versions).size).toBe(3);
  });

  test.each(['', '&resourceVersion=0'])('without a version%s, start with what is there', async (query) => {
    const { post, must, namespace, backend } = cluster();
    const { configMaps } = await namespace();
    for (const name of ['a', 'b']) await must(post(configMaps, labelled(name)));
    const taken: string[] = [];
    for await (const event of backend.admin.watch(`${configMaps}?watch=true&${MINE}${query}`)) {
      taken.push(`${event.type} ${nameOf(event)}`);
      if (taken.length === 2) await must(post(configMaps, labelled('c')));
      if (taken.length === 3) break;
    }
    expect(taken.slice(0, 2).toSorted()).toEqual(['ADDED a', 'ADDED b']);
    expect(taken[2]).toBe('ADDED c');
  });

  test('resumed from the last version seen, miss nothing and repeat nothing', async () => {
    const { post, must, namespace, backend } = cluster();
    const { configMaps } = await namespace();
    const version = await listVersion(cluster(), configMaps);
    await must(post(configMaps, labelled('a')));
    const [seen] = await takeUntil(
      backend.admin.watch(`${configMaps}?watch=true&${MINE}&resourceVersion=${version}`),
      isNamed('a'),
    );
    await must(post(configMaps, labelled('b')));
    await must(post(configMaps, labelled('c')));
    const last = textAt(seen?.object, 'metadata', 'resourceVersion');
    const events = await takeUntil(
      backend.admin.watch(`${configMaps}?watch=true&${MINE}&resourceVersion=${last}`),
      isNamed('c'),
    );
    expect(typesAndNames(events)).toEqual(['ADDED b', 'ADDED c']);
  });

  test('an object that stops matching the selector is DELETED, one that starts is ADDED', async () => {
    const { post, mergePatch, must, namespace, backend } = cluster();
    const { configMaps } = await namespace();
    await must(post(configMaps, labelled('a')));
    const version = await listVersion(cluster(), configMaps);
    await must(mergePatch(`${configMaps}/a`, { metadata: { labels: { mine: null } } }));
    await must(mergePatch(`${configMaps}/a`, { data: { key: 'unseen' } }));
    await must(mergePatch(`${configMaps}/a`, { metadata: { labels: { mine: '' } } }));
    const events = await takeUntil(
      backend.admin.watch(`${configMaps}?watch=true&${MINE}&resourceVersion=${version}`),
      isNamed('a', 'ADDED'),
    );
    expect(typesAndNames(events)).toEqual(['DELETED a', 'ADDED a']);
    // The DELETED event carries the labels that still matched.
    expect(events[0]?.object).toMatchObject({ metadata: { labels: { mine: '' } } });
  });

  test('a field selector does the same: a pod that is bound leaves the watch on unbound ones', async () => {
    const { post, must, namespace, node, backend } = cluster();
    const { pods } = await namespace();
    const nodeName = await node();
    await must(post(pods, pod('a')));
    const events: string[] = [];
    for await (const event of backend.admin.watch(`${pods}?watch=true&fieldSelector=spec.nodeName%3D`)) {
      events.push(`${event.type} ${nameOf(event)}`);
      if (events.length > 1) break;
      await must(post(`${pods}/a/binding`, { metadata: { name: 'a' }, target: { kind: 'Node', name: nodeName } }));
    }
    expect(events).toEqual(['ADDED a', 'DELETED a']);
  });

  describe('WatchList', () => {
    const QUERY = `watch=true&${MINE}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;

    test('streams the state, then a bookmark that ends it, then changes', async () => {
      const { post, must, namespace, backend } = cluster();
      const { configMaps } = await namespace();
      for (const name of ['a', 'b']) await must(post(configMaps, labelled(name)));
      const version = Number(await listVersion(cluster(), configMaps));
      const taken: RawWatchEvent[] = [];
      for await (const event of backend.admin.watch(`${configMaps}?${QUERY}`)) {
        taken.push(event);
        if (isInitialEnd(event)) await must(post(configMaps, labelled('c')));
        if (nameOf(event) === 'c') break;
      }
      expect(taken.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK', 'ADDED']);
      expect(taken[2]?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
      expect(Number(textAt(taken[2]?.object, 'metadata', 'resourceVersion'))).toBeGreaterThanOrEqual(version);
    });

    test('of nothing is the bookmark alone', async () => {
      const { namespace, backend } = cluster();
      const { configMaps } = await namespace();
      const events = await takeUntil(backend.admin.watch(`${configMaps}?${QUERY}`), isInitialEnd);
      expect(events).toHaveLength(1);
    });

    test('a watch can be resumed from the version of its end', async () => {
      const { post, must, namespace, backend } = cluster();
      const { configMaps } = await namespace();
      await must(post(configMaps, labelled('a')));
      const events = await takeUntil(backend.admin.watch(`${configMaps}?${QUERY}`), isInitialEnd);
      await must(post(configMaps, labelled('b')));
      const version = textAt(events.at(-1)?.object, 'metadata', 'resourceVersion');
      const more = await takeUntil(
        backend.admin.watch(`${configMaps}?watch=true&${MINE}&resourceVersion=${version}`),
        isNamed('b'),
      );
      expect(typesAndNames(more)).toEqual(['ADDED b']);
    });

    test('without resourceVersionMatch is 422', async () => {
      const { namespace, backend } = cluster();
      const { configMaps } = await namespace();
      const opening = takeUntil(backend.admin.watch(`${configMaps}?watch=true&sendInitialEvents=true`), () => true);
      await expect(opening).rejects.toThrow(RefusedWatch);
      await expect(opening).rejects.toMatchObject({ answer: { status: 422, body: { reason: 'Invalid' } } });
    });
  });

  test('end without a word after timeoutSeconds', async () => {
    const { namespace, backend } = cluster();
    const { configMaps } = await namespace();
    const version = await listVersion(cluster(), configMaps);
    const path = `${configMaps}?watch=true&${MINE}&timeoutSeconds=1&resourceVersion=${version}`;
    expect(await takeUntil(backend.admin.watch(path), () => false)).toEqual([]);
  });

  test('from a version that is not there yet are taken, and silent until it is: not even a bookmark', async () => {
    const { post, must, namespace, backend } = cluster();
    const { configMaps } = await namespace();
    const version = Number(await listVersion(cluster(), configMaps)) + 1_000_000;
    const query = `watch=true&${MINE}&allowWatchBookmarks=true&timeoutSeconds=3&resourceVersion=${version}`;
    const events = takeUntil(backend.admin.watch(`${configMaps}?${query}`), () => false);
    await must(post(configMaps, labelled('a')));
    expect(await events).toEqual([]);
  });

  test('of a version before a compaction, get ERROR with 410 Expired, and the stream ends', async ({ skip }) => {
    const { post, must, namespace, backend } = cluster();
    const { compact } = backend;
    if (compact === undefined) return skip('the cluster is not ours to compact');
    const { name, configMaps } = await namespace();
    await must(post(configMaps, labelled('a')));
    await compact();
    // A real server keeps recent events of its types in a cache of its own, and serves from there. Not so for a type made later.
    const path = backend.name === 'real' ? await newType(cluster(), name) : configMaps;
    const events = await takeUntil(backend.admin.watch(`${path}?watch=true&resourceVersion=1`), () => false);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    expect(events[0]?.object['message']).toMatch(/^too old resource version: 1 \(\d+\)$/);
  });

  test('with a selector that cannot be parsed are 400', async () => {
    const { namespace, backend } = cluster();
    const { configMaps } = await namespace();
    const opening = takeUntil(backend.admin.watch(`${configMaps}?watch=true&labelSelector=a%3D(`), () => true);
    await expect(opening).rejects.toMatchObject({ answer: { status: 400 } });
  });
});
