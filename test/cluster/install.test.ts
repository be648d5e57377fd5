/** The chart on the real control plane: installed, upgraded and removed as users do it, the operator having its account's rights and no others. */
import { get } from 'node:https';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import type { Pod } from '../../src/api/core.ts';
import { resources } from '../../src/api/resources.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import {
  type Installation,
  NAMESPACE,
  prepareInstallation,
  RELEASE,
  type RunningOperator,
} from '../chart/installation.ts';
import { at, findHelm, type Manifest, theOnly } from '../chart/render.ts';
import { grantsOf } from '../chart/rights.ts';
import { type AuditLog, type AuditRecord, openAuditLog } from './audit-log.ts';
import { useRealCluster } from './real-cluster.ts';
import { installPolicies } from './rightsizing-objects.ts';
import {
  createPolicy,
  deployLoaded,
  podsOf as loadedPodsOf,
  sizesOf,
  usePrometheus,
  workloadStatus,
} from './rightsizing-world.ts';
import { deploy, managedNamespace, podsOf, policy, sidesOf, untilSides } from './workloads.ts';

const { programs, missing } = await findHelm();
const { own } = inject('cluster');
const clock = createSystemClock();
const FULL_NAME = `${RELEASE}-stowage`;
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:${FULL_NAME}`;
const FAST = 'config.controllers.workloadTiming.cooldownPeriod=1s,config.controllers.reconcileInterval=5s';

describe.skipIf(missing !== undefined || own === undefined)('the chart', () => {
  const cluster = useRealCluster({ servesMetrics: true });
  const prometheus = usePrometheus(cluster);
  let installation: Installation;
  let operator: RunningOperator | undefined;
  let audit: AuditLog;

  beforeAll(async () => {
    if (own === undefined) return;
    const { adminKubeconfigPath } = cluster();
    installation = await prepareInstallation(programs, { ...own, adminKubeconfigPath }, clock);
  });
  beforeEach(() => {
    audit = openAuditLog(own?.directory ?? '');
  });
  // What is installed stays for the next test to upgrade.
  afterEach(async () => {
    await operator?.stop();
    operator = undefined;
  });
  afterAll(() => {
    installation.remove();
    installation.kubectl(['delete', 'namespace', NAMESPACE, '--ignore-not-found', '--wait=false']);
  });

  async function install(values: string, ...set: string[]): Promise<void> {
    installation.upgrade({ values: [`charts/stowage/ci/${values}.yaml`], set: [FAST, ...set] });
    await start();
  }

  async function start(): Promise<void> {
    await operator?.stop();
    operator = await installation.startOperator();
    await cluster().eventually(async () => {
      if (operator?.isRunning() === false) throw new Error(`the operator ended:\n${operator.log().slice(-2000)}`);
      expect(await operator?.readiness()).toBe(200);
    });
  }

  const refused = (): AuditRecord[] =>
    audit.records().filter(({ user, isAuthorized }) => user === ACCOUNT && !isAuthorized);
  const used = (): Set<string> =>
    new Set(
      audit
        .records()
        // Discovery is open to all.
        .filter(({ user, resource }) => user === ACCOUNT && resource !== '')
        .map(({ verb, resource }) => `${verb} ${resource}`),
    );

  const expectSides = (namespace: string, spot: number, onDemand: number): Promise<void> =>
    untilSides(cluster(), namespace, spot, onDemand);

  async function repartition(namespace: string, spotPercentage: number): Promise<void> {
    const body = { metadata: { annotations: policy(spotPercentage, 0) } };
    await cluster().api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace });
  }

  const bundleOf = async (): Promise<string> => {
    const name = `${FULL_NAME}-mutating-webhook`;
    const { webhooks } = await cluster().api.get(resources.mutatingWebhookConfigurations, name);
    return webhooks?.[0]?.clientConfig.caBundle ?? '';
  };

  test('works with exactly its rights: pods are steered through its Service, moves are made, nothing is refused', async () => {
    // By kubectl; the other tests have helm do it.
    installation.apply({ values: ['charts/stowage/ci/default.yaml'], set: [FAST] });
    await start();
    expect(Buffer.from(await bundleOf(), 'base64').toString()).toContain('BEGIN CERTIFICATE');
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 4, policy(50, 0));
    await expectSides(namespace, 2, 2);
    expect(audit.evictions(namespace)).toEqual([]);
    await repartition(namespace, 0);
    await expectSides(namespace, 0, 4);
    expect(audit.evictions(namespace)).toHaveLength(2);
    expect(refused()).toEqual([]);
    // A watch is logged when it ends.
    await operator?.stop();
    const granted = new Set(grantsOf(installation.objects()).map(({ right }) => right.replace(/ [^/]*\//, ' ')));
    expect([...used()].filter((right) => !granted.has(right))).toEqual([]);
    installation.remove();
  });

  test('the pods of its Deployment are accepted by the API server and keep off spot nodes', async () => {
    installation.upgrade({ values: ['charts/stowage/ci/default.yaml'] });
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
    const role = theOnly(installation.objects(), 'ClusterRole', FULL_NAME);
    const rules = (Array.isArray(role['rules']) ? role['rules'] : []).filter(
      (rule: unknown) => !JSON.stringify(at(rule, 'resources')).includes('pods/eviction'),
    );
    const replaceRole = (object: Manifest): string =>
      // As helm, which goes on with what it finds its own.
      installation.kubectl(
        ['apply', '--server-side', '--force-conflicts', '--field-manager=helm', '-f', '-'],
        JSON.stringify(object),
      );
    replaceRole({ ...role, rules });
    await repartition(namespace, 0);
    await cluster().eventually(async () =>
      expect(refused().map(({ resource }) => resource)).toContain('pods/eviction'),
    );
    expect(sidesOf(await podsOf(cluster(), namespace))).toMatchObject({ spot: 2, onDemand: 2 });
    replaceRole(role);
    await expectSides(namespace, 0, 4);
  });

  test('an upgrade to other values and a rollback keep authority, pods and rights', async () => {
    await install('default');
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 4, policy(50, 0));
    await expectSides(namespace, 2, 2);
    const [before, bundle] = [await uids(namespace), await bundleOf()];

    await install('read-only', 'config.controllers.nodeClassifier.profiles={karpenter}', 'replicaCount=1');
    expect(await bundleOf()).toBe(bundle);
    expect(() => installation.kubectl(['-n', NAMESPACE, 'get', 'pdb', FULL_NAME])).toThrow('not found');
    await repartition(namespace, 0);
    await cluster().eventually(async () => {
      const events = installation.kubectl(['-n', namespace, 'get', 'events', '-o', 'jsonpath={.items[*].reason}']);
      expect(events).toContain('WouldEvict');
    });
    expect(await uids(namespace)).toEqual(before);

    installation.rollback();
    await start();
    await expectSides(namespace, 0, 4);
    expect(await bundleOf()).toBe(bundle);
    expect(refused()).toEqual([]);
  });

  const uids = async (namespace: string): Promise<string[]> => {
    const { items } = await cluster().api.list(resources.pods, { namespace });
    return items.map(({ metadata }) => metadata?.uid ?? '').sort();
  };

  test('a change of the mounted configuration is followed without a restart', async () => {
    await install('default');
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 2, policy(50, 0));
    await expectSides(namespace, 1, 1);
    installation.upgrade({
      values: ['charts/stowage/ci/default.yaml'],
      set: [FAST, 'config.operator.readOnlyMode=true'],
    });
    operator?.takeInConfig();
    await cluster().eventually(async () => expect(operator?.log()).toContain('readOnlyMode'));
    await repartition(namespace, 0);
    await cluster().eventually(async () => {
      const events = installation.kubectl(['-n', namespace, 'get', 'events', '-o', 'jsonpath={.items[*].reason}']);
      expect(events).toContain('WouldEvict');
    });
    expect(audit.evictions(namespace)).toEqual([]);
  });

  test('removing it leaves no webhook, no role, no finalizer, and pods as they are', async () => {
    await install('default');
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 4, policy(50, 0));
    await expectSides(namespace, 2, 2);
    const before = await uids(namespace);
    await operator?.stop();
    installation.remove();
    const kinds = 'mutatingwebhookconfigurations,validatingwebhookconfigurations,clusterroles,clusterrolebindings';
    const left = installation.kubectl(['get', kinds, '-l', `app.kubernetes.io/instance=${RELEASE}`, '-o', 'name']);
    expect(left).toBe('');
    const inNamespace =
      'deployments,services,configmaps,serviceaccounts,roles,rolebindings,poddisruptionbudgets,networkpolicies';
    expect(
      installation.kubectl([
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
    const everything = installation.kubectl(['-n', namespace, 'get', 'pods,deployments,replicasets', '-o', 'json']);
    expect(everything).not.toMatch(/"finalizers"/);
    // New pods come as their template says, unasked.
    const body = { spec: { replicas: 6 } };
    await cluster().api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace });
    await cluster().eventually(async () => expect(await uids(namespace)).toHaveLength(6));
  });

  test('metrics are served over HTTPS, for those the cluster knows and allows', async () => {
    await install('metrics-tls', 'metrics.serviceMonitor.enabled=false');
    const ca = Buffer.from(await bundleOf(), 'base64').toString();
    const statusOf = (path: string, token?: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const { metrics: port } = installation.ports;
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        // By the name that Prometheus is told to expect.
        const servername = `${FULL_NAME}.${NAMESPACE}.svc`;
        get({ host: '127.0.0.1', port, path, ca, servername, headers, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        }).on('error', reject);
      });
    const tokenOf = (account: string): string =>
      installation.kubectl(['-n', NAMESPACE, 'create', 'token', account]).trim();
    installation.kubectl(['-n', NAMESPACE, 'create', 'serviceaccount', 'scraper']);
    const scraper = tokenOf('scraper');
    expect(await statusOf('/metrics')).toBe(401);
    expect(await statusOf('/metrics', 'forged')).toBe(401);
    expect(await statusOf('/metrics', scraper)).toBe(403);
    expect(await statusOf('/explain', scraper)).toBe(403);
    expect(await statusOf('/metrics', tokenOf(FULL_NAME))).toBe(200);
    expect(await statusOf('/explain', tokenOf(FULL_NAME))).toBe(200);
    const binding = ['scraper', `--clusterrole=${FULL_NAME}-metrics-reader`, `--serviceaccount=${NAMESPACE}:scraper`];
    installation.kubectl(['create', 'clusterrolebinding', ...binding]);
    // A token of its own: what was refused is remembered for a minute.
    await cluster().eventually(async () => expect(await statusOf('/metrics', tokenOf('scraper'))).toBe(200));
    installation.kubectl(['delete', 'clusterrolebinding', 'scraper']);
    installation.kubectl(['-n', NAMESPACE, 'delete', 'serviceaccount', 'scraper']);
    expect(refused()).toEqual([]);
  });

  test('a patch by server-side apply of what does not exist needs the right to create', () => {
    const account = `system:serviceaccount:${NAMESPACE}:applier`;
    const role = (verbs: readonly string[]): string =>
      JSON.stringify({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'applier', namespace: NAMESPACE },
        rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }],
      });
    installation.upgrade({ values: ['charts/stowage/ci/minimal.yaml'] });
    const { kubectl } = installation;
    kubectl(['apply', '-f', '-'], role(['patch', 'get']));
    kubectl(['-n', NAMESPACE, 'create', 'rolebinding', 'applier', '--role=applier', `--user=${account}`]);
    const map = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: NAMESPACE } });
    const apply = (): string => kubectl(['apply', '--server-side', '--as', account, '-f', '-'], map);
    expect(apply).toThrow(/cannot create resource "configmaps"|forbidden/);
    kubectl(['apply', '-f', '-'], role(['patch', 'get', 'create']));
    expect(apply()).toContain('serverside-applied');
    kubectl(['-n', NAMESPACE, 'delete', 'rolebinding/applier', 'role/applier', 'configmap/x']);
  });

  test('all engines: everything is accepted, both webhooks trust the operator, and it is refused nothing', async () => {
    await install('all-engines');
    const configurations = 'mutatingwebhookconfigurations,validatingwebhookconfigurations';
    const found = installation.kubectl([
      'get',
      configurations,
      '-l',
      `app.kubernetes.io/instance=${RELEASE}`,
      '-o',
      'json',
    ]);
    const bundles = [...found.matchAll(/"caBundle": "([^"]+)"/g)].map(([, bundle]) => bundle);
    expect(bundles).toHaveLength(3);
    expect(new Set(bundles).size).toBe(1);
    const { eventually, api } = cluster();
    await eventually(async () => {
      const agents = await api.get(resources.daemonSets, `${FULL_NAME}-agent`, { namespace: NAMESPACE });
      expect(agents.status?.numberReady).toBe(agents.status?.desiredNumberScheduled);
      expect(agents.status?.numberReady).toBeGreaterThan(0);
    });
    // Policies are asked about: an impossible one is refused by the operator, in its words.
    const policy = {
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
    const apply = (): string => installation.kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(policy));
    expect(apply).toThrow(/needs at least one of|selector/);
    await operator?.stop();
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
      const pods = await loadedPodsOf(cluster(), namespace);
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
    await operator?.stop();
    const asked = audit.records().filter(({ user, resource }) => user === ACCOUNT && resource !== '');
    expect(asked.map(({ resource }) => resource)).toEqual(expect.arrayContaining(['pods', 'pods/resize']));
    expect(new Set(asked.map((record) => record.namespace))).toEqual(new Set([namespace, NAMESPACE]));
    expect(refused()).toEqual([]);
    expect(
      installation.kubectl(['get', 'clusterroles', '-l', `app.kubernetes.io/instance=${RELEASE}`, '-o', 'name']),
    ).toBe('');
  });
});
