/** The chart on the real control plane: installed, upgraded, rolled back and removed as users do it. */
import { describe, expect, inject, test } from 'vitest';
import type { KubeObject, Pod } from '../../src/api/core.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { NAMESPACE, RELEASE } from '../chart/installation.ts';
import { at, findHelm, type Manifest, theOnly } from '../chart/render.ts';
import { grantsOf } from '../chart/rights.ts';
import { ACCOUNT, FAST, FULL_NAME, useInstalledChart } from './installed-chart.ts';
import { useRealCluster } from './real-cluster.ts';
import { deploy, expectPodSides, managedNamespace, podsOf, policy, untilSides } from './workloads.ts';

const { programs, missing } = await findHelm();
const { own } = inject('cluster');
const accessReviews: ResourceType = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
};

describe.skipIf(missing !== undefined || own === undefined)('the chart', () => {
  const cluster = useRealCluster();
  const { installation, operator, audit, install, start, bundle, asked, refused } = useInstalledChart(
    programs,
    cluster,
  );

  const expectSides = (namespace: string, spot: number, onDemand: number): Promise<void> =>
    untilSides(cluster(), namespace, spot, onDemand);

  async function repartition(namespace: string, spotPercentage: number): Promise<void> {
    const body = { metadata: { annotations: policy(spotPercentage, 0) } };
    await cluster().api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace });
  }

  const mayEvict = async (namespace: string): Promise<boolean> => {
    const resourceAttributes = { namespace, verb: 'create', resource: 'pods', subresource: 'eviction' };
    const body = { spec: { user: ACCOUNT, resourceAttributes } } as KubeObject;
    const { status }: KubeObject & { readonly status?: { readonly allowed?: boolean } } = await cluster().api.create(
      accessReviews,
      body,
    );
    return status?.allowed === true;
  };

  const uids = async (namespace: string): Promise<string[]> => {
    const { items } = await cluster().api.list(resources.pods, { namespace });
    return items.map(({ metadata }) => metadata?.uid ?? '').sort();
  };

  test('works with exactly its rights: pods are steered through its Service, moves are made, nothing is refused', async () => {
    // By kubectl; the other tests have helm do it.
    installation().apply({ values: ['charts/stowage/ci/default.yaml'], set: [FAST] });
    await start();
    expect(await (await fetch(`http://127.0.0.1:${installation().ports.web}/`)).text()).toContain('<title>');
    expect(Buffer.from(await bundle(), 'base64').toString()).toContain('BEGIN CERTIFICATE');
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 4, policy(50, 0));
    await expectSides(namespace, 2, 2);
    expect(audit().evictions(namespace)).toEqual([]);
    await repartition(namespace, 0);
    await expectSides(namespace, 0, 4);
    expect(audit().evictions(namespace)).toHaveLength(2);
    expect(refused()).toEqual([]);
    // A watch is logged when it ends.
    await operator().stop();
    const granted = new Set(grantsOf(installation().objects()).map(({ right }) => right.replace(/ [^/]*\//, ' ')));
    const used = new Set(asked().map(({ verb, resource }) => `${verb} ${resource}`));
    expect([...used].filter((right) => !granted.has(right))).toEqual([]);
    installation().remove();
  });

  test('the pods of its Deployment are accepted by the API server and keep off spot nodes', async () => {
    installation().upgrade({ values: ['charts/stowage/ci/default.yaml'] });
    const { eventually, api } = cluster();
    await eventually(async () => {
      const { items } = await api.list<Pod>(resources.pods, { namespace: NAMESPACE });
      expect(items.map(({ status }) => status?.phase)).toEqual(['Running', 'Running']);
      const nodes = await Promise.all(items.map(({ spec }) => api.get(resources.nodes, spec?.nodeName ?? '')));
      const classes = nodes.map(({ metadata }) => metadata?.labels?.['karpenter.sh/capacity-type']);
      expect(classes).toEqual(['on-demand', 'on-demand']);
      expect(new Set(items.map(({ spec }) => spec?.nodeName)).size).toBe(2);
    });
  });

  test('without the right to evict nothing moves; with it again everything does', async () => {
    await install('default');
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 4, policy(50, 0));
    await expectSides(namespace, 2, 2);
    const role = theOnly(installation().objects(), 'ClusterRole', FULL_NAME);
    const rules = (Array.isArray(role['rules']) ? role['rules'] : []).filter(
      (rule: unknown) => !JSON.stringify(at(rule, 'resources')).includes('pods/eviction'),
    );
    const replaceRole = (object: Manifest): string =>
      // As helm, which goes on with what it finds its own.
      installation().kubectl(
        ['apply', '--server-side', '--force-conflicts', '--field-manager=helm', '-f', '-'],
        JSON.stringify(object),
      );
    replaceRole({ ...role, rules });
    // The authorizer hears of it a moment later, and an eviction must not come before.
    await cluster().eventually(async () => expect(await mayEvict(namespace)).toBe(false));
    await repartition(namespace, 0);
    await cluster().eventually(async () =>
      expect(refused().map(({ resource }) => resource)).toContain('pods/eviction'),
    );
    expectPodSides(await podsOf(cluster(), namespace), { spot: 2, onDemand: 2 });
    replaceRole(role);
    await expectSides(namespace, 0, 4);
  });

  test('an upgrade to other values and a rollback keep authority, pods and rights', async () => {
    await install('default');
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 4, policy(50, 0));
    await expectSides(namespace, 2, 2);
    const [before, authority] = [await uids(namespace), await bundle()];

    await install('read-only', 'config.controllers.nodeClassifier.profiles={karpenter}', 'replicaCount=1');
    expect(await bundle()).toBe(authority);
    expect(() => installation().kubectl(['-n', NAMESPACE, 'get', 'pdb', FULL_NAME])).toThrow('not found');
    await repartition(namespace, 0);
    await cluster().eventually(async () => {
      const events = installation().kubectl(['-n', namespace, 'get', 'events', '-o', 'jsonpath={.items[*].reason}']);
      expect(events).toContain('WouldEvict');
    });
    expect(await uids(namespace)).toEqual(before);

    installation().rollback();
    await start();
    await expectSides(namespace, 0, 4);
    expect(await bundle()).toBe(authority);
    expect(refused()).toEqual([]);
  });

  test('a change of the mounted configuration is followed without a restart', async () => {
    await install('default');
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 2, policy(50, 0));
    await expectSides(namespace, 1, 1);
    installation().upgrade({
      values: ['charts/stowage/ci/default.yaml'],
      set: [FAST, 'config.operator.readOnlyMode=true'],
    });
    operator().takeInConfig();
    await cluster().eventually(async () => expect(operator().log()).toContain('readOnlyMode'));
    await repartition(namespace, 0);
    await cluster().eventually(async () => {
      const events = installation().kubectl(['-n', namespace, 'get', 'events', '-o', 'jsonpath={.items[*].reason}']);
      expect(events).toContain('WouldEvict');
    });
    expect(audit().evictions(namespace)).toEqual([]);
  });

  test('removing it leaves no webhook, no role, no finalizer, and pods as they are', async () => {
    await install('default');
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 4, policy(50, 0));
    await expectSides(namespace, 2, 2);
    const before = await uids(namespace);
    await operator().stop();
    installation().remove();
    const kinds = 'mutatingwebhookconfigurations,validatingwebhookconfigurations,clusterroles,clusterrolebindings';
    const left = installation().kubectl(['get', kinds, '-l', `app.kubernetes.io/instance=${RELEASE}`, '-o', 'name']);
    expect(left).toBe('');
    const inNamespace =
      'deployments,services,configmaps,serviceaccounts,roles,rolebindings,poddisruptionbudgets,networkpolicies';
    expect(
      installation().kubectl([
        '-n',
        NAMESPACE,
        'get',
        inNamespace,
        '-l',
        `app.kubernetes.io/instance=${RELEASE}`,
        '-o',
        'name',
      ]),
    ).toBe('');
    expect(await uids(namespace)).toEqual(before);
    const everything = installation().kubectl(['-n', namespace, 'get', 'pods,deployments,replicasets', '-o', 'json']);
    expect(everything).not.toMatch(/"finalizers"/);
    // New pods come as their template says, unasked.
    const body = { spec: { replicas: 6 } };
    await cluster().api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace });
    await cluster().eventually(async () => expect(await uids(namespace)).toHaveLength(6));
  });
});
