/** The chart on real nodes from its first day to its last: installed by helm, running as its own accounts, scraped, tested, changed and removed, while the pods of users go on. */
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFailed, test } from 'vitest';
import { sizingKeys } from '../../src/api/annotations-sizing.ts';
import type { Deployment, Pod } from '../../src/api/core.ts';
import { type OptimizationPolicy, policyType } from '../../src/api/optimization-policy.ts';
import { podAllocations } from '../../src/api/pod-allocation.ts';
import { resources } from '../../src/api/resources.ts';
import { findHelm } from '../chart/render.ts';
import { type AuditLog, openAuditLog } from '../cluster/audit-log.ts';
import { findPrometheus } from '../prometheus/find-prometheus.ts';
import { sizeOf } from './allocation/shared-pods.ts';
import { type ChartRelease, chartRelease } from './install/chart-release.ts';
import { describePlacement } from './install/placement-tests.ts';
import { livePods, type RunningPod, runningPods } from './install/running.ts';
import { type Scraping, scrape } from './install/scrape.ts';
import { podLogs, removeNamespaces, useRealNodes } from './kit.ts';
import { ON_DEMAND_NODE, SPOT_NODE } from './nodes.ts';
import { getText, isReady } from './pod-access.ts';
import { startClusterDns } from './runtime/cluster-dns.ts';
import { loadTemplate, managed, policy } from './workloads.ts';

const { programs, missing } = await findHelm();
const RELEASE = 'stowage';
/** The API server logs what its accounts ask for. */
const NAMESPACE = 'stowage-install';
const ACCOUNTS = `system:serviceaccount:${NAMESPACE}:`;
const VALUES = ['test/node/install/values.yaml'];
const WATCHING = [...VALUES, 'test/node/install/watching.yaml'];
const REQUEST = 100;
const CLAIM = 200;
const BURNT = 150;

