import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/core.ts';
import type { KubeApi, ListOptions } from '../../api/kube-api.ts';
import { KubeError } from '../../api/kube-error.ts';
import type { ResourceType } from '../../api/resources.ts';
import { shopCluster, workload } from '../testing/shop.ts';
import { loadLive } from './load-live.ts';

const objects = [...shopCluster(), ...workload({ name: 'web', pods: ['spot-1', 'od-1'] })] as KubeObject[];
const signal = new AbortController().signal;
const ALL = { namespace: undefined };
const SHOP = { namespace: 'shop' };

/** A server that only lists; `answer` may refuse or replace a listing. */
function server(
  answer: (type: ResourceType, options: ListOptions) => readonly object[] | undefined = () => undefined,
): KubeApi {
  const refuse = (): never => {
    throw new Error('only list is expected: nothing may be written');
  };
  return {
    list: async (type: ResourceType, options: ListOptions = {}) => ({
      items: (answer(type, options) ?? objects.filter(({ kind }) => kind === type.kind)) as never[],
      resourceVersion: '1',
    }),
    get: refuse,
    create: refuse,
    createSubresource: refuse,
    replace: refuse,
    patch: refuse,
    delete: refuse,
    watch: refuse,
  };
}

const fail = (status: number): never => {
  throw new KubeError(status, undefined, `answer ${status}`);
};

describe('loadLive', () => {
  test('lists every kind once and writes nothing', async () => {
    const { counts, unreadable, problems, evictions } = await loadLive(server(), ALL, signal);
    expect(counts).toMatchObject({ namespaces: 1, nodes: 4, pods: 2, deployments: 1, replicasets: 1, statefulsets: 0 });
    expect({ unreadable, problems, evictions }).toEqual({ unreadable: [], problems: [], evictions: 0 });
  });

  test.each([403, 404])('a kind answered with %d is left out and named', async (status) => {
    const { counts, unreadable } = await loadLive(
      server((type) => (type.plural === 'nodes' ? fail(status) : undefined)),
      ALL,
      signal,
    );
    expect(unreadable).toEqual(['nodes']);
    expect(counts).toMatchObject({ nodes: 0, pods: 2 });
  });

  test('any other failure is one', async () => {
    await expect(
      loadLive(
        server(() => fail(500)),
        ALL,
        signal,
      ),
    ).rejects.toThrow('answer 500');
  });

  test('a listing that expires halfway starts anew without doubles', async () => {
    let attempts = 0;
    const api = server((type, { continueToken }) => {
      if (type.kind !== 'Pod' || continueToken === undefined) return undefined;
      attempts++;
      return attempts === 1 ? fail(410) : [];
    });
    const list = api.list;
    const paged: KubeApi = {
      ...api,
      list: async (type, options = {}) => {
        const page = await list(type, options);
        return type.kind === 'Pod' && options.continueToken === undefined ? { ...page, continueToken: 'more' } : page;
      },
    };
    expect((await loadLive(paged, ALL, signal)).counts).toMatchObject({ pods: 2 });
    expect(attempts).toBe(2);
  });

  test('evictions are counted from events, repeats included; unreadable events cost nothing', async () => {
    const events = [{ reason: 'EvictedForRebalance' }, { reason: 'EvictedForRebalance', series: { count: 3 } }];
    const asked: (string | undefined)[] = [];
    const withEvents = server((type, { fieldSelector }) => {
      if (type.plural !== 'events') return undefined;
      asked.push(fieldSelector);
      return events;
    });
    expect((await loadLive(withEvents, ALL, signal)).evictions).toBe(4);
    expect(asked).toEqual(['reason=EvictedForRebalance']);
    expect(
      (
        await loadLive(
          server((type) => (type.plural === 'events' ? fail(400) : undefined)),
          ALL,
          signal,
        )
      ).evictions,
    ).toBeUndefined();
  });

  describe('of one namespace', () => {
    /** Answers as somebody sees it who may list in the namespace, and these kinds everywhere. */
    function tenant(
      wide: readonly string[],
      more: (type: ResourceType) => readonly object[] | undefined = () => undefined,
    ) {
      const asked: string[] = [];
      const api = server((type, { namespace }) => {
        asked.push(`${namespace ?? '*'} ${type.plural}`);
        if (namespace === undefined && !wide.includes(type.plural)) fail(403);
        return more(type);
      });
      const get: KubeApi['get'] = async (type, name) => {
        asked.push(`get ${type.plural} ${name}`);
        return objects.find(({ kind, metadata }) => kind === type.kind && metadata?.name === name) as never;
      };
      return { api: { ...api, get }, asked };
    }

    test('reads the namespace by its name, and lists nothing of others but where that may help', async () => {
      const { api, asked } = tenant([]);
      const { counts, unreadable, isPartial } = await loadLive(api, SHOP, signal);
      expect(counts).toMatchObject({ namespaces: 1, pods: 2, deployments: 1, replicasets: 1, nodes: 0 });
      expect(unreadable).toEqual(['nodes', 'persistentvolumes', 'optimizationpolicies of other namespaces']);
      expect(isPartial).toBe(true);
      expect(asked).toContain('get namespaces shop');
      expect(asked.filter((each) => each.startsWith('*')).toSorted()).toEqual([
        '* nodes',
        '* optimizationpolicies',
        '* optimizationpolicies',
        '* persistentvolumes',
      ]);
    });

    test('with nodes the pods that fill them are asked for', async () => {
      const some = await loadLive(tenant(['nodes']).api, SHOP, signal);
      expect(some).toMatchObject({ isPartial: true, counts: { nodes: 4, pods: 2 } });
      expect(some.unreadable).toContain('pods of other namespaces');
      const all = await loadLive(tenant(['nodes', 'pods']).api, SHOP, signal);
      expect(all).toMatchObject({ isPartial: false, counts: { pods: 2 } });
      expect(all.unreadable).not.toContain('pods of other namespaces');
    });

    test.each(['pods', 'deployments and statefulsets'])('without %s there is nothing to say', async (kinds) => {
      const refused = kinds.split(' and ');
      const { api } = tenant([], (type) => (refused.includes(type.plural) ? fail(403) : undefined));
      await expect(loadLive(api, SHOP, signal)).rejects.toThrow('answer 403');
    });

    test('a namespace that is not there is told', async () => {
      const { api } = tenant([]);
      const get = async (): Promise<never> => fail(404);
      await expect(loadLive({ ...api, get }, SHOP, signal)).rejects.toThrow('there is no namespace shop');
    });

    test.each([
      ['a type that is refused', 403, true, ['optimizationpolicies']],
      ['a type that is refused because it is not there', 403, false, []],
      ['a type that is not there', 404, undefined, []],
    ])('%s', async (_title, status, isServed, missing) => {
      const { api } = tenant(['nodes', 'pods', 'persistentvolumes'], (type) =>
        type.plural === 'optimizationpolicies' ? fail(status) : undefined,
      );
      const served = { plural: 'optimizationpolicies', kind: 'OptimizationPolicy', namespaced: true };
      const discover = async () => (isServed === true ? [served] : []);
      const { unreadable } = await loadLive({ ...api, ...(isServed !== undefined && { discover }) }, SHOP, signal);
      expect(unreadable).toEqual(missing);
    });
  });
});
