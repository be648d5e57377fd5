/** The chart on the real control plane with other values: metrics over HTTPS, all engines, Roles only. */
import { get } from 'node:https';
import { describe, expect, inject, test } from 'vitest';
import { resources } from '../../src/api/resources.ts';
import { NAMESPACE, RELEASE } from '../chart/installation.ts';
import { findHelm } from '../chart/render.ts';
import { FAST, FULL_NAME, useInstalledChart } from './installed-chart.ts';
import { useRealCluster } from './real-cluster.ts';
import { installPolicies } from './rightsizing-objects.ts';
import { createPolicy, deployLoaded, podsOf, sizesOf, usePrometheus, workloadStatus } from './rightsizing-world.ts';
import { deploy, managedNamespace, policy, untilSides } from './workloads.ts';

const { programs, missing } = await findHelm();
const { own } = inject('cluster');

/** Those of the Prometheus Operator, as far as the chart needs them: any content is taken. */
function monitoringDefinitions(): string {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return ['ServiceMonitor', 'PrometheusRule']
    .map((kind) => {
      const plural = `${kind.toLowerCase()}s`;
      const group = 'monitoring.coreos.com';
      const versions = [{ name: 'v1', served: true, storage: true, schema }];
      const spec = { group, scope: 'Namespaced', names: { kind, plural, singular: kind.toLowerCase() }, versions };
      const metadata = { name: `${plural}.${group}` };
      return JSON.stringify({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata,
        spec,
      });
    })
    .join('\n---\n');
}

