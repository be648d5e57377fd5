import { expect, test } from 'vitest';
import { describeOnBackends } from './describe-on-backends.ts';

describeOnBackends('discovery', (cluster) => {
  test('names the version', async () => {
    const { get } = cluster();
    const { body } = await get('/version');
    expect(body).toMatchObject({
      major: '1',
      minor: expect.stringMatching(/^\d+\+?$/),
      gitVersion: expect.stringMatching(/^v1\.\d+\.\d+/),
    });
  });

  test('lists groups and resources with their verbs and subresources', async () => {
    const { get } = cluster();
    expect((await get('/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const groups = (await get('/apis')).body;
    expect(groups['kind']).toBe('APIGroupList');
    for (const [name, version] of [
      ['apps', 'v1'],
      ['policy', 'v1'],
      ['coordination.k8s.io', 'v1'],
      ['events.k8s.io', 'v1'],
      ['admissionregistration.k8s.io', 'v1'],
      ['rbac.authorization.k8s.io', 'v1'],
      ['storage.k8s.io', 'v1'],
    ]) {
      expect(groups['groups']).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ name, preferredVersion: { groupVersion: `${name}/${version}`, version } }),
        ]),
      );
    }
    const core = (await get('/api/v1')).body;
    expect(core).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
    expect(core['resources']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: 'pods',
          singularName: 'pod',
          namespaced: true,
          kind: 'Pod',
          verbs: expect.arrayContaining(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']),
          shortNames: ['po'],
        }),
        expect.objectContaining({
          name: 'pods/eviction',
          group: 'policy',
          version: 'v1',
          kind: 'Eviction',
          verbs: ['create'],
        }),
        expect.objectContaining({
          name: 'pods/resize',
          kind: 'Pod',
          verbs: expect.arrayContaining(['get', 'patch', 'update']),
        }),
        expect.objectContaining({ name: 'pods/status', kind: 'Pod' }),
        expect.objectContaining({ name: 'nodes', namespaced: false, kind: 'Node' }),
      ]),
    );
    expect((await get('/apis/apps')).body).toMatchObject({
      kind: 'APIGroup',
      name: 'apps',
      versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
    });
    expect((await get('/apis/apps/v1')).body['resources']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'deployments/scale', group: 'autoscaling', version: 'v1', kind: 'Scale' }),
      ]),
    );
  });

  test('readiness is told in plain text', async () => {
    const { get } = cluster();
    for (const path of ['/healthz', '/livez', '/readyz']) {
      const { status, text } = await get(path);
      expect([path, status, text]).toEqual([path, 200, 'ok']);
    }
  });
});
