/** What ran with the three systems runs here unchanged: their files, flags, variables and objects. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readSettings } from '../../src/agent/settings.ts';
import type { KubeObject } from '../../src/api/core.ts';
import { customResourceDefinition, customResourceDefinitions } from '../../src/api/crd/crd.ts';
import { crdDescriptions } from '../../src/api/crd/crds.ts';
import { type OptimizationPolicy, policyGroups, policyType } from '../../src/api/optimization-policy.ts';
import { type PodAllocation, podAllocations } from '../../src/api/pod-allocation.ts';
import { resources } from '../../src/api/resources.ts';
import { runCommand } from '../../src/cli/testing/run-command.ts';
import { createTestServer } from '../../src/cluster/apiserver/testing/test-server.ts';
import type { Config } from '../../src/config/schema.ts';
import { configOf, load } from '../../src/config/testing/load-text.ts';
import { isValidPolicy, parsePolicy } from '../../src/model/optimization-policy.ts';
import { at, configTextOf, findHelm, render, theOnly } from '../chart/render.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');
const documents = <T>(path: string): T[] => parseAllDocuments(read(path)).map((document) => document.toJS());
const MINUTE = 60_000;
const { programs, missing } = await findHelm();

/** An API server with the definitions of all our kinds, and these namespaces. */
async function serverWith(...namespaces: readonly string[]) {
  const { server, api } = createTestServer();
  onTestFinished(() => server.close());
  for (const description of crdDescriptions)
    await api.create(customResourceDefinitions, customResourceDefinition(description));
  for (const name of namespaces) await api.create(resources.namespaces, { metadata: { name } });
  return api;
}

describe('Spotalis', () => {
  test('its configuration file: every key counts, but those that never did, and these are named', () => {
    const { config, warnings } = load(read('spotalis/config.yaml'));
    expect(config.operator).toMatchObject({
      namespace: 'spotalis-system',
      readOnlyMode: true,
      leaderElection: { enabled: true, id: 'spotalis-controller-leader', leaseDuration: 15_000 },
      disruptionWindow: { schedule: '0 2 * * *', duration: '4h' },
    });
    expect(config.controllers).toMatchObject({
      maxConcurrentReconciles: 2,
      reconcileInterval: MINUTE,
      rateLimit: { qps: 50, burst: 100 },
      nodeClassifier: { spotLabels: [{ matchLabels: { 'karpenter.sh/capacity-type': 'spot' } }] },
      workloadTiming: { cooldownPeriod: 10_000, disruptionWindowPollInterval: 10 * MINUTE },
    });
    const named = warnings.map((warning) => /^config\.yaml:\d+: (\S+) has no effect: ./.exec(warning)?.[1]);
    expect(named).toEqual([
      'webhook.certName',
      'webhook.keyName',
      'observability.metrics.path',
      'observability.logging.output',
      'observability.logging.addCaller',
      'observability.logging.development',
      'observability.health.path',
    ]);
  });

  test.skipIf(missing !== undefined)('its Helm values: the chart takes them all, and they mean what they meant', () => {
    const objects = render(programs, { values: ['test/migration/spotalis/values.yaml'], release: 'spotalis' });
    const config = configOf(configTextOf(objects));
    expect(config.controllers).toMatchObject({ maxConcurrentReconciles: 2, reconcileInterval: MINUTE });
    expect(config.webhook).toMatchObject({ enabled: true, port: 9443, certificates: 'files' });
    const deployment = theOnly(objects, 'Deployment');
    expect(at(deployment, 'spec.replicas')).toBe(2);
    expect(at(deployment, 'spec.template.spec.containers.0')).toMatchObject({
      image: 'ghcr.io/yachiko/spotalis:0.1.0',
      resources: { limits: { cpu: '500m', memory: '512Mi' } },
      ports: [
        { name: 'metrics', containerPort: 8080 },
        { name: 'health', containerPort: 8081 },
        { name: 'webhook', containerPort: 9443 },
      ],
    });
    const certificate = theOnly(objects, 'Certificate', `${deployment.metadata?.name}-webhook`);
    expect(certificate).toMatchObject({ spec: { duration: '2160h', renewBefore: '360h' } });
    expect(theOnly(objects, 'PodDisruptionBudget')).toMatchObject({ spec: { minAvailable: 1 } });
  });
});