describe.skipIf(missing !== undefined || own === undefined)('the chart with other values', () => {
  const cluster = useRealCluster({ servesMetrics: true });
  const prometheus = usePrometheus(cluster);
  const { installation, operator, install, installWith, bundle, asked, refused } = useInstalledChart(programs, cluster);

  test('metrics are served over HTTPS, for those the cluster knows and allows', async () => {
    await install('metrics-tls', 'metrics.serviceMonitor.enabled=false');
    const ca = Buffer.from(await bundle(), 'base64').toString();
    const statusOf = (path: string, token?: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const { metrics: port } = installation().ports;
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        // By the name that Prometheus is told to expect.
        const servername = `${FULL_NAME}.${NAMESPACE}.svc`;
        get({ host: '127.0.0.1', port, path, ca, servername, headers, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        }).on('error', reject);
      });
    const tokenOf = (account: string): string =>
      installation().kubectl(['-n', NAMESPACE, 'create', 'token', account]).trim();
    installation().kubectl(['-n', NAMESPACE, 'create', 'serviceaccount', 'scraper']);
    const scraper = tokenOf('scraper');
    expect(await statusOf('/metrics')).toBe(401);
    expect(await statusOf('/metrics', 'forged')).toBe(401);
    expect(await statusOf('/metrics', scraper)).toBe(403);
    expect(await statusOf('/explain', scraper)).toBe(403);
    expect(await statusOf('/metrics', tokenOf(FULL_NAME))).toBe(200);
    expect(await statusOf('/explain', tokenOf(FULL_NAME))).toBe(200);
    const binding = ['scraper', `--clusterrole=${FULL_NAME}-metrics-reader`, `--serviceaccount=${NAMESPACE}:scraper`];
    installation().kubectl(['create', 'clusterrolebinding', ...binding]);
    // A token of its own: what was refused is remembered for a minute.
    await cluster().eventually(async () => expect(await statusOf('/metrics', tokenOf('scraper'))).toBe(200));
    for (const path of ['/explain', '/journal']) expect(await statusOf(path, tokenOf('scraper'))).toBe(403);
    installation().kubectl(['delete', 'clusterrolebinding', 'scraper']);
    installation().kubectl(['-n', NAMESPACE, 'delete', 'serviceaccount', 'scraper']);
    expect(refused()).toEqual([]);
  });

  test('from the defaults to monitoring with Roles only, and back: what the values say is there, and nothing else', async () => {
    const { kubectl } = installation();
    const namespace = await managedNamespace(cluster());
    await install('default');
    await deploy(cluster(), namespace, 4, policy(50, 0));
    await untilSides(cluster(), namespace, 2, 2);
    const pods = async (): Promise<string[]> =>
      (await podsOf(cluster(), namespace)).map(({ metadata }) => metadata?.uid ?? '').sort();
    const before = await pods();
    const own = ['-l', `app.kubernetes.io/instance=${RELEASE}`, '-o', 'name'];
    const ofCluster = 'clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations';
    const inNamespaces = 'roles,rolebindings,configmaps,services,deployments,networkpolicies,poddisruptionbudgets';
    const found = (): string[] =>
      [
        ['get', ofCluster, ...own],
        ['get', inNamespaces, '-A', ...own],
      ]
        .flatMap((command) => kubectl(command).split('\n'))
        .sort();
    const atFirst = found();

    kubectl(['apply', '--server-side', '-f', '-'], monitoringDefinitions());
    const set = [
      FAST,
      `config.controllers.watchNamespaces={${namespace}}`,
      'webhook.enabled=false,webhook.certManager.enabled=false',
      'config.controllers.nodeClassifier.profiles={karpenter}',
    ];
    await cluster().eventually(async () => {
      kubectl(['get', 'prometheusrules,servicemonitors', '-A']);
    });
    const values = ['charts/stowage/ci/monitoring.yaml', 'charts/stowage/ci/namespaced.yaml'];
    await installWith({ values, set });
    const monitors = (): string => kubectl(['-n', NAMESPACE, 'get', 'prometheusrules,servicemonitors', ...own]);
    expect(kubectl(['get', ofCluster, ...own])).toBe('');
    expect(monitors()).toContain(`prometheusrule.monitoring.coreos.com/${FULL_NAME}`);
    expect(monitors()).toContain(`servicemonitor.monitoring.coreos.com/${FULL_NAME}`);
    expect(kubectl(['-n', namespace, 'get', 'roles', ...own])).toContain('role.rbac');
    expect(await pods()).toEqual(before);
    expect(refused()).toEqual([]);

    await install('default');
    expect(monitors()).toBe('');
    expect(kubectl(['-n', namespace, 'get', 'roles,rolebindings', ...own])).toBe('');
    expect(found()).toEqual(atFirst);
    expect(await pods()).toEqual(before);
    expect(refused()).toEqual([]);
    kubectl(['delete', '-f', '-'], monitoringDefinitions());
  });

  test('a patch by server-side apply of what does not exist needs the right to create', async () => {
    const { eventually } = cluster();
    const account = `system:serviceaccount:${NAMESPACE}:applier`;
    const role = (verbs: readonly string[]): string =>
      JSON.stringify({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'applier', namespace: NAMESPACE },
        rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }],
      });
    installation().upgrade({ values: ['charts/stowage/ci/minimal.yaml'] });
    const { kubectl } = installation();
    kubectl(['apply', '-f', '-'], role(['patch', 'get']));
    kubectl(['-n', NAMESPACE, 'create', 'rolebinding', 'applier', '--role=applier', `--user=${account}`]);
    const map = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: NAMESPACE } });
    const apply = (): string => kubectl(['apply', '--server-side', '--as', account, '-f', '-'], map);
    // The authorizer hears of rights a moment later.
    await eventually(async () => expect(apply).toThrow('cannot create resource "configmaps"'));
    kubectl(['apply', '-f', '-'], role(['patch', 'get', 'create']));
    await eventually(async () => expect(apply()).toContain('serverside-applied'));
    kubectl(['-n', NAMESPACE, 'delete', 'rolebinding/applier', 'role/applier', 'configmap/x']);
  });

  test('all engines: everything is accepted, both webhooks trust the operator, and it is refused nothing', async () => {
    const { eventually, api } = cluster();
    await install('all-engines');
    const configurations = 'mutatingwebhookconfigurations,validatingwebhookconfigurations';
    const ofRelease = ['-l', `app.kubernetes.io/instance=${RELEASE}`, '-o', 'json'];
    await eventually(async () => {
      const found = installation().kubectl(['get', configurations, ...ofRelease]);
      const bundles = [...found.matchAll(/"caBundle": "([^"]+)"/g)].map(([, bundle]) => bundle);
      expect(bundles).toHaveLength(3);
      expect(new Set(bundles).size).toBe(1);
    });
    await eventually(async () => {
      const agents = await api.get(resources.daemonSets, `${FULL_NAME}-agent`, { namespace: NAMESPACE });
      expect(agents.status?.numberReady).toBe(agents.status?.desiredNumberScheduled);
      expect(agents.status?.numberReady).toBeGreaterThan(0);
    });
    // Policies are asked about: an impossible one is refused by the operator, in its words.
    const impossible = {
      apiVersion: 'optipod.io/v1alpha1',
      kind: 'OptimizationPolicy',
      metadata: { name: 'p', namespace: NAMESPACE },
      spec: {
        mode: 'Recommend',
        selector: {},
        metricsConfig: { provider: 'metrics-server' },
        resourceBounds: { cpu: { min: '10m', max: '1' }, memory: { min: '16Mi', max: '1Gi' } },
        updateStrategy: {},
      },
    };
    const apply = (): string =>
      installation().kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(impossible));
    expect(apply).toThrow(/needs at least one of|selector/);
    await operator().stop();
    expect(refused()).toEqual([]);
  });

  test('with Roles only it places and sizes in the watched namespace, and asks for nothing outside', async () => {
    const namespace = await cluster().namespace();
    await installPolicies(cluster().api, cluster().eventually);
    await install(
      'namespaced',
      `config.controllers.watchNamespaces={${namespace}}`,
      'webhook.enabled=false,webhook.certManager.enabled=false',
      'config.controllers.nodeClassifier.profiles={karpenter}',
      'engines.rightsizing=true',
      `config.rightsizing.prometheus.url=${prometheus().url}`,
      'config.rightsizing.prometheus.step=1s,config.rightsizing.prometheus.scrapeInterval=1s',
      'config.rightsizing.sampleInterval=2s,config.rightsizing.collectInterval=2s,config.rightsizing.warmUp=0s',
      'config.rightsizing.reconcileInterval=1s,config.rightsizing.canaryPeriod=3s',
    );
    const before = await deployLoaded(cluster(), namespace);
    await deploy(cluster(), namespace, 2, policy(50, 0), 'placed');
    await createPolicy(cluster(), namespace);
    await cluster().eventually(async () => {
      const pods = await podsOf(cluster(), namespace);
      for (const pod of pods) {
        const { asked, actual } = sizesOf(pod);
        expect(asked['cpu']).toMatch(/^3[56]\dm$/);
        expect(actual).toEqual(asked);
      }
      const uidsOf = (all: typeof pods): Set<unknown> => new Set(all.map(({ metadata }) => metadata?.uid));
      expect(uidsOf(pods)).toEqual(uidsOf(before));
      expect(await workloadStatus(cluster(), namespace)).toMatchObject({
        status: 'Applied',
        lastApplyMethod: 'InPlace',
      });
    });
    // A watch is logged when it ends.
    await operator().stop();
    expect(asked().map(({ resource }) => resource)).toEqual(expect.arrayContaining(['pods', 'pods/resize']));
    expect(new Set(asked().map((record) => record.namespace))).toEqual(new Set([namespace, NAMESPACE]));
    expect(refused()).toEqual([]);
    expect(
      installation().kubectl(['get', 'clusterroles', '-l', `app.kubernetes.io/instance=${RELEASE}`, '-o', 'name']),
    ).toBe('');
  });
});
