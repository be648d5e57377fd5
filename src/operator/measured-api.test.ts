import { describe, expect, onTestFinished, test } from 'vitest';
import type { KubeObject } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { createApiServer } from '../cluster/apiserver/api-server.ts';
import { createMetrics } from '../lib/metrics.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { podMetricsType } from '../observe/usage/metrics-server-source.ts';
import { measureApi } from './measured-api.ts';

function setUp() {
  const clock = createVirtualClock(0);
  const server = createApiServer({ clock, random: createSeededRandom(1) });
  onTestFinished(() => server.close());
  const metrics = createMetrics();
  const api = measureApi(server.client(), metrics, clock);
  /** The value of a series, written as Prometheus shows it. */
  const value = async (series: string): Promise<number> => {
    const line = (await metrics.render()).split('\n').find((each) => each.startsWith(`${series} `));
    return Number(line?.split(' ')[1] ?? 0);
  };
  return { api, server, value };
}

const inDefault = { namespace: 'default' };
const configMap = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

describe('measureApi', () => {
  test('counts verbs, resources and answers, and passes them on', async () => {
    const { api, value } = setUp();
    await api.create(resources.configMaps, configMap('a'), inDefault);
    await expect(api.create(resources.configMaps, configMap('a'), inDefault)).rejects.toMatchObject({
      httpStatus: 409,
    });
    await expect(api.get(resources.configMaps, 'b', inDefault)).rejects.toMatchObject({ httpStatus: 404 });
    await expect(api.createSubresource(resources.pods, 'p', 'eviction', {}, inDefault)).rejects.toThrow();
    expect(await value('stowage_api_requests_total{verb="create",resource="configmaps",code="200"}')).toBe(1);
    expect(await value('stowage_api_requests_total{verb="create",resource="configmaps",code="409"}')).toBe(1);
    expect(await value('stowage_api_requests_total{verb="get",resource="configmaps",code="404"}')).toBe(1);
    expect(await value('stowage_api_request_duration_seconds_count{verb="create"}')).toBe(3);
  });

  test('a right that is missing is counted by its name, what admission refuses is not', async () => {
    const { api, server, value } = setUp();
    const refuse = async (message: string): Promise<void> => {
      server.faults.add({ effect: { kind: 'status', code: 403, message }, count: 1 });
      const patch = { type: 'merge', body: {} } as const;
      await expect(api.patch(resources.pods, 'p', patch, inDefault)).rejects.toMatchObject({ httpStatus: 403 });
    };
    await refuse('pods "p" is forbidden: exceeded quota: q');
    const right = 'User "x" cannot patch resource "pods/resize" in API group "" in the namespace "default"';
    await refuse(`pods "p" is forbidden: ${right}`);
    expect(await value('stowage_api_requests_total{verb="patch",resource="pods",code="403"}')).toBe(2);
    expect(await value('stowage_api_rights_missing_total{verb="patch",resource="pods/resize"}')).toBe(1);
  });

  test('what is asked of a subresource is counted by its name', async () => {
    const { api, value } = setUp();
    const resize = { ...inDefault, subresource: 'resize' };
    await expect(api.patch(resources.pods, 'p', { type: 'strategic', body: {} }, resize)).rejects.toThrow();
    expect(await value('stowage_api_requests_total{verb="patch",resource="pods/resize",code="404"}')).toBe(1);
    expect(await value('stowage_api_requests_total{verb="patch",resource="pods",code="404"}')).toBe(0);
  });

  test('a broken connection counts as no answer', async () => {
    const { api, server, value } = setUp();
    server.faults.add({ effect: { kind: 'drop' }, count: 1 });
    await expect(api.get(resources.configMaps, 'a', inDefault)).rejects.toThrow('connection reset');
    expect(await value('stowage_api_requests_total{verb="get",resource="configmaps",code="0"}')).toBe(1);
  });

  test('a list in pages is one list', async () => {
    const { api, value } = setUp();
    for (const name of ['a', 'b', 'c']) await api.create(resources.configMaps, configMap(name), inDefault);
    const first = await api.list(resources.configMaps, { ...inDefault, limit: 2 });
    await api.list(resources.configMaps, { ...inDefault, limit: 2, continueToken: first.continueToken ?? '' });
    expect(await value('stowage_informer_lists_total{resource="configmaps"}')).toBe(1);
    expect(await value('stowage_api_requests_total{verb="list",resource="configmaps",code="200"}')).toBe(2);
  });

  test('one object, asked for to learn whether it may be or how far the server is, is no list of an informer', async () => {
    const { api, value } = setUp();
    await api.list(resources.configMaps, { ...inDefault, limit: 1 });
    expect(await value('stowage_informer_lists_total{resource="configmaps"}')).toBe(0);
    expect(await value('stowage_api_requests_total{verb="list",resource="configmaps",code="200"}')).toBe(1);
  });

  test('usage that is listed every half minute is neither a list of an informer nor a request about pods', async () => {
    const { api, value } = setUp();
    await expect(api.list(podMetricsType, inDefault)).rejects.toMatchObject({ httpStatus: 404 });
    expect(await value('stowage_api_requests_total{verb="list",resource="pods.metrics.k8s.io",code="404"}')).toBe(1);
    expect(await value('stowage_api_requests_total{verb="list",resource="pods",code="404"}')).toBe(0);
    for (const resource of ['pods', 'pods.metrics.k8s.io'])
      expect(await value(`stowage_informer_lists_total{resource="${resource}"}`)).toBe(0);
  });

  test('events of a watch are counted as they come, and closing it closes the server side', async () => {
    const { api, value } = setUp();
    await api.create(resources.configMaps, configMap('a'), inDefault);
    const stop = new AbortController();
    const options = { ...inDefault, sendInitialEvents: true, signal: stop.signal };
    const types: string[] = [];
    for await (const { type } of api.watch(resources.configMaps, options)) {
      types.push(type);
      if (type === 'BOOKMARK') break;
    }
    stop.abort();
    expect(types).toEqual(['ADDED', 'BOOKMARK']);
    expect(await value('stowage_informer_events_total{resource="configmaps"}')).toBe(2);
    expect(await value('stowage_informer_lists_total{resource="configmaps"}')).toBe(1);
  });
});