describe('OptiPod', () => {
  const policies = documents<OptimizationPolicy>('optipod/policies.yaml');
  const groupOf = ({ apiVersion = '' }: KubeObject) => {
    const group = policyGroups.find((each) => apiVersion.startsWith(`${each}/`));
    if (group === undefined) throw new Error(`no group of ours: ${apiVersion}`);
    return group;
  };

  test('its policies, in both groups: the API server takes them, and nothing is wrong with them', async () => {
    const api = await serverWith('optipod-system');
    for (const policy of policies) {
      const { namespace = '', name = '' } = policy.metadata ?? {};
      const type = policyType(groupOf(policy));
      await api.create(type, policy, { namespace });
      const stored = await api.get<OptimizationPolicy>(type, name, { namespace });
      const record = parsePolicy(groupOf(policy), stored);
      expect(record.problems, name).toEqual([]);
      expect(isValidPolicy(record)).toBe(true);
      // What was written is there as it was; defaults are only added.
      expect(stored.spec).toMatchObject(Object(policy.spec));
    }
    expect(new Set(policies.map(groupOf)).size).toBe(2);
  });

  test('its ConfigMap, in both shapes', () => {
    const [shipped, designed] = documents<{ readonly data: Readonly<Record<string, string>> }>(
      'optipod/configmap.yaml',
    );
    const { rightsizing, operator } = configOf(JSON.stringify(shipped?.data));
    expect(rightsizing).toMatchObject({
      dryRun: false,
      provider: 'prometheus',
      prometheus: { url: 'http://prometheus-k8s.monitoring.svc:9090' },
      reconcileInterval: MINUTE,
    });
    expect(operator.leaderElection.enabled).toBe(true);
    expect(configOf(designed?.data['config.yaml'] ?? '').rightsizing).toMatchObject({
      dryRun: false,
      provider: 'prometheus',
      prometheus: { url: 'http://prometheus:9090' },
      reconcileInterval: 5 * MINUTE,
    });
  });

  const args: readonly (readonly string[])[] = parse(read('optipod/args.yaml'));
  /** The configuration an operator is started with by these arguments. */
  async function startedWith(list: readonly string[]): Promise<Config> {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-migration-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const kubeconfig = join(folder, 'kubeconfig');
    const cluster = { name: 'c', cluster: { server: 'http://127.0.0.1:1' } };
    const context = { name: 'c', context: { cluster: 'c', user: 'u' } };
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        'current-context': 'c',
        clusters: [cluster],
        contexts: [context],
        users: [{ name: 'u', user: {} }],
      }),
    );
    const given: Config[] = [];
    await runCommand(['operator', ...list, '--kubeconfig', kubeconfig], {
      startOperator: async ({ config }) => {
        given.push(config);
        throw new Error('that is enough');
      },
    });
    const [config] = given;
    if (config === undefined) throw new Error('the operator was not started');
    return config;
  }

  test('its flags: as shipped, as its tests set them, and as its design names them', async () => {
    const [shipped, tested, designed] = await Promise.all(args.map(startedWith));
    expect(shipped?.rightsizing).toMatchObject({
      dryRun: false,
      provider: 'metrics-server',
      prometheus: { url: 'http://prometheus-k8s.monitoring.svc:9090' },
      reconcileInterval: MINUTE,
    });
    expect(shipped?.observability.metrics.bindAddress.port).toBe(8080);
    expect(tested?.rightsizing.sampleInterval).toBe(15_000);
    expect(designed?.rightsizing.provider).toBe('prometheus');
    expect([shipped, tested, designed].every((config) => config?.operator.leaderElection.enabled)).toBe(true);
  });
});

describe('MBCAS', () => {
  test('its ConfigMap: every key is known, and what has no effect says why', () => {
    const [map] = documents<{ readonly data: Readonly<Record<string, string>> }>('mbcas/agent-config.yaml');
    const { settings, problems, notes } = readSettings({ configMap: map?.data, env: {} });
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({ samplingMillis: 1000, tickMillis: 2000 });
    expect(settings.rules).toMatchObject({ margin: 0.1, startupGraceMillis: 45_000, write: { minShare: 0.05 } });
    expect(notes.length).toBeGreaterThan(5);
    for (const note of notes) expect(note).toMatch(/^\w+ has no effect: ./);
  });

  test("its DaemonSet's environment, those that were never read included", () => {
    const list: readonly { readonly name: string; readonly value: string }[] = parse(read('mbcas/daemonset-env.yaml'));
    const env = Object.fromEntries(list.map(({ name, value }) => [name, value]));
    const { settings, problems, notes } = readSettings({ env });
    expect(problems).toEqual([]);
    expect(settings.prometheus?.href).toBe('http://prometheus.monitoring:9090/');
    expect(settings.rules).toMatchObject({
      startupGraceMillis: 90_000,
      write: { minShare: 0.02, spacingUpMillis: 5000 },
    });
    for (const name of ['MBCAS_ALPHA_DOWN', 'MBCAS_ALPHA_UP', 'MBCAS_IDLE_DECAY_RATE', 'MBCAS_TARGET_THROTTLING'])
      expect(
        notes.some((note) => note.startsWith(`${name} has no effect`)),
        name,
      ).toBe(true);
  });

  test('its PodAllocations of every generation: stored as they are, with their status', async () => {
    const api = await serverWith('shop');
    for (const object of documents<PodAllocation>('mbcas/pod-allocations.yaml')) {
      const { name = '', namespace = '' } = object.metadata ?? {};
      await api.create(podAllocations, object, { namespace });
      const patch = { type: 'merge', body: { status: object.status } } as const;
      await api.patch(podAllocations, name, patch, { namespace, subresource: 'status' });
      const stored = await api.get(podAllocations, name, { namespace });
      expect(stored.spec).toMatchObject({ ...object.spec });
      expect(stored.status).toMatchObject({ ...object.status });
    }
  });
});
