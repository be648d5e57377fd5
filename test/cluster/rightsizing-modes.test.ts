/** Rightsizing with the real metrics-server behind aggregation, and what each mode does and does not write, by the API server's own log. */
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { policyType } from '../../src/api/optimization-policy.ts';
import type { PolicyWorkloadStatus } from '../../src/api/optimization-policy-status.ts';
import { resources } from '../../src/api/resources.ts';
import type { OperatorProcess } from './operator-process.ts';
import { useRealCluster } from './real-cluster.ts';
import { loadedDeployment, type PolicyFields } from './rightsizing-objects.ts';
import {
  conditionOf,
  createPolicy,
  deployLoaded,
  isMetricsServerBuilt,
  podsOf,
  readPolicy,
  restartsOf,
  rightsizingConfig,
  sizesOf,
  untilPasses,
  untilRunning,
  useMetricsServer,
  useRightsizingWorld,
  workloadStatus,
  workloadWrites,
} from './rightsizing-world.ts';
import { managedNamespace, scale } from './workloads.ts';

// Built by `npm run test:node`.
describe.skipIf(!isMetricsServerBuilt())('with the real metrics-server', () => {
  const cluster = useRealCluster({ servesMetrics: true });
  const world = useRightsizingWorld(cluster);
  useMetricsServer(cluster);
  let operator: OperatorProcess;

  beforeAll(async () => {
    operator = await world().startOperator(rightsizingConfig());
  });

  const measured: PolicyFields = { metrics: { provider: 'metrics-server' } };
  const create = (namespace: string, fields: PolicyFields): Promise<void> =>
    createPolicy(cluster(), namespace, { ...fields, ...measured });
  /** metrics-server has something to tell after two scrapes of a pod, ten seconds apart. */
  const untilAdvised = (namespace: string, name: string): Promise<PolicyWorkloadStatus | undefined> =>
    cluster().eventually(async () => {
      const entry = await workloadStatus(cluster(), namespace, 'web', { name });
      expect(entry?.recommendations?.[0]).toMatchObject({
        container: 'app',
        cpu: expect.stringMatching(/^3[56]\dm$/),
        memory: expect.stringMatching(/^1\d+(Ki|Mi)?$/),
      });
      return entry;
    });

  describe.concurrent('modes', () => {
    // Feature: k8s-workload-rightsizing, Property 3: Updates preserve limits
    // Feature: k8s-workload-rightsizing, Property 21: In-place resize preference
    // Feature: k8s-workload-rightsizing, Property 23: Status timestamp tracking
    test('Property 3, Property 21 and Property 23: Auto resizes in place though it might recreate; limits and template stay, times are told', async () => {
      const { api, eventually } = cluster();
      const namespace = await managedNamespace(cluster());
      const limits = { cpu: '500m', memory: '512Mi' };
      const before = await deployLoaded(cluster(), namespace, { limits });
      const created = await api.get(resources.deployments, 'web', { namespace });
      await create(namespace, { name: 'auto', updates: { allowRecreate: true } });
      await untilAdvised(namespace, 'auto');
      const entry = await eventually(async () => {
        const found = await workloadStatus(cluster(), namespace, 'web', { name: 'auto' });
        expect(found).toMatchObject({ status: 'Applied', lastApplyMethod: 'InPlace' });
        for (const pod of await podsOf(cluster(), namespace)) {
          const { asked, allocated, actual } = sizesOf(pod);
          expect(asked['cpu']).toMatch(/^3[56]\dm$/);
          expect([allocated, actual]).toEqual([asked, asked]);
        }
        return found;
      });
      const pods = await podsOf(cluster(), namespace);
      expect(pods.map(({ spec }) => spec?.containers[0]?.resources?.limits)).toEqual([limits, limits]);
      expect(pods.map(({ status }) => status?.containerStatuses?.[0]?.resources?.limits)).toEqual([limits, limits]);
      expect(new Set(pods.map(({ metadata }) => metadata?.uid))).toEqual(
        new Set(before.map(({ metadata }) => metadata?.uid)),
      );
      expect(restartsOf(pods)).toBe(0);
      expect((await api.get(resources.deployments, 'web', { namespace })).spec).toEqual(created.spec);
      const [advised, applied] = [entry?.lastRecommendation, entry?.lastApplied].map((text) => Date.parse(text ?? ''));
      expect(applied).toBeGreaterThanOrEqual(advised ?? Number.NaN);

      await scale(cluster(), 'deployments', namespace, 'web', 3);
      const grown = await untilRunning(cluster(), namespace, 3);
      expect(new Set(grown.map((pod) => sizesOf(pod).asked['cpu'])).size).toBe(1);
    });

    // Feature: k8s-workload-rightsizing, Property 8: Recommend mode prevents modifications
    // Feature: k8s-workload-rightsizing, Property 9: Recommend mode updates periodically
    // Feature: k8s-workload-rightsizing, Property 10: Recommendation format completeness
    test('Property 8, Property 9 and Property 10: Recommend writes a status that follows usage, and nothing else', async () => {
      const { api, eventually } = cluster();
      const namespace = await managedNamespace(cluster());
      await deployLoaded(cluster(), namespace);
      const position = world().audit.position();
      await create(namespace, { name: 'recommend', mode: 'Recommend' });
      const first = await untilAdvised(namespace, 'recommend');
      expect(first).toMatchObject({ kind: 'Deployment', namespace, status: 'Recommended' });
      expect(first?.lastRecommendation).toMatch(/Z$/);
      expect(first?.lastApplied).toBeUndefined();
      // Load rises: the next cycles say so.
      for (const pod of await podsOf(cluster(), namespace)) {
        const body = { metadata: { annotations: { 'stowage.test/cpu': '3' } } };
        await api.patch(resources.pods, pod.metadata?.name ?? '', { type: 'merge', body }, { namespace });
      }
      await eventually(async () => {
        const entry = await workloadStatus(cluster(), namespace, 'web', { name: 'recommend' });
        expect(Number.parseInt(entry?.recommendations?.[0]?.cpu ?? '', 10)).toBeGreaterThan(500);
      });
      expect(workloadWrites(world(), position, namespace)).toEqual([]);
      expect((await podsOf(cluster(), namespace)).map((pod) => sizesOf(pod).asked['cpu'])).toEqual(['100m', '100m']);
    });

    // Feature: k8s-workload-rightsizing, Property 16: Workload discovery
    // Feature: k8s-workload-rightsizing, Property 27: Multi-tenant scoping
    test('Property 16 and Property 27: all three kinds are found in the namespaces that are allowed, and nothing in those denied', async () => {
      const { api, eventually } = cluster();
      const [allowed, denied, other] = await Promise.all([1, 2, 3].map(() => cluster().namespace()));
      const { metadata, spec } = loadedDeployment({ replicas: 1, labels: { scope: 'many' } });
      const { replicas: _, ...daemon } = { ...spec };
      for (const namespace of [allowed, denied, other]) {
        const place = { namespace: namespace ?? '' };
        await api.create(resources.deployments, { metadata, spec } as never, place);
        await api.create(resources.statefulSets, { metadata, spec: { ...spec, serviceName: 'web' } } as never, place);
        await api.create(resources.daemonSets, { metadata, spec: daemon } as never, place);
      }
      // In the operator's namespace, where a policy may speak of all.
      const namespaces = { allow: [allowed, denied], deny: [denied] };
      const selector = { workloadSelector: { matchLabels: { scope: 'many' } }, namespaces };
      const own = 'spotalis-system';
      await create(own, { name: 'many', mode: 'Recommend', spec: { selector } });
      // A tenant's own policy never reaches beyond his namespace.
      await create(other ?? '', {
        name: 'tenant',
        mode: 'Recommend',
        spec: { selector: { workloadSelector: selector.workloadSelector, namespaces: { allow: [allowed, other] } } },
      });
      try {
        await eventually(async () => {
          const many = await readPolicy(cluster(), own, { name: 'many' });
          expect(many.status).toMatchObject({
            workloadsDiscovered: 3,
            workloadsByType: { deployments: 1, statefulSets: 1, daemonSets: 1 },
          });
          expect(new Set(many.status?.workloads?.map(({ namespace }) => namespace))).toEqual(new Set([allowed]));
          const tenant = await readPolicy(cluster(), other ?? '', { name: 'tenant' });
          expect(new Set(tenant.status?.workloads?.map(({ namespace }) => namespace))).toEqual(new Set([other]));
        });
      } finally {
        await api.delete(policyType('optipod.io'), 'many', { namespace: own });
      }
    });

    // Feature: k8s-workload-rightsizing, Property 19: Disabled mode stops processing
    test('Property 19: Disabled keeps what was known, hands back, and does nothing more', async () => {
      const { api, eventually } = cluster();
      const namespace = await managedNamespace(cluster());
      await deployLoaded(cluster(), namespace);
      await create(namespace, { name: 'ending' });
      await eventually(async () =>
        expect(await workloadStatus(cluster(), namespace, 'web', { name: 'ending' })).toMatchObject({
          status: 'Applied',
        }),
      );
      const [before] = (await readPolicy(cluster(), namespace, { name: 'ending' })).status?.workloads ?? [];
      const body = { spec: { mode: 'Disabled' } };
      await api.patch(policyType('optipod.io'), 'ending', { type: 'merge', body }, { namespace });
      await eventually(async () => {
        const { metadata } = await api.get(resources.deployments, 'web', { namespace });
        expect(Object.keys(metadata?.annotations ?? {}).filter((key) => key.startsWith('optipod.io/'))).toEqual([]);
      });
      const position = world().audit.position();
      await untilPasses(cluster(), operator, 'ending', 1);
      expect(workloadWrites(world(), position, namespace)).toEqual([]);
      const [after] = (await readPolicy(cluster(), namespace, { name: 'ending' })).status?.workloads ?? [];
      expect(after?.recommendations).toEqual(before?.recommendations);
      // New pods are the template's again.
      await scale(cluster(), 'deployments', namespace, 'web', 3);
      const pods = await untilRunning(cluster(), namespace, 3);
      expect(pods.map((pod) => sizesOf(pod).asked['cpu'])).toContain('100m');
    });
  });

  // Feature: k8s-workload-rightsizing, Property 29: Global dry-run mode
  test('Property 29: dry-run, switched on in a running operator, computes everything and applies nothing', async () => {
    const configured = readFileSync(operator.configPath, 'utf8');
    writeFileSync(operator.configPath, configured.replace(/^rightsizing:\n/m, '$&  dryRun: true\n'));
    await cluster().eventually(async () =>
      expect(operator.records().map(({ msg }) => msg)).toContainEqual(
        expect.stringContaining('The configuration changed'),
      ),
    );
    const namespace = await managedNamespace(cluster());
    await deployLoaded(cluster(), namespace);
    const position = world().audit.position();
    await create(namespace, { name: 'dry' });
    const entry = await untilAdvised(namespace, 'dry');
    expect(entry).toMatchObject({ status: 'Skipped', reason: 'DryRunActive' });
    expect(await conditionOf(cluster(), namespace, 'DryRun', { name: 'dry' })).toMatchObject({
      status: 'True',
      reason: 'DryRunActive',
    });
    await untilPasses(cluster(), operator, 'dry', 1);
    expect(workloadWrites(world(), position, namespace)).toEqual([]);
    // Switched off again it acts.
    writeFileSync(operator.configPath, configured);
    await cluster().eventually(async () => {
      const pods = await podsOf(cluster(), namespace);
      expect(pods.map((pod) => sizesOf(pod).asked['cpu'])).not.toContain('100m');
    });
  });
});