describe.skipIf(missing !== undefined)('the chart on real nodes', () => {
  const kit = useRealNodes();
  let release: ChartRelease;
  let audit: AuditLog;
  let shop = '';
  let stopDns: (() => Promise<void>) | undefined;
  let scraping: Scraping | undefined;

  const operators = (): Promise<Pod[]> => livePods(kit().api, NAMESPACE, 'app.kubernetes.io/component=operator');
  const agents = (): Promise<Pod[]> => livePods(kit().api, NAMESPACE, 'app.kubernetes.io/component=agent');
  const nodeNames = (): string[] =>
    kit()
      .access.nodes.map(({ name }) => name)
      .sort();
  const users = (): Promise<Readonly<Record<string, RunningPod>>> => runningPods(kit().api, shop);
  const requests = async (): Promise<number[]> => (await livePods(kit().api, shop)).map((pod) => sizeOf(pod).request);
  const expectSameContainers = (now: Awaited<ReturnType<typeof users>>, before: typeof now): void => {
    const withoutSizes = Object.entries(before).map(([name, pod]) => [name, { ...pod, resources: expect.anything() }]);
    expect(now).toMatchObject(Object.fromEntries(withoutSizes));
  };

  beforeAll(async () => {
    const { api, access, namespace } = kit();
    const { kubeconfigPath, controlPlaneDirectory } = access;
    release = chartRelease({ programs, kubeconfigPath, release: RELEASE, namespace: NAMESPACE });
    audit = openAuditLog(controlPlaneDirectory);
    stopDns = await startClusterDns(api);
    shop = await namespace({ ...managed, 'mbcas.io/managed': 'true' });
  });
  beforeEach(() => {
    onTestFailed(({ task }) => {
      const errors = task.result?.errors?.map(({ message }) => message).join('\n');
      const end = podLogs(kit(), NAMESPACE).split('\n').slice(-30).join('\n');
      process.stderr.write(`${task.name}: ${errors}\nend of the logs of Stowage's pods:\n${end}\n`);
    });
  });
  afterAll(async () => {
    await release?.uninstall();
    await release?.removeDefinitions();
    await scraping?.stop();
    await stopDns?.();
    await removeNamespaces(kit(), [NAMESPACE]);
  });

  test('helm install brings two operators and an agent on each node, ready, as accounts of their own', async () => {
    await release.install(VALUES);
    const running = [await operators(), await agents()];
    expect(running.flat().filter((pod) => !isReady(pod))).toEqual([]);
    const accounts = running.map((pods) => [...new Set(pods.map(({ spec }) => spec?.serviceAccountName))]);
    expect(accounts).toEqual([['stowage'], ['stowage-agent']]);
    expect(running[0]).toHaveLength(2);
    expect(running[1]?.map(({ spec }) => spec?.nodeName).sort()).toEqual(nodeNames());
  });

  describePlacement({ kit, namespace: NAMESPACE, operators });

  test('new pods are placed through the webhook behind its Service, trusted by the certificate the operator made', async () => {
    const { api, eventually } = kit();
    const template = loadTemplate('web');
    const [container] = template.spec?.containers ?? [];
    if (template.spec === undefined || container === undefined) throw new Error('the load pod has no container');
    const web: Deployment = {
      metadata: { name: 'web', labels: managed, annotations: policy(50) },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' }, annotations: { 'mbcas.io/min-cpu': `${CLAIM}m` } },
          spec: {
            ...template.spec,
            containers: [
              {
                ...container,
                env: [{ name: 'CPU_MILLI', value: `${BURNT}` }],
                resources: { requests: { cpu: `${REQUEST}m`, memory: '16Mi' }, limits: { memory: '64Mi' } },
              },
            ],
          },
        },
      },
    };
    await api.create(resources.deployments, web, { namespace: shop });
    await eventually(async () => {
      const pods = (await livePods(api, shop)).filter(isReady);
      expect(new Set(pods.map(({ spec }) => spec?.nodeName))).toEqual(new Set([ON_DEMAND_NODE, SPOT_NODE]));
      for (const { metadata } of pods)
        expect(Object.keys(metadata?.annotations ?? {}).join()).toMatch(/spotalis\.io\//);
    });
    expect(audit.evictions(shop)).toEqual([]);
  });

  test('policies are checked by the webhook in its own words, and get a status', async () => {
    const { api, eventually } = kit();
    const type = policyType('optipod.io');
    const object = (schedule: readonly object[]): OptimizationPolicy => ({
      apiVersion: 'optipod.io/v1alpha1',
      kind: 'OptimizationPolicy',
      metadata: { name: 'shop' },
      spec: {
        mode: 'Recommend',
        selector: { namespaces: { allow: [shop] } },
        metricsConfig: { provider: 'metrics-server' },
        resourceBounds: { cpu: { min: '10m', max: '1' }, memory: { min: '16Mi', max: '1Gi' } },
        updateStrategy: { schedule },
      },
    });
    // The schema takes any text for a schedule.
    const never = [{ cron: 'at night', duration: '4h' }];
    await expect(api.create(type, object(never), { namespace: shop })).rejects.toThrow(
      /policies\.optipod\.io.*"at night" is not valid; accepted:/,
    );
    await api.create(type, object([]), { namespace: shop });
    await eventually(async () => {
      const { status } = await api.get(type, 'shop', { namespace: shop });
      expect(status?.conditions?.length).toBeGreaterThan(0);
    });
  });

  test.skipIf(findPrometheus() === undefined)(
    'Prometheus reads the metrics of every operator, over HTTPS, and of every agent',
    async () => {
      const pods = [await operators(), await agents()];
      const { access, api, eventually } = kit();
      const { webhooks } = await api.get(resources.mutatingWebhookConfigurations, `${RELEASE}-mutating-webhook`);
      const found = await scrape({
        overHttp: pods[1] ?? [],
        overHttps: pods[0] ?? [],
        authorityPem: Buffer.from(webhooks?.[0]?.clientConfig.caBundle ?? '', 'base64').toString(),
        serverName: `${RELEASE}.${NAMESPACE}.svc`,
        dir: join(access.runDirectory, 'prometheus-of-install'),
      });
      scraping = found;
      const all = (value: number, group = pods.flat()): Record<string, number> =>
        Object.fromEntries(group.map(({ metadata }) => [metadata?.name ?? '', value]));
      await eventually(async () => expect(await found.ask('up')).toEqual(all(1)));
      expect(await found.ask('count by (pod) (spotalis_leader_election_status)')).toEqual(all(1, pods[0]));
      expect(Object.values(await found.ask('sum by (pod) (spotalis_webhook_requests_total) > 0'))).not.toEqual([]);
      const takePart = await found.ask('mbcas_managed_pods');
      expect(Object.keys(takePart).sort()).toEqual(Object.keys(all(1, pods[1])).sort());
      // Two nodes have a pod that takes part.
      expect(Object.values(takePart).filter((count) => count !== 0)).toEqual([1, 1]);
    },
  );

  test('helm test passes', async () => {
    expect(await release.test()).toMatch(/TEST SUITE:\s+stowage-test-status\n(.*\n)*Phase:\s+Succeeded/);
  });

  test('the agents measure their pods, and the operator resizes them as they ask, without a restart', async () => {
    const { api, eventually } = kit();
    const before = await users();
    await eventually(async () => {
      const { items } = await api.list(podAllocations, { namespace: shop });
      expect(new Set(items.map(({ spec }) => spec?.podName))).toEqual(new Set(Object.keys(before)));
      // How much they get depends on what else this machine does: agents see all of it.
      expect(new Set(await requests())).not.toEqual(new Set([REQUEST]));
    });
    expectSameContainers(await users(), before);
  });

  test('a namespace that opts out gets back what it had', async () => {
    const { api, eventually } = kit();
    const before = await users();
    const body = { metadata: { labels: { 'mbcas.io/managed': 'false' } } };
    await api.patch(resources.namespaces, shop, { type: 'merge', body });
    await eventually(async () => {
      expect(await requests()).toEqual([REQUEST, REQUEST]);
      for (const { metadata, status } of await livePods(api, shop)) {
        expect(metadata?.annotations).not.toHaveProperty([sizingKeys.allocationOriginals]);
        expect(status?.containerStatuses?.[0]?.resources?.requests?.['cpu']).toBe(`${REQUEST}m`);
      }
    });
    // It was burnt for the agents.
    for (const { status } of await livePods(api, shop)) await getText(`http://${status?.podIP}:8080/set?cpu=0`);
    expectSameContainers(await users(), before);
  });

  test('helm upgrade to other values replaces the operator, ends the agents, and leaves pods as they are', async () => {
    const { api, eventually } = kit();
    const before = await users();
    const old = (await operators()).map(({ metadata }) => metadata?.uid);
    await release.upgrade(WATCHING);
    await eventually(async () => {
      expect(await livePods(api, NAMESPACE)).toHaveLength(2);
      for (const pod of await operators()) {
        expect(isReady(pod)).toBe(true);
        expect(old).not.toContain(pod.metadata?.uid);
      }
    });
    // Read-only: an order of a user is not carried out, but told.
    const body = { metadata: { annotations: policy(0) } };
    await api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace: shop });
    await eventually(async () => {
      const { items } = await api.list(resources.events, { namespace: shop });
      expect(items.map(({ reason }) => reason)).toContain('WouldEvict');
    });
    expect(await users()).toEqual(before);
  });

  test('helm rollback brings them back, and leaves pods as they are', async () => {
    const { api, eventually } = kit();
    const body = { metadata: { annotations: policy(50) } };
    await api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace: shop });
    const before = await users();
    await release.rollback();
    await eventually(async () => expect((await agents()).filter(isReady)).toHaveLength(nodeNames().length));
    expect(await users()).toEqual(before);
  });

  test('nothing was ever refused: by the log of the API server, and by their own', () => {
    const asked = audit.records().filter(({ user }) => user.startsWith(ACCOUNTS));
    expect(new Set(asked.map(({ user }) => user))).toEqual(new Set([`${ACCOUNTS}stowage`, `${ACCOUNTS}stowage-agent`]));
    expect(asked.filter(({ code, isAuthorized }) => code === 401 || !isAuthorized)).toEqual([]);
    const lines = podLogs(kit(), NAMESPACE).split('\n');
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => /forbidden|unauthorized/i.test(line))).toEqual([]);
  });

  test('helm uninstall leaves no webhook, no rights and no finalizer, and pods as they are', async () => {
    const { api, eventually } = kit();
    const before = await users();
    expect((await release.objects()).length).toBeGreaterThan(15);
    await release.uninstall();
    await eventually(async () => expect(await release.objects()).toEqual([]));
    const inShop = { namespace: shop };
    const lists = await Promise.all([
      api.list(resources.deployments, inShop),
      api.list(resources.replicaSets, inShop),
      api.list(resources.pods, inShop),
      api.list(podAllocations, inShop),
      api.list(policyType('optipod.io'), inShop),
    ]);
    const objects = lists.flatMap(({ items }): readonly { metadata?: { finalizers?: string[] } }[] => items);
    expect(objects.length).toBeGreaterThanOrEqual(5);
    expect(objects.flatMap(({ metadata }) => metadata?.finalizers ?? [])).toEqual([]);
    // New pods come as their template says, unasked.
    await api.patch(resources.deployments, 'web', { type: 'merge', body: { spec: { replicas: 3 } } }, inShop);
    await eventually(async () => expect((await livePods(api, shop)).filter(isReady)).toHaveLength(3));
    const { [Object.keys(await users()).find((name) => before[name] === undefined) ?? '']: added, ...stayed } =
      await users();
    expect(stayed).toEqual(before);
    expect(added?.resources[0]).toMatchObject({ requests: { cpu: `${REQUEST}m` } });
  });
});
