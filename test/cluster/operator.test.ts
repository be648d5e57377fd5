/** The operator on the real control plane: its own RBAC only, its webhook registered as deploy/ says, its moves through real budgets. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Deployment, KubeObject, MutatingWebhookConfiguration, Pod, StatefulSet } from '../../src/api/core.ts';
import { isAlreadyExists } from '../../src/api/kube-error.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createAuthority, issueServerCertificate } from '../../src/lib/certificates.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createSystemRandom } from '../../src/lib/random.ts';
import { type Operator, startOperator } from '../../src/wire.ts';
import { useRealCluster } from './real-cluster.ts';

const cluster = useRealCluster();
const account = 'system:serviceaccount:spotalis-system:stowage';
const clock = createSystemClock();
const rbacTypes: Readonly<Record<string, ResourceType>> = {
  Role: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles', kind: 'Role', namespaced: true },
  RoleBinding: {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    plural: 'rolebindings',
    kind: 'RoleBinding',
    namespaced: true,
  },
  ClusterRole: {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    plural: 'clusterroles',
    kind: 'ClusterRole',
    namespaced: false,
  },
  ClusterRoleBinding: {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    plural: 'clusterrolebindings',
    kind: 'ClusterRoleBinding',
    namespaced: false,
  },
  Namespace: resources.namespaces,
  ServiceAccount: { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
};

let operator: Operator;

function readManifests(name: string): readonly KubeObject[] {
  const text = readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

beforeAll(async () => {
  const { api, connect, kubeconfigFor } = cluster();
  for (const object of readManifests('rbac.yaml')) {
    const type = rbacTypes[object.kind ?? ''];
    if (type === undefined) throw new Error(`deploy/rbac.yaml holds an unexpected ${object.kind}`);
    const { namespace } = object.metadata ?? {};
    await api.create(type, object, namespace === undefined ? {} : { namespace }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  const validity = { notBeforeMillis: clock.now() - 60_000, notAfterMillis: clock.now() + 86_400_000 };
  const authority = await createAuthority({ commonName: 'e2e', ...validity });
  const leaf = await issueServerCertificate(authority, {
    commonName: 'webhook',
    ipAddresses: ['127.0.0.1'],
    ...validity,
  });
  const env = {
    SPOTALIS_METRICS_ENABLED: 'false',
    SPOTALIS_HEALTH_ENABLED: 'false',
    SPOTALIS_CONTROLLERS_WORKLOAD_COOLDOWN_PERIOD: '2s',
  };
  const { config } = loadConfig({ text: '', fileName: 'defaults', env });
  operator = await startOperator({
    config: { ...config, webhook: { ...config.webhook, port: 0 } },
    api: await connect(
      await kubeconfigFor(account, ['system:serviceaccounts', 'system:serviceaccounts:spotalis-system']),
    ),
    clock,
    random: createSystemRandom(),
    log: createSilentLogger(),
    identity: `e2e_${clock.now()}`,
    keyPair: { cert: leaf.certificatePem, key: leaf.privateKeyPem },
    webhookHost: '127.0.0.1',
  });
  await operator.synced;
  await register(Buffer.from(authority.certificatePem).toString('base64'));
});

afterAll(async () => {
  await cluster().api.delete(resources.mutatingWebhookConfigurations, 'spotalis-mutating-webhook');
  await operator.stop();
});

/** Where the API server is told to find the webhook. */
async function redirect(url: string): Promise<void> {
  const { api } = cluster();
  const current = await api.get(resources.mutatingWebhookConfigurations, 'spotalis-mutating-webhook');
  const webhooks = (current.webhooks ?? []).map((webhook) => ({
    ...webhook,
    clientConfig: { ...webhook.clientConfig, url },
  }));
  await api.replace(resources.mutatingWebhookConfigurations, { ...current, webhooks });
}

const webhookUrl = (): string => `https://127.0.0.1:${operator.ports.webhook}/mutate`;

/** As deploy/webhook.yaml says, but for the address: nothing resolves Services here. */
async function register(caBundle: string): Promise<void> {
  const found = readManifests('webhook.yaml').find(({ kind }) => kind === 'MutatingWebhookConfiguration');
  const configuration = found as MutatingWebhookConfiguration;
  const webhooks = (configuration.webhooks ?? []).map((webhook) => ({
    ...webhook,
    clientConfig: { url: webhookUrl(), caBundle },
  }));
  await cluster().api.create(resources.mutatingWebhookConfigurations, { ...configuration, webhooks });
}

async function managedNamespace(): Promise<string> {
  const { api, namespace } = cluster();
  const name = await namespace();
  const body = { metadata: { labels: { 'spotalis.io/enabled': 'true' } } };
  await api.patch(resources.namespaces, name, { type: 'merge', body });
  return name;
}

const policy = (spotPercentage: number, minOnDemand: number) => ({
  'spotalis.io/spot-percentage': String(spotPercentage),
  'spotalis.io/min-on-demand': String(minOnDemand),
});
const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: {
    containers: [{ name: 'main', image: 'example.test/app:1', resources: { requests: { cpu: '10m', memory: '8Mi' } } }],
  },
});

