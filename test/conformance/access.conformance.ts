import { expect, test } from 'vitest';
import type { Cluster } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import { type Endpoint, RefusedWatch } from './endpoint.ts';
import { pod } from './objects.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** A user of its own, or none where the cluster's authority is not ours. */
async function endpointFor(
  { backend }: Cluster,
  user: string,
  groups: readonly string[] = [],
): Promise<Endpoint | undefined> {
  return backend.endpointFor?.(user, groups);
}

describeOnBackends('access', (cluster) => {
  test('without a role everything is 403, named as kubectl shows it', async ({ skip }) => {
    const user = await endpointFor(cluster(), 'nobody-special');
    if (user === undefined) return skip('the authority is not ours');
    const { namespace } = cluster();
    const { pods, deployments, name } = await namespace();
    const refused: [string, string, string][] = [
      [
        'GET',
        pods,
        `pods is forbidden: User "nobody-special" cannot list resource "pods" in API group "" in the namespace "${name}"`,
      ],
      [
        'GET',
        `${pods}/a`,
        `pods "a" is forbidden: User "nobody-special" cannot get resource "pods" in API group "" in the namespace "${name}"`,
      ],
      [
        'POST',
        pods,
        `pods is forbidden: User "nobody-special" cannot create resource "pods" in API group "" in the namespace "${name}"`,
      ],
      [
        'POST',
        `${pods}/a/eviction`,
        `pods "a" is forbidden: User "nobody-special" cannot create resource "pods/eviction" in API group "" in the namespace "${name}"`,
      ],
      [
        'PATCH',
        `${deployments}/a`,
        `deployments.apps "a" is forbidden: User "nobody-special" cannot patch resource "deployments" in API group "apps" in the namespace "${name}"`,
      ],
      [
        'GET',
        '/api/v1/nodes',
        'nodes is forbidden: User "nobody-special" cannot list resource "nodes" in API group "" at the cluster scope',
      ],
    ];
    for (const [method, path, message] of refused) {
      const body = method === 'GET' ? {} : { body: pod('a') };
      const answer = await user.call(method, path, {
        ...body,
        contentType: method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      });
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({ kind: 'Status', reason: 'Forbidden', code: 403, message });
    }
  });

  test('a watch is refused before it starts', async ({ skip }) => {
    const user = await endpointFor(cluster(), 'nobody-special');
    if (user === undefined) return skip('the authority is not ours');
    const { namespace } = cluster();
    const { pods } = await namespace();
    const opening = user.watch(`${pods}?watch=true`)[Symbol.asyncIterator]().next();
    await expect(opening).rejects.toThrow(RefusedWatch);
    await expect(opening).rejects.toMatchObject({ answer: { status: 403 } });
  });

  test('a role binding lets a group do what the role says, in its namespace only', async ({ skip }) => {
    const { post, must, namespace, eventually } = cluster();
    const space = await namespace();
    const elsewhere = await namespace();
    const group = `group-${space.name}`;
    const user = await endpointFor(cluster(), 'member', [group]);
    if (user === undefined) return skip('the authority is not ours');
    await must(
      post(`${RBAC}/namespaces/${space.name}/roles`, {
        metadata: { name: 'reader' },
        rules: [
          { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'create'] },
          { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
          { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list'] },
        ],
      }),
    );
    await must(
      post(`${RBAC}/namespaces/${space.name}/rolebindings`, {
        metadata: { name: 'reader' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
      }),
    );
    await eventually(async () => expect((await user.call('GET', space.pods)).status).toBe(200));
    expect((await user.call('POST', space.pods, { body: pod('a') })).status).toBe(201);
    expect((await user.call('DELETE', `${space.pods}/a`)).status).toBe(403);
    expect(
      (await user.call('PATCH', `${space.pods}/a/status`, { body: {}, contentType: 'application/merge-patch+json' }))
        .status,
    ).toBe(403);
    const evicted = await user.call('POST', `${space.pods}/a/eviction`, {
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } },
    });
    expect(evicted.status).toBe(201);
    expect((await user.call('GET', elsewhere.pods)).status).toBe(403);
    expect((await user.call('GET', '/api/v1/pods')).status).toBe(403);
    // The namespace itself counts as in it; a listing of all does not, whatever it selects.
    expect((await user.call('GET', `/api/v1/namespaces/${space.name}`)).status).toBe(200);
    for (const path of [elsewhere.name, `?fieldSelector=metadata.name%3D${space.name}`])
      expect((await user.call('GET', `/api/v1/namespaces/${path}`.replace('/?', '?'))).status).toBe(403);
  });

  test('who may only change makes nothing, neither by a replacement nor by an apply', async ({ skip }) => {
    const { post, must, namespace, eventually } = cluster();
    const space = await namespace();
    const name = `changer-${space.name}`;
    const user = await endpointFor(cluster(), name);
    if (user === undefined) return skip('the authority is not ours');
    const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'update', 'patch'] }];
    await must(post(`${RBAC}/namespaces/${space.name}/roles`, { metadata: { name: 'changer' }, rules }));
    await must(
      post(`${RBAC}/namespaces/${space.name}/rolebindings`, {
        metadata: { name: 'changer' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'changer' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
      }),
    );
    const lease = `${space.leases}/a`;
    await eventually(async () => expect((await user.call('GET', lease)).status).toBe(404));
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' } };
    const contentType = 'application/apply-patch+yaml';
    for (const answer of [
      await user.call('PUT', lease, { body }),
      await user.call('PATCH', `${lease}?fieldManager=conformance`, { body, contentType }),
    ]) {
      expect(answer.status).toBe(403);
      expect(answer.body['message']).toBe(
        `leases.coordination.k8s.io "a" is forbidden: User "${name}" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "${space.name}"`,
      );
    }
  });

  test('a cluster role binding to a user reaches every namespace; resourceNames narrow it', async ({ skip }) => {
    const { post, must, namespace, eventually, delete: remove } = cluster();
    const space = await namespace();
    const name = `conformance-${space.name}`;
    const user = await endpointFor(cluster(), name);
    if (user === undefined) return skip('the authority is not ours');
    await must(
      post(`${RBAC}/clusterroles`, {
        metadata: { name },
        rules: [
          { apiGroups: ['apps'], resources: ['*'], verbs: ['list'] },
          { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'], resourceNames: ['mine'] },
        ],
      }),
    );
    await must(
      post(`${RBAC}/clusterrolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
      }),
    );
    try {
      for (const config of ['mine', 'other']) await must(post(space.configMaps, { metadata: { name: config } }));
      await eventually(async () => expect((await user.call('GET', '/apis/apps/v1/deployments')).status).toBe(200));
      expect((await user.call('GET', space.statefulSets)).status).toBe(200);
      expect((await user.call('GET', `${space.configMaps}/mine`)).status).toBe(200);
      expect((await user.call('GET', `${space.configMaps}/other`)).status).toBe(403);
      // A list of one name by field selector is a request for that name.
      const listing = (selector: string) => user.call('GET', `${space.configMaps}?fieldSelector=${selector}`);
      expect((await listing('metadata.name%3Dmine')).status).toBe(200);
      expect((await listing('metadata.name%3Dother')).status).toBe(403);
      expect((await listing('metadata.name!%3Dother')).status).toBe(403);
      expect((await user.call('GET', space.configMaps)).status).toBe(403);
    } finally {
      await remove(`${RBAC}/clusterrolebindings/${name}`);
      await remove(`${RBAC}/clusterroles/${name}`);
    }
  });

  test('a user can ask what it may do', async () => {
    const { post } = cluster();
    const { status, body } = await post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: {
        resourceAttributes: { verb: 'create', resource: 'pods', subresource: 'eviction', namespace: 'default' },
      },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: { allowed: true } });
  });

  test('an administrator is told of everything', async () => {
    const { body } = await cluster().post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      spec: { namespace: 'default' },
    });
    expect(body['status']).toMatchObject({
      resourceRules: expect.arrayContaining([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]),
      nonResourceRules: expect.arrayContaining([{ verbs: ['*'], nonResourceURLs: ['*'] }]),
    });
  });

  test('without credentials one is system:anonymous, and sees health and version only', async () => {
    const { backend, namespace } = cluster();
    const { pods, name } = await namespace();
    const answer = await backend.anonymous.call('GET', pods);
    expect(answer.status).toBe(403);
    expect(answer.body['message']).toBe(
      `pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "${name}"`,
    );
    expect((await backend.anonymous.call('GET', '/healthz')).status).toBe(200);
    expect((await backend.anonymous.call('GET', '/version')).status).toBe(200);
  });
});
