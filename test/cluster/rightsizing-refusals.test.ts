/** What rightsizing does where it may not or cannot, on the real control plane: the error table, row by row; a reason in the status, an event, and no storm. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/core.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { textAt } from '../conformance/cluster.ts';
import { countedQuota } from '../conformance/counted-quota.ts';
import { startWebhookServer, type WebhookServer } from '../conformance/webhook-server.ts';
import type { OperatorProcess } from './operator-process.ts';
import { useRealCluster } from './real-cluster.ts';
import { loadedDeployment } from './rightsizing-objects.ts';
import {
  conditionOf,
  createPolicy,
  deployLoaded,
  eventsIn,
  podsOf,
  rightsizingConfig,
  sizesOf,
  untilPasses,
  untilScraped,
  usePrometheus,
  useRightsizingWorld,
  workloadStatus,
  workloadWrites,
} from './rightsizing-world.ts';

const NOBODY = 'http://127.0.0.1:9';
const VALIDATING: ResourceType = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
};

const cluster = useRealCluster({ servesMetrics: true });
const world = useRightsizingWorld(cluster, { takesRightsAway: true });
const prometheus = usePrometheus(cluster);
let operator: OperatorProcess;

beforeAll(async () => {
  const more = { prometheus: { url: prometheus().url, allowedUrls: [NOBODY], step: '1s', scrapeInterval: '1s' } };
  operator = await world().startOperator(rightsizingConfig(undefined, more));
});

/** A namespace with `web` in it, whose two pods want three times the CPU they request, and what else is given. */
async function stage(policy: string, setUp: (namespace: string) => Promise<unknown>, updates: object = {}) {
  const namespace = await cluster().namespace();
  await deployLoaded(cluster(), namespace);
  await setUp(namespace);
  await untilScraped(cluster(), prometheus(), namespace, 2);
  const position = world().audit.position();
  await createPolicy(cluster(), namespace, { name: policy, updates });
  const entry = () => workloadStatus(cluster(), namespace, 'web', { name: policy });
  const resizes = () =>
    workloadWrites(world(), position, namespace).filter(({ resource }) => resource === 'pods/resize');
  return {
    namespace,
    entry,
    resizes,
    /** Resolves when the status says so. */
    until: (expected: object) =>
      cluster().eventually(async () => expect(await entry()).toEqual(expect.objectContaining(expected))),
    /** The condition of the policy. */
    condition: (type: Parameters<typeof conditionOf>[2]) => conditionOf(cluster(), namespace, type, { name: policy }),
    note: (reason: string) =>
      cluster().eventually(async () => {
        const [event] = await eventsIn(cluster(), namespace, reason);
        expect(event?.note).toContain('Suggestion: ');
        expect(event?.regarding).toMatchObject({ kind: 'Deployment', name: 'web' });
        return event?.note;
      }),
    passes: (count: number) => untilPasses(cluster(), operator, policy, count),
    asked: async () => (await podsOf(cluster(), namespace)).map((pod) => sizesOf(pod).asked),
  };
}

/** Three times the request, and what the scrapes of a busy machine make of it. */
const advised = expect.stringMatching(/^3[56]\dm$/);
const unchanged = Array.from({ length: 2 }, () => ({ cpu: '100m', memory: '256Mi' }));

