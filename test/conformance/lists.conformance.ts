import { describe, expect, test } from 'vitest';
import { ascending } from '../../src/lib/ascending.ts';
import { at, type Cluster, itemsOf, type Namespace, namesOf, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { pod } from './objects.ts';

/** Five config maps a..e; a, c and e have the label odd. A real cluster adds kube-root-ca.crt, so lists select by label. */
async function fiveConfigMaps({ post, must, namespace }: Cluster): Promise<Namespace> {
  const created = await namespace();
  for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    const labels = { mine: 'yes', index: String(index), ...(index % 2 === 0 ? { odd: '' } : {}) };
    await must(post(created.configMaps, { metadata: { name, labels } }));
  }
  return created;
}

describeOnBackends('lists', (cluster) => {
  test('are sorted by name, carry a resourceVersion, and their items no kind', async () => {
    const { get } = cluster();
    const { configMaps } = await fiveConfigMaps(cluster());
    const list = await get(`${configMaps}?labelSelector=mine`);
    expect(list.body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(namesOf(list)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(Number(textAt(list.body, 'metadata', 'resourceVersion'))).toBeGreaterThanOrEqual(
      Number(textAt(list.body, 'items', 4, 'metadata', 'resourceVersion')),
    );
    expect(itemsOf(list)[0]).not.toHaveProperty('kind');
  });

  test('across namespaces come sorted by namespace, then name', async () => {
    const { post, get, must, namespace } = cluster();
    const spaces = [await namespace(), await namespace()].toSorted((a, b) => ascending(a.name, b.name));
    const mark = spaces[0]?.name ?? '';
    for (const { configMaps } of spaces.toReversed()) {
      for (const name of ['b', 'a']) await must(post(configMaps, { metadata: { name, labels: { mark } } }));
    }
    const list = await get(`/api/v1/configmaps?labelSelector=mark%3D${mark}`);
    const found = itemsOf(list).map(
      (item) => `${textAt(item, 'metadata', 'namespace')}/${textAt(item, 'metadata', 'name')}`,
    );
    expect(found).toEqual(spaces.flatMap(({ name }) => [`${name}/a`, `${name}/b`]));
  });

  describe('paging', () => {
    test('goes through everything once, at the resourceVersion of the first page', async () => {
      const { get, post, must } = cluster();
      const { configMaps } = await fiveConfigMaps(cluster());
      const first = await get(`${configMaps}?limit=2&labelSelector=mine`);
      expect(namesOf(first)).toEqual(['a', 'b']);
      const token = textAt(first.body, 'metadata', 'continue');
      // Made after the first page: later pages must not show it.
      await must(post(configMaps, { metadata: { name: 'bb', labels: { mine: 'late' } } }));
      const second = await get(`${configMaps}?limit=2&labelSelector=mine&continue=${encodeURIComponent(token)}`);
      expect(namesOf(second)).toEqual(['c', 'd']);
      expect(at(second.body, 'metadata', 'resourceVersion')).toBe(at(first.body, 'metadata', 'resourceVersion'));
      const next = encodeURIComponent(textAt(second.body, 'metadata', 'continue'));
      const third = await get(`${configMaps}?limit=2&labelSelector=mine&continue=${next}`);
      expect(namesOf(third)).toEqual(['e']);
      expect(at(third.body, 'metadata', 'continue')).toBeUndefined();
    });

    test('tells how many remain, but only without a selector, and ends without a token', async () => {
      const { post, get, must, namespace } = cluster();
      const { leases } = await namespace();
      for (const name of ['a', 'b', 'c'])
        await must(post(leases, { metadata: { name, labels: { mine: '' } }, spec: {} }));
      expect((await get(`${leases}?limit=1`)).body).toMatchObject({ metadata: { remainingItemCount: 2 } });
      expect((await get(`${leases}?limit=1&labelSelector=mine`)).body).not.toHaveProperty(
        'metadata.remainingItemCount',
      );
      const whole = await get(`${leases}?limit=3`);
      expect(namesOf(whole)).toEqual(['a', 'b', 'c']);
      expect(whole.body).not.toHaveProperty('metadata.continue');
      expect(whole.body).not.toHaveProperty('metadata.remainingItemCount');
    });

    test('a selector is applied before the limit counts', async () => {
      const { get } = cluster();
      const { configMaps } = await fiveConfigMaps(cluster());
      const page = await get(`${configMaps}?limit=2&labelSelector=odd`);
      expect(namesOf(page)).toEqual(['a', 'c']);
      expect(page.body).toHaveProperty('metadata.continue');
    });

    test('resourceVersion=0 ignores the limit: the answer comes from the cache, whole', async () => {
      const { get, eventually } = cluster();
      const { configMaps } = await fiveConfigMaps(cluster());
      // The cache may lag behind what was just written.
      await eventually(async () => {
        const page = await get(`${configMaps}?limit=2&labelSelector=mine&resourceVersion=0`);
        expect(namesOf(page)).toHaveLength(5);
        expect(page.body).not.toHaveProperty('metadata.continue');
      });
    });

    test('a token that is none is 400', async () => {
      const { get } = cluster();
      const { configMaps } = await fiveConfigMaps(cluster());
      const { status, body } = await get(`${configMaps}?limit=1&continue=abc`);
      expect(status).toBe(400);
      expect(body['message']).toMatch(/^invalid continue token: /);
    });

    test('a token from before a compaction is 410 Expired, with a token to go on inconsistently', async ({ skip }) => {
      const { get, post, must, backend, eventually } = cluster();
      const { compact } = backend;
      if (compact === undefined) return skip('the cluster is not ours to compact');
      const { configMaps } = await fiveConfigMaps(cluster());
      const first = await get(`${configMaps}?limit=2&labelSelector=mine`);
      const token = encodeURIComponent(textAt(first.body, 'metadata', 'continue'));
      await must(post(configMaps, { metadata: { name: 'f', labels: { mine: 'yes' } } }));
      await compact();
      // A real server may still answer from its cache's snapshots until it has noticed the compaction.
      const expired = await eventually(async () => {
        const answer = await get(`${configMaps}?limit=2&labelSelector=mine&continue=${token}`);
        expect(answer.status).toBe(410);
        return answer;
      });
      expect(expired.body).toMatchObject({ reason: 'Expired', code: 410 });
      const inconsistent = encodeURIComponent(textAt(expired.body, 'metadata', 'continue'));
      const rest = await get(`${configMaps}?labelSelector=mine&continue=${inconsistent}`);
      expect(rest.status).toBe(200);
      expect(namesOf(rest)).toEqual(['c', 'd', 'e', 'f']);
    });
  });

  describe('resourceVersion', () => {
    test('Exact shows the list as it was', async () => {
      const { get, delete: remove, must } = cluster();
      const { configMaps } = await fiveConfigMaps(cluster());
      const before = await get(`${configMaps}?labelSelector=mine`);
      const version = textAt(before.body, 'metadata', 'resourceVersion');
      await must(remove(`${configMaps}/c`));
      const past = await get(`${configMaps}?labelSelector=mine&resourceVersion=${version}&resourceVersionMatch=Exact`);
      expect(namesOf(past)).toEqual(['a', 'b', 'c', 'd', 'e']);
      expect(at(past.body, 'metadata', 'resourceVersion')).toBe(version);
    });

    test('NotOlderThan is at least as new as asked', async () => {
      const { get, post, must } = cluster();
      const { configMaps } = await fiveConfigMaps(cluster());
      const created = await must(post(configMaps, { metadata: { name: 'f', labels: { mine: 'yes' } } }));
      const version = textAt(created, 'metadata', 'resourceVersion');
      const list = await get(
        `${configMaps}?labelSelector=mine&resourceVersion=${version}&resourceVersionMatch=NotOlderThan`,
      );
      expect(namesOf(list)).toContain('f');
    });

    test('from the future is 504 with a cause and a Retry-After', async () => {
      const { get, namespace } = cluster();
      const { configMaps } = await namespace();
      const { status, body, headers } = await get(`${configMaps}?resourceVersion=99999999`);
      expect(status).toBe(504);
      expect(body).toMatchObject({
        reason: 'Timeout',
        details: {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
      });
      expect(body['message']).toMatch(/^Timeout: Too large resource version: 99999999, current: \d+$/);
      expect(headers['retry-after']).toBe('1');
    });

    test.each([
      ['resourceVersion=abc', 400],
      ['resourceVersionMatch=Exact', 422],
      ['resourceVersion=0&resourceVersionMatch=Exact', 422],
      ['resourceVersion=1&resourceVersionMatch=Sometimes', 422],
    ])('%s is %d', async (query, expected) => {
      const { get, namespace } = cluster();
      const { configMaps } = await namespace();
      expect((await get(`${configMaps}?${query}`)).status).toBe(expected);
    });

    test('get takes 0 and answers the newest it knows', async () => {
      const { get } = cluster();
      const { configMaps } = await fiveConfigMaps(cluster());
      const version = textAt((await get(`${configMaps}/a`)).body, 'metadata', 'resourceVersion');
      // Waits until the cache has it.
      expect((await get(`${configMaps}/a?resourceVersion=${version}`)).status).toBe(200);
      expect((await get(`${configMaps}/a?resourceVersion=0`)).status).toBe(200);
    });
  });

  describe('selectors', () => {
    test.each([
      ['odd', ['a', 'c', 'e']],
      ['!odd,mine', ['b', 'd']],
      ['index=1', ['b']],
      ['index==1', ['b']],
      ['index!=1,mine', ['a', 'c', 'd', 'e']],
      ['index in (1,3),mine=yes', ['b', 'd']],
      ['index notin (1,3),mine', ['a', 'c', 'e']],
      ['index>2,mine', ['d', 'e']],
      ['index<1', ['a']],
      ['odd=', ['a', 'c', 'e']],
      ['constructor', []],
      ['!constructor,mine', ['a', 'b', 'c', 'd', 'e']],
    ])('label selector %s finds %j', async (selector, names) => {
      const { get } = cluster();
      const { configMaps } = await fiveConfigMaps(cluster());
      expect(namesOf(await get(`${configMaps}?labelSelector=${encodeURIComponent(selector)}`))).toEqual(names);
    });

    test('a label selector that cannot be parsed is 400', async () => {
      const { get, namespace } = cluster();
      const { configMaps } = await namespace();
      const { status, body } = await get(`${configMaps}?labelSelector=a%3D(`);
      expect(status).toBe(400);
      expect(body['message']).toBe("unable to parse requirement: found '(', expected: identifier");
    });

    test('pods can be found by node, phase and name', async () => {
      const { get, post, must, namespace, node, strategicPatch } = cluster();
      const { pods } = await namespace();
      const nodeName = await node();
      for (const name of ['a', 'b']) await must(post(pods, pod(name, name === 'a' ? { nodeName } : {})));
      await must(strategicPatch(`${pods}/a/status`, { status: { phase: 'Running' } }));
      const find = async (selector: string): Promise<string[]> =>
        namesOf(await get(`${pods}?fieldSelector=${encodeURIComponent(selector)}`));
      expect(await find(`spec.nodeName=${nodeName}`)).toEqual(['a']);
      expect(await find('spec.nodeName=')).toEqual(['b']);
      expect(await find('status.phase=Running')).toEqual(['a']);
      expect(await find('status.phase!=Running')).toEqual(['b']);
      expect(await find('metadata.name=b,status.phase=Pending')).toEqual(['b']);
    });

    test('a field that is not indexed is 400', async () => {
      const { get, namespace } = cluster();
      const { configMaps, pods } = await namespace();
      const ofPods = await get(`${pods}?fieldSelector=spec.foo%3Dx`);
      expect(ofPods.status).toBe(400);
      expect(ofPods.body['message']).toBe('field label not supported: spec.foo');
      expect((await get(`${configMaps}?fieldSelector=data.a%3Db`)).status).toBe(400);
    });
  });
});