async function deploy(namespace: string, replicas: number, annotations: Record<string, string>): Promise<void> {
  const deployment: Deployment = {
    metadata: { name: 'web', labels: { 'spotalis.io/enabled': 'true' }, annotations },
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: template('web') },
  };
  await cluster().api.create(resources.deployments, deployment, { namespace });
}

async function sides(namespace: string): Promise<{ spot: number; onDemand: number; pending: number }> {
  const { items } = await cluster().api.list<Pod>(resources.pods, { namespace });
  const counts = { spot: 0, onDemand: 0, pending: 0 };
  for (const { metadata, spec, status } of items) {
    if (metadata?.deletionTimestamp !== undefined) continue;
    const isReady = (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True');
    if (!isReady) counts.pending++;
    else if (spec?.nodeName?.startsWith('spot') === true) counts.spot++;
    else counts.onDemand++;
  }
  return counts;
}

const untilSides = (namespace: string, spot: number, onDemand: number): Promise<void> =>
  cluster().eventually(async () => expect(await sides(namespace)).toEqual({ spot, onDemand, pending: 0 }), 100_000);

/** Evictions of the workload so far, by the events about it. */
async function evictionsOf(namespace: string): Promise<number> {
  const { items } = await cluster().api.list(resources.events, { namespace });
  return items.filter(({ reason }) => reason === 'EvictedForRebalance').length;
}

describe('the operator on the real control plane', () => {
  test('a burst of 100 replicas lands exact without one eviction, and keeps the mix when scaled to 8', async () => {
    const { api } = cluster();
    const namespace = await managedNamespace();
    await deploy(namespace, 100, policy(70, 1));
    await untilSides(namespace, 70, 30);
    await api.patch(resources.deployments, 'web', { type: 'merge', body: { spec: { replicas: 8 } } }, { namespace });
    await untilSides(namespace, 6, 2);
    expect(await evictionsOf(namespace)).toBe(0);
  });

  test('a changed annotation converges with one eviction a pod, within a real PodDisruptionBudget', async () => {
    const { api } = cluster();
    const namespace = await managedNamespace();
    await deploy(namespace, 4, policy(0, 0));
    await untilSides(namespace, 0, 4);
    const spec = { maxUnavailable: '25%', selector: { matchLabels: { app: 'web' } } };
    await api.create(resources.podDisruptionBudgets, { metadata: { name: 'web' }, spec }, { namespace });
    await api.patch(
      resources.deployments,
      'web',
      { type: 'merge', body: { metadata: { annotations: policy(50, 0) } } },
      { namespace },
    );
    await untilSides(namespace, 2, 2);
    expect(await evictionsOf(namespace)).toBe(2);
  });

  test('a rolling update ends exact without one eviction', async () => {
    const { api, eventually } = cluster();
    const namespace = await managedNamespace();
    await deploy(namespace, 10, policy(70, 1));
    await untilSides(namespace, 7, 3);
    const body = { spec: { template: { metadata: { annotations: { version: '2' } } } } };
    await api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace });
    await eventually(async () => {
      const { items } = await api.list<Pod>(resources.pods, { namespace });
      expect(items.filter(({ metadata }) => metadata?.annotations?.['version'] !== '2')).toEqual([]);
    });
    await untilSides(namespace, 7, 3);
    expect(await evictionsOf(namespace)).toBe(0);
  });

  test('a StatefulSet goes 3 -> 0 -> 3 with its mix and without one eviction', async () => {
    const { api } = cluster();
    const namespace = await managedNamespace();
    const set: StatefulSet = {
      metadata: { name: 'db', labels: { 'spotalis.io/enabled': 'true' }, annotations: policy(67, 1) },
      spec: { replicas: 3, serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template: template('db') },
    };
    await api.create(resources.statefulSets, set, { namespace });
    await untilSides(namespace, 2, 1);
    for (const [replicas, spot, onDemand] of [
      [0, 0, 0],
      [3, 2, 1],
    ] as const) {
      await api.patch(resources.statefulSets, 'db', { type: 'merge', body: { spec: { replicas } } }, { namespace });
      await untilSides(namespace, spot, onDemand);
    }
    expect(await evictionsOf(namespace)).toBe(0);
  });

  test('while the webhook cannot be reached pods come up all the same; afterwards they are moved, and it is told', async () => {
    const { api, eventually } = cluster();
    const namespace = await managedNamespace();
    await redirect('https://127.0.0.1:1/mutate');
    await deploy(namespace, 4, policy(100, 0));
    await eventually(async () => expect((await sides(namespace)).pending).toBe(0));
    await eventually(async () => {
      const { spot, onDemand } = await sides(namespace);
      expect(spot + onDemand).toBe(4);
    });
    await redirect(webhookUrl());
    await untilSides(namespace, 4, 0);
    await eventually(async () => {
      const { items } = await api.list(resources.events, { namespace });
      expect(items.map(({ reason }) => reason)).toContain('MissedAdmission');
    });
  });
});