describe.concurrent('errors of application', () => {
  test('a full quota: nothing is forced, and the advice is to raise the quota', async () => {
    const { api, eventually } = cluster();
    const { note, until, asked, passes, entry, resizes } = await stage(
      'quota',
      (namespace) => {
        const hard = { 'requests.cpu': '200m', 'requests.memory': '8Gi' };
        return countedQuota(api, eventually, { namespace, name: 'small', hard, used: { 'requests.cpu': '200m' } });
      },
      { memoryDecrease: 'Never' },
    );
    await until({ status: 'Skipped', reason: 'QuotaExceeded' });
    expect(await note('WorkloadSkipped')).toMatch(/small.*Suggestion: Raise the quota/);
    await passes(2);
    expect(await entry()).toMatchObject({ status: 'Skipped', reason: 'QuotaExceeded' });
    expect(await asked()).toEqual(unchanged);
    expect(resizes()).toEqual([]);
  });

  // Refused, not fitted: a maximum asks for a limit, which pods older than the LimitRange have not.
  test('a LimitRange that does not take the pods as they are: skipped, with its name and what it says', async () => {
    const { api } = cluster();
    const { until, asked, note, passes, entry, resizes } = await stage('limit-range', (namespace) => {
      const spec = { limits: [{ type: 'Container', max: { cpu: '200m' } }] };
      const range = { metadata: { name: 'narrow' }, spec } as KubeObject;
      return api.create<KubeObject>(resources.limitRanges, range, { namespace });
    });
    await until({ status: 'Skipped', reason: 'LimitRangeRefuses' });
    expect(await note('WorkloadSkipped')).toMatch(/narrow.*Suggestion: Change the LimitRange/);
    await passes(2);
    expect(await entry()).toMatchObject({ status: 'Skipped', reason: 'LimitRangeRefuses' });
    expect(await asked()).toEqual(unchanged);
    expect(resizes()).toEqual([]);
  });

  // Feature: k8s-workload-rightsizing, Property 24: Skip reason recording
  test('Property 24: a webhook that refuses: skipped, with the words of the webhook', async () => {
    const { api, eventually } = cluster();
    let webhook: WebhookServer | undefined;
    const { namespace, note, until, asked, passes, entry, resizes } = await stage('webhook', async (name) => {
      webhook = await startWebhookServer((request) => ({
        response: { uid: textAt(request, 'uid'), allowed: false, status: { message: 'sizes are frozen this week' } },
      }));
      const { url, caPem } = webhook;
      const hook = {
        name: 'frozen.example.test',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url, caBundle: Buffer.from(caPem).toString('base64') },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods/resize'] }],
      };
      await api.create<KubeObject>(VALIDATING, { metadata: { name }, webhooks: [hook] } as KubeObject);
    });
    try {
      await until({ status: 'Skipped', reason: 'ResizeAdmissionDenied' });
      expect(await note('WorkloadSkipped')).toContain('sizes are frozen this week');
      await passes(2);
      expect(await entry()).toMatchObject({
        status: 'Skipped',
        reason: 'ResizeAdmissionDenied',
        message: expect.stringContaining('sizes are frozen this week'),
      });
      expect(await asked()).toEqual(unchanged);
      expect(resizes().length).toBeLessThanOrEqual(2);
      // The log has each once it is answered.
      await eventually(async () => expect(webhook?.requests.length).toBe(resizes().length));
    } finally {
      await api.delete(VALIDATING, namespace);
      await webhook?.close();
    }
  });

  test('another manager applied the requests: they are taken over, and it is named', async () => {
    const { api, eventually } = cluster();
    const { namespace, until } = await stage(
      'conflict',
      async (name) => {
        const body = { apiVersion: 'apps/v1', kind: 'Deployment', ...loadedDeployment() };
        const place = { namespace: name, fieldManager: 'argocd' };
        await api.patch(resources.deployments, 'web', { type: 'apply', body, force: true }, place);
      },
      { allowInPlaceResize: false, allowRecreate: true },
    );
    await until({ status: 'Applied', lastApplyMethod: 'ServerSideApply' });
    await eventually(async () => {
      const [event] = await eventsIn(cluster(), namespace, 'SSAOwnershipTaken');
      expect(event?.note).toContain('argocd');
    });
    const { spec, metadata } = await api.get(resources.deployments, 'web', { namespace });
    expect(spec?.template?.spec?.containers[0]?.resources?.requests?.['cpu']).toMatch(/^3[56]\dm$/);
    const applied = metadata?.managedFields?.filter(({ operation }) => operation === 'Apply');
    expect(applied?.map(({ manager }) => manager).toSorted()).toEqual(['argocd', 'optipod']);
  });

  // Feature: k8s-workload-rightsizing, Property 6: Fallback strategy respect
  test('Property 6: neither in place nor recreate is allowed: skipped with a warning', async () => {
    const { note, until, asked } = await stage('neither', async () => {}, { allowInPlaceResize: false });
    await until({ status: 'Skipped', reason: 'InPlaceResizeUnavailable' });
    expect(await note('InPlaceResizeUnavailable')).toContain('allowRecreate');
    expect(await asked()).toEqual(unchanged);
  });
});

