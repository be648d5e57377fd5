/** The rights of the chart before the API server's own authorizer: each is granted where it is meant, by one rule alone, and nothing else is. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { KubeObject } from '../../src/api/core.ts';
import type { ResourceType } from '../../src/api/resources.ts';
import { findHelm, type Manifest, type RenderOptions, render } from '../chart/render.ts';
import { callsOf, type GrantedCall, rightsOf, without } from '../chart/rights.ts';
import { applyObject, deleteObject } from './apply-objects.ts';
import { useRealCluster } from './real-cluster.ts';

const { programs, missing } = await findHelm();
const RELEASE = 'stowage';
const NAMESPACE = 'stowage-rights';
const SHOP = 'stowage-rights-shop';
const reviews: ResourceType = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
};
type Attributes = GrantedCall['attributes'];

const rendered = (options: RenderOptions): readonly Manifest[] =>
  missing === undefined ? render(programs, { ...options, release: RELEASE, namespace: NAMESPACE }) : [];
const everything = rendered({
  values: ['charts/stowage/ci/all-engines.yaml', 'charts/stowage/ci/metrics-token.yaml'],
  set: ['rightsizing.credentialSecrets={prometheus}'],
});
const inOneNamespace = rendered({
  set: [
    'rbac.scope=namespace',
    `config.controllers.watchNamespaces={${SHOP}}`,
    'webhook.enabled=false',
    'engines.rightsizing=true',
  ],
});

/** What no account of the chart may do, wherever. */
const NEVER: readonly Partial<Attributes>[] = [
  { verb: 'list', resource: 'secrets' },
  { verb: 'get', resource: 'secrets', namespace: 'kube-system' },
  { verb: 'get', resource: 'secrets', namespace: NAMESPACE, name: 'another' },
  { verb: 'update', group: 'coordination.k8s.io', resource: 'leases', namespace: NAMESPACE, name: 'another' },
  { verb: 'create', resource: 'pods' },
  { verb: 'delete', resource: 'pods' },
  { verb: 'update', resource: 'pods' },
  { verb: 'create', resource: 'pods', subresource: 'exec' },
  { verb: 'patch', resource: 'nodes' },
  { verb: 'delete', group: 'apps', resource: 'deployments' },
  { verb: 'patch', group: 'apps', resource: 'replicasets' },
  { verb: 'patch', group: 'optipod.io', resource: 'optimizationpolicies' },
  { verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
  {
    verb: 'update',
    group: 'admissionregistration.k8s.io',
    resource: 'mutatingwebhookconfigurations',
    name: 'another',
  },
];

const cluster = useRealCluster({ nodes: [] });
/** The authorizer hears of a changed role within milliseconds. */
const soon = (assertion: () => Promise<void>): Promise<void> =>
  vi.waitFor(assertion, { timeout: 150_000, interval: 5 });

async function isAllowed(account: string, attributes: Partial<Attributes>): Promise<boolean> {
  const user = `system:serviceaccount:${NAMESPACE}:${account}`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'];
  const body = { spec: { user, groups, resourceAttributes: attributes } } as KubeObject;
  const answer: KubeObject & { readonly status?: { readonly allowed?: boolean } } = await cluster().api.create(
    reviews,
    body,
  );
  return answer.status?.allowed === true;
}

interface Scope {
  readonly title: string;
  readonly objects: readonly Manifest[];
  readonly account: string;
}

const scopes: readonly Scope[] = [
  { title: 'the operator in the whole cluster', objects: everything, account: RELEASE },
  { title: 'the agent', objects: everything, account: `${RELEASE}-agent` },
  { title: 'the operator in one namespace', objects: inOneNamespace, account: RELEASE },
];

describe.skipIf(missing !== undefined).each(scopes)('$title', ({ objects, account }) => {
  const rights = rightsOf(objects, `${NAMESPACE}/${account}`);
  const calls = callsOf(rights);
  const roles = rights.filter(({ kind }) => kind?.endsWith('Role') === true);
  const roleOf = (objectsNow: readonly Manifest[], { role }: GrantedCall): Manifest | undefined =>
    objectsNow.find(({ kind, metadata }) =>
      [`${kind} ${metadata?.name}`, `${kind} ${metadata?.namespace} ${metadata?.name}`].includes(role),
    );

  beforeAll(async () => {
    const { api } = cluster();
    for (const name of [NAMESPACE, SHOP]) {
      await applyObject(api, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    for (const object of rights) await applyObject(api, object);
    for (const { attributes } of calls) await soon(async () => expect(await isAllowed(account, attributes)).toBe(true));
  });
  afterAll(async () => {
    for (const object of rights) await deleteObject(cluster().api, object);
  });

  test('may do nothing that would make it dangerous', async () => {
    for (const attributes of NEVER)
      expect([attributes, await isAllowed(account, attributes)]).toEqual([attributes, false]);
  });

  test('reaches no other namespace by a Role', async () => {
    const local = calls.filter(({ attributes }) => attributes.namespace !== '');
    const elsewhere = local.filter(
      ({ right }) => !calls.some((call) => call.right === right && call.attributes.namespace === ''),
    );
    for (const { attributes } of elsewhere) {
      const there = { ...attributes, namespace: 'default' };
      expect([there, await isAllowed(account, there)]).toEqual([there, false]);
    }
  });

  test.each(calls.map((call) => [call.right, call.role, call] as const))(
    'without "%s" of %s it is refused that',
    async (_right, _role, call) => {
      const less = roleOf(without(roles, call), call);
      if (less === undefined) throw new Error(`there is no ${call.role}`);
      await applyObject(cluster().api, less);
      await soon(async () => expect(await isAllowed(account, call.attributes)).toBe(false));
    },
  );

  test('with all of them it is refused none', async () => {
    for (const role of roles) await applyObject(cluster().api, role);
    for (const { attributes } of calls) await soon(async () => expect(await isAllowed(account, attributes)).toBe(true));
  });
});
