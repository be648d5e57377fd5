import { describe, expect, test } from 'vitest';
import { at, itemsOf, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { workload } from './objects.ts';

describeOnBackends('patches', (cluster) => {
  describe('merge', () => {
    test('sets, replaces and removes (null), and replaces lists whole', async () => {
      const { post, mergePatch, must, namespace } = cluster();
      const { configMaps } = await namespace();
      await must(
        post(configMaps, {
          metadata: { name: 'a', labels: { keep: '1', drop: '1' }, finalizers: ['a.test/x'] },
          data: { key: '1' },
        }),
      );
      const { status, body } = await mergePatch(`${configMaps}/a`, {
        metadata: { labels: { drop: null, added: '1' }, finalizers: ['a.test/y'] },
        data: { other: '2' },
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        metadata: { labels: { keep: '1', added: '1' }, finalizers: ['a.test/y'] },
        data: { key: '1', other: '2' },
      });
      expect(body).not.toHaveProperty('metadata.labels.drop');
      await must(mergePatch(`${configMaps}/a`, { metadata: { finalizers: null } }));
    });

    test('with a stale resourceVersion conflicts', async () => {
      const { post, mergePatch, must, namespace } = cluster();
      const { configMaps } = await namespace();
      await must(post(configMaps, { metadata: { name: 'a' } }));
      const { status, body } = await mergePatch(`${configMaps}/a`, {
        metadata: { resourceVersion: '1' },
        data: { key: '2' },
      });
      expect(status).toBe(409);
      expect(body).toMatchObject({ reason: 'Conflict' });
      expect(body['message']).toContain('the object has been modified');
    });

    test('with another uid is 422 in the field metadata.uid', async () => {
      const { post, mergePatch, must, namespace } = cluster();
      const { configMaps } = await namespace();
      await must(post(configMaps, { metadata: { name: 'a' } }));
      const { status, body } = await mergePatch(`${configMaps}/a`, { metadata: { uid: 'another' } });
      expect(status).toBe(422);
      expect(body).toMatchObject({ details: { causes: [{ field: 'metadata.uid' }] } });
      expect(body['message']).toBe(
        'ConfigMap "a" is invalid: metadata.uid: Invalid value: "another": field is immutable',
      );
    });

    test('that changes nothing keeps the resourceVersion', async () => {
      const { post, mergePatch, must, namespace } = cluster();
      const { configMaps } = await namespace();
      const before = await must(post(configMaps, { metadata: { name: 'a' }, data: { key: '1' } }));
      const { body } = await mergePatch(`${configMaps}/a`, { data: { key: '1' } });
      expect(textAt(body, 'metadata', 'resourceVersion')).toBe(textAt(before, 'metadata', 'resourceVersion'));
    });

    test('of a wrong type is refused', async () => {
      const { post, mergePatch, must, namespace } = cluster();
      const { configMaps } = await namespace();
      await must(post(configMaps, { metadata: { name: 'a' } }));
      expect((await mergePatch(`${configMaps}/a`, { data: 5 })).status).toBe(422);
    });
  });

  describe('json', () => {
    test('add, replace, remove, and append to a list', async () => {
      const { post, jsonPatch, must, namespace } = cluster();
      const { deployments } = await namespace();
      await must(post(deployments, workload('a', 0)));
      const { status, body } = await jsonPatch(`${deployments}/a`, [
        { op: 'test', path: '/spec/replicas', value: 0 },
        { op: 'add', path: '/metadata/annotations', value: { 'a/b': '1', drop: '1' } },
        { op: 'replace', path: '/metadata/annotations/a~1b', value: '2' },
        { op: 'remove', path: '/metadata/annotations/drop' },
        { op: 'add', path: '/spec/template/spec/containers/-', value: { name: 'side', image: 'example.test/side:1' } },
      ]);
      expect(status).toBe(200);
      expect(at(body, 'metadata', 'annotations', 'a/b')).toBe('2');
      expect(at(body, 'metadata', 'annotations', 'drop')).toBeUndefined();
      expect(at(body, 'spec', 'template', 'spec', 'containers', 1, 'name')).toBe('side');
    });

    test('of more than 10,000 operations is too large', async () => {
      const { post, jsonPatch, must, namespace } = cluster();
      const { configMaps } = await namespace();
      await must(post(configMaps, { metadata: { name: 'a' }, data: { key: '1' } }));
      const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/key', value: '1' }));
      const { status, body } = await jsonPatch(`${configMaps}/a`, operations);
      expect(status).toBe(413);
      expect(body).toMatchObject({ reason: 'RequestEntityTooLarge' });
    });

    test.each([
      ['a test that fails', [{ op: 'test', path: '/data/key', value: '2' }]],
      ['removing what is not there', [{ op: 'remove', path: '/data/none' }]],
      ['adding below what is not there', [{ op: 'add', path: '/none/key', value: '1' }]],
    ])('%s is 422, and nothing is changed', async (_, patch) => {
      const { post, get, jsonPatch, must, namespace } = cluster();
      const { configMaps } = await namespace();
      await must(post(configMaps, { metadata: { name: 'a' }, data: { key: '1' } }));
      const { status, body } = await jsonPatch(`${configMaps}/a`, [
        { op: 'add', path: '/data/more', value: '1' },
        ...patch,
      ]);
      expect(status).toBe(422);
      expect(body).toMatchObject({
        reason: 'Invalid',
        message: 'the server rejected our request due to an error in our request',
      });
      expect((await get(`${configMaps}/a`)).body['data']).toEqual({ key: '1' });
    });
  });

  describe('strategic', () => {
    test('merges containers, env and ports by their key, and leaves the rest', async () => {
      const { post, strategicPatch, must, namespace } = cluster();
      const { deployments } = await namespace();
      await must(post(deployments, workload('a', 0)));
      await must(
        strategicPatch(`${deployments}/a`, {
          spec: {
            template: {
              spec: {
                containers: [
                  {
                    name: 'main',
                    env: [
                      { name: 'A', value: '1' },
                      { name: 'B', value: '1' },
                    ],
                  },
                ],
              },
            },
          },
        }),
      );
      const { status, body } = await strategicPatch(`${deployments}/a`, {
        spec: {
          template: {
            spec: {
              containers: [
                {
                  name: 'main',
                  env: [
                    { name: 'B', value: '2' },
                    { $patch: 'delete', name: 'A' },
                  ],
                },
                { name: 'side', image: 'example.test/side:1' },
              ],
            },
          },
        },
      });
      expect(status).toBe(200);
      const containers = at(body, 'spec', 'template', 'spec', 'containers');
      expect(containers).toMatchObject([
        expect.objectContaining({ name: expect.any(String) }),
        expect.objectContaining({ name: expect.any(String) }),
      ]);
      const byName = new Map(
        Array.isArray(containers) ? containers.map((container) => [at(container, 'name'), container]) : [],
      );
      expect(byName.get('main')).toMatchObject({ image: 'example.test/app:1', env: [{ name: 'B', value: '2' }] });
      expect(byName.get('side')).toMatchObject({ image: 'example.test/side:1' });
    });

    test('removes a list item with $patch: delete and replaces a map with $patch: replace', async () => {
      const { post, strategicPatch, must, namespace } = cluster();
      const { deployments } = await namespace();
      await must(post(deployments, { ...workload('a', 0), metadata: { name: 'a', labels: { one: '1' } } }));
      await must(
        strategicPatch(`${deployments}/a`, {
          spec: { template: { spec: { containers: [{ name: 'side', image: 'example.test/side:1' }] } } },
        }),
      );
      const { body } = await strategicPatch(`${deployments}/a`, {
        metadata: { labels: { $patch: 'replace', two: '2' } },
        spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } },
      });
      expect(at(body, 'metadata', 'labels')).toEqual({ two: '2' });
      expect(at(body, 'spec', 'template', 'spec', 'containers')).toHaveLength(1);
    });

    test('replaces lists without a key: tolerations', async () => {
      const { post, strategicPatch, must, namespace } = cluster();
      const { deployments } = await namespace();
      await must(post(deployments, workload('a', 0)));
      const tolerate = (key: string) => ({
        spec: { template: { spec: { tolerations: [{ key, operator: 'Exists' }] } } },
      });
      await must(strategicPatch(`${deployments}/a`, tolerate('one')));
      const { body } = await strategicPatch(`${deployments}/a`, tolerate('two'));
      expect(at(body, 'spec', 'template', 'spec', 'tolerations')).toEqual([{ key: 'two', operator: 'Exists' }]);
    });

    test('merges conditions of a pod by type', async () => {
      const { post, strategicPatch, must, namespace } = cluster();
      const { pods } = await namespace();
      await must(
        post(pods, {
          metadata: { name: 'a' },
          spec: { containers: [{ name: 'c', image: 'x' }], schedulerName: 'none' },
        }),
      );
      const report = (type: string, status: string) =>
        strategicPatch(`${pods}/a/status`, { status: { conditions: [{ type, status }] } });
      await must(report('Ready', 'False'));
      await must(report('test.io/Other', 'True'));
      const { body } = await report('Ready', 'True');
      const conditions = at(body, 'status', 'conditions');
      expect(conditions).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ type: 'Ready', status: 'True' }),
          expect.objectContaining({ type: 'test.io/Other', status: 'True' }),
        ]),
      );
      expect(conditions).toHaveLength(2);
    });
  });

  test('a patch of an unknown content type is 415', async () => {
    const { call, post, must, namespace } = cluster();
    const { configMaps } = await namespace();
    await must(post(configMaps, { metadata: { name: 'a' } }));
    const { status, body } = await call('PATCH', `${configMaps}/a`, { body: {}, contentType: 'application/json' });
    expect(status).toBe(415);
    expect(body).toMatchObject({ reason: 'UnsupportedMediaType' });
  });

  test('lists of owners do not exist twice: the same owner reference merges by uid', async () => {
    const { post, strategicPatch, must, get, namespace } = cluster();
    const { configMaps } = await namespace();
    const owner = await must(post(configMaps, { metadata: { name: 'owner' } }));
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: textAt(owner, 'metadata', 'uid') };
    await must(post(configMaps, { metadata: { name: 'a', labels: { mine: '' }, ownerReferences: [reference] } }));
    await must(
      strategicPatch(`${configMaps}/a`, {
        metadata: { ownerReferences: [{ uid: reference.uid, blockOwnerDeletion: true }] },
      }),
    );
    const [item] = itemsOf(await get(`${configMaps}?labelSelector=mine`));
    expect(at(item, 'metadata', 'ownerReferences')).toEqual([{ ...reference, blockOwnerDeletion: true }]);
  });
});