describe.concurrent('errors of metrics', () => {
  // Feature: k8s-workload-rightsizing, Property 26: Failure event creation
  test('Property 26: a source that cannot be reached: condition, event, no change', async () => {
    const { api, eventually } = cluster();
    const namespace = await cluster().namespace();
    await deployLoaded(cluster(), namespace);
    const position = world().audit.position();
    const name = 'unreachable';
    await createPolicy(cluster(), namespace, { name, metrics: { prometheus: { url: NOBODY } } });
    await eventually(async () => {
      expect(await conditionOf(cluster(), namespace, 'MetricsAvailable', { name })).toMatchObject({
        status: 'False',
        reason: 'MetricsCollectionFailed',
        message: expect.stringMatching(/127\.0\.0\.1:9.*Suggestion: /),
      });
      expect(await workloadStatus(cluster(), namespace, 'web', { name })).toMatchObject({
        status: 'Skipped',
        reason: 'MetricsCollectionFailed',
      });
      const [event] = await eventsIn(cluster(), namespace, 'MetricsCollectionFailed');
      expect(event?.note).toContain('Suggestion: ');
    });
    await untilPasses(cluster(), operator, name, 2);
    expect(workloadWrites(world(), position, namespace)).toEqual([]);
    expect((await eventsIn(cluster(), namespace, 'MetricsCollectionFailed')).length).toBe(1);
    // The workload is deleted: it is forgotten.
    await api.delete(resources.deployments, 'web', { namespace });
    await eventually(async () => expect(await workloadStatus(cluster(), namespace, 'web', { name })).toBeUndefined());
  });

  test('one container of two has no usage: the other one gets its advice, and it the reason', async () => {
    const { api, eventually } = cluster();
    const namespace = await cluster().namespace();
    const loaded = loadedDeployment();
    const [app] = loaded.spec?.template?.spec?.containers ?? [];
    if (app === undefined) throw new Error('no container');
    const template = { ...loaded.spec?.template, spec: { containers: [app, { ...app, name: 'silent' }] } };
    const body = { ...loaded, spec: { ...loaded.spec, template } } as typeof loaded;
    await api.create(resources.deployments, body, { namespace });
    await untilScraped(cluster(), prometheus(), namespace, 2);
    const name = 'partial';
    // Series of one of them only.
    const labels = { container: 'app' };
    await createPolicy(cluster(), namespace, { name, metrics: { prometheus: { labels } } });
    await eventually(async () => {
      const entry = await workloadStatus(cluster(), namespace, 'web', { name });
      expect(entry).toMatchObject({ status: 'Applied', lastApplyMethod: 'InPlace' });
      const [known, silent] = entry?.recommendations ?? [];
      expect(known).toMatchObject({ container: 'app', cpu: advised, memory: expect.any(String) });
      expect(silent).toMatchObject({ container: 'silent', explanation: expect.stringMatching(/no .*usage is known/) });
      expect([silent?.cpu, silent?.memory]).toEqual([undefined, undefined]);
    });
    const [pod] = await podsOf(cluster(), namespace);
    expect(pod?.spec?.containers.map(({ resources: held }) => held?.requests?.['cpu'])).toEqual([advised, '100m']);
  });
});

describe('errors of permissions', () => {
  // Feature: k8s-workload-rightsizing, Property 28: RBAC respect
  test('Property 28: without the right to resize: told in status, condition and event, tried no more than that, and mended by the right', async () => {
    const { api } = cluster();
    const role = 'stowage';
    const roles: ResourceType<KubeObject & { readonly rules?: readonly { readonly resources?: readonly string[] }[] }> =
      {
        group: 'rbac.authorization.k8s.io',
        version: 'v1',
        plural: 'clusterroles',
        kind: 'ClusterRole',
        namespaced: false,
      };
    const { rules = [] } = await api.get(roles, role);
    const setRules = (wanted: typeof rules) => api.patch(roles, role, { type: 'merge', body: { rules: wanted } });
    await setRules(rules.filter((rule) => rule.resources?.includes('pods/resize') !== true));
    const { note, until, condition, asked, passes, entry, resizes } = await stage('forbidden', async () => {});
    await until({ status: 'Error', reason: 'RBACError' });
    expect(await note('RBACError')).toMatch(/pods\/resize.*Suggestion: Grant/);
    await passes(2);
    expect(await entry()).toMatchObject({ status: 'Error', reason: 'RBACError' });
    expect(await condition('PermissionsSufficient')).toMatchObject({ status: 'False', reason: 'RBACError' });
    expect(await condition('Degraded')).toMatchObject({ status: 'True' });
    expect(await asked()).toEqual(unchanged);
    expect(resizes().length).toBeLessThanOrEqual(2);
    expect(resizes().map(({ code }) => code)).toEqual(resizes().map(() => 403));
    await setRules(rules);
  });
});
