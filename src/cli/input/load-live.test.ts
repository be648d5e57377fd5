import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/core.ts';
import type { KubeApi, ListOptions } from '../../api/kube-api.ts';
import { KubeError } from '../../api/kube-error.ts';
import type { ResourceType } from '../../api/resources.ts';
import { shopCluster, workload } from '../testing/shop.ts';
import { loadLive } from './load-live.ts';

const objects = [...shopCluster(), ...workload({ name: 'web', pods: ['spot-1', 'od-1'] })] as KubeObject[];
const signal = new AbortController().signal;

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
    const { counts, unreadable, problems, evictions } = await loadLive(server(), signal);
    expect(counts).toMatchObject({ namespaces: 1, nodes: 4, pods: 2, deployments: 1, replicasets: 1, statefulsets: 0 });
    expect({ unreadable, problems, evictions }).toEqual({ unreadable: [], problems: [], evictions: 0 });
  });

  test.each([403, 404])('a kind answered with %d is left out and named', async (status) => {
    const { counts, unreadable } = await loadLive(
      server((type) => (type.plural === 'nodes' ? fail(status) : undefined)),
      signal,
    );
    expect(unreadable).toEqual(['nodes']);
    expect(counts).toMatchObject({ nodes: 0, pods: 2 });
  });

  test('any other failure is one', async () => {
    await expect(
      loadLive(
        server(() => fail(500)),
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
    expect((await loadLive(paged, signal)).counts).toMatchObject({ pods: 2 });
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
    expect((await loadLive(withEvents, signal)).evictions).toBe(4);
    expect(asked).toEqual(['reason=EvictedForRebalance']);
    expect(
      (
        await loadLive(
          server((type) => (type.plural === 'events' ? fail(400) : undefined)),
          signal,
        )
      ).evictions,
    ).toBeUndefined();
  });
});
