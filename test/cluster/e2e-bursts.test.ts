/** The operator as a process on the real control plane: what admission makes of bursts, and how changes of mind converge. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/core.ts';
import { resources } from '../../src/api/resources.ts';
import { watchDisruptions } from './disruption-watch.ts';
import { sumOf } from './metrics-text.ts';
import type { OperatorProcess } from './operator-process.ts';
import { type WebhookCalls, webhookCalls } from './operator-replicas.ts';
import { COOLDOWN_MILLIS, useOperatorWorld } from './operator-world.ts';
import { useRealCluster } from './real-cluster.ts';
import { WEBHOOK_CONFIGURATION } from './release.ts';
import {
  annotate,
  deploy,
  deploySet,
  isOnSpot,
  managedNamespace,
  podsOf,
  policy,
  protect,
  scale,
  sidesOf,
  untilSides,
} from './workloads.ts';

const cluster = useRealCluster();
const world = useOperatorWorld(cluster);
let operator: OperatorProcess;

beforeAll(async () => {
  operator = await world().startOperator();
});

const namesOf = (objects: readonly KubeObject[]): string[] =>
  objects.map(({ metadata }) => metadata?.name ?? '').toSorted();
const uidsOf = (objects: readonly KubeObject[]): string[] =>
  objects.map(({ metadata }) => metadata?.uid ?? '').toSorted();
const evictions = (namespace: string): number => world().audit.evictions(namespace).length;

describe('bursts', () => {
  test('250 replicas at 70 % with a floor of 1 land at exactly 175/75 without one eviction', async () => {
    const namespace = await managedNamespace(cluster());
    const { ended } = await watchDisruptions(cluster().api, namespace, async () => {
      await deploy(cluster(), namespace, 250, policy(70, 1));
      await untilSides(cluster(), namespace, 175, 75);
    });
    expect(ended).toEqual([]);
    expect(evictions(namespace)).toBe(0);
    // Not deleted: a controller that has not heard of the end of its owner would make 250 pods that belong to nobody.
    await scale(cluster(), 'deployments', namespace, 'web', 0);
    await untilSides(cluster(), namespace, 0, 0);
  });

  test('case 27: bursts of 10, 20, 6 and 4 x 5 pods land exact; 10 -> 100 -> 8 keeps the mix; no eviction', async () => {
    const namespace = await managedNamespace(cluster());
    const bursts = [
      { name: 'ten', replicas: 10, rule: policy(70, 1), spot: 7, onDemand: 3 },
      { name: 'twenty', replicas: 20, rule: policy(80, 2), spot: 16, onDemand: 4 },
      { name: 'six', replicas: 6, rule: policy(50, 1), spot: 3, onDemand: 3 },
      ...['one', 'two', 'three', 'four'].map((name) => ({
        name,
        replicas: 5,
        rule: policy('60%', 1),
        spot: 3,
        onDemand: 2,
      })),
    ];
    await Promise.all(bursts.map(({ name, replicas, rule }) => deploy(cluster(), namespace, replicas, rule, name)));
    for (const { name, spot, onDemand } of bursts) {
      await untilSides(cluster(), namespace, spot, onDemand, { matchLabels: { app: name } });
    }
    for (const [replicas, spot, onDemand] of [
      [100, 70, 30],
      [8, 6, 2],
    ] as const) {
      await scale(cluster(), 'deployments', namespace, 'ten', replicas);
      await untilSides(cluster(), namespace, spot, onDemand, { matchLabels: { app: 'ten' } });
    }
    expect(evictions(namespace)).toBe(0);
    const unsteered = sumOf(await operator.metrics(), 'spotalis_admissions_unsteered_total');
    expect(unsteered).toBe(0);
  });
});

describe('convergence', () => {
  test('case 54: a changed annotation converges one eviction at a time, never below the budget, and again when it is changed back', async () => {
    const { api } = cluster();
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 6, policy(0, 1));
    await untilSides(cluster(), namespace, 0, 6);
    await protect(cluster(), namespace, { maxUnavailable: 1 });
    const seen = await watchDisruptions(api, namespace, async () => {
      await annotate(cluster(), 'deployments', namespace, 'web', policy(50, 1));
      await untilSides(cluster(), namespace, 3, 3);
      await annotate(cluster(), 'deployments', namespace, 'web', policy(80, 1));
      await untilSides(cluster(), namespace, 5, 1);
    });
    // ceil(6 x 80 %) = 5: three moves, then two more.
    expect(seen.ended).toHaveLength(5);
    expect(seen.mostTerminating).toBe(1);
    expect(seen.leastReady).toBe(5);
    expect(seen.budgetViolations).toEqual([]);
    expect(seen.budgetStatuses).toBeGreaterThan(5);
    const times = world()
      .audit.evictions(namespace)
      .map(({ receivedMillis }) => receivedMillis);
    expect(times).toHaveLength(5);
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses.filter((pause) => pause < COOLDOWN_MILLIS)).toEqual([]);
    const counted = { namespace, workload: 'web', workload_type: 'deployment', result: 'success' };
    expect(sumOf(await operator.metrics(), 'spotalis_reconciliations_total', counted)).toBe(5);
    const { spec } = await api.get(resources.deployments, 'web', { namespace });
    expect(spec?.replicas).toBe(6);
  });

  test('case 64: a StatefulSet converges by its highest ordinals and keeps its claims; its lower ones are not restarted', async () => {
    const { api } = cluster();
    const namespace = await managedNamespace(cluster());
    await deploySet(cluster(), namespace, 4, policy(50, 1));
    await untilSides(cluster(), namespace, 2, 2);
    const before = await podsOf(cluster(), namespace);
    const claimsOf = async () => (await api.list(resources.persistentVolumeClaims, { namespace })).items;
    const claimsBefore = await claimsOf();
    const { metadata: setBefore } = await api.get(resources.statefulSets, 'db', { namespace });

    const seen = await watchDisruptions(api, namespace, async () => {
      await annotate(cluster(), 'statefulSets', namespace, 'db', policy(25, 1));
      await untilSides(cluster(), namespace, 1, 3);
    });
    // Spot held db-1 and db-2.
    expect(namesOf(before.filter(isOnSpot))).toEqual(['db-1', 'db-2']);
    expect(seen.ended).toEqual(['db-2']);
    const after = await podsOf(cluster(), namespace);
    expect(namesOf(after)).toEqual(['db-0', 'db-1', 'db-2', 'db-3']);
    const uids = new Set(uidsOf(after));
    expect(namesOf(before.filter((pod) => !uidsOf([pod]).every((uid) => uids.has(uid))))).toEqual(['db-2']);
    expect(uidsOf(await claimsOf())).toEqual(uidsOf(claimsBefore));
    // The annotation is no part of the specification; nobody else has changed anything.
    const { metadata: setAfter } = await api.get(resources.statefulSets, 'db', { namespace });
    expect(setAfter?.generation).toBe(setBefore?.generation);
  });

  test('case 69: a budget without room blocks every move and says so; with room for one it converges', async () => {
    const { api, eventually } = cluster();
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 4, policy(0, 0));
    await untilSides(cluster(), namespace, 0, 4);
    await protect(cluster(), namespace, { minAvailable: 4 });
    const { ended } = await watchDisruptions(api, namespace, async () => {
      await annotate(cluster(), 'deployments', namespace, 'web', policy(50, 0));
      await eventually(async () => {
        const { items } = await api.list(resources.events, { namespace });
        expect(items.map(({ reason }) => reason)).toContain('BlockedByPdb');
      });
      const looked = async (): Promise<number> =>
        sumOf(await operator.metrics(), 'spotalis_disruptions_blocked_total', { reason: 'BlockedByPdb' });
      const first = await looked();
      await eventually(async () => expect(await looked()).toBeGreaterThan(first));
    });
    expect(ended).toEqual([]);
    expect(evictions(namespace)).toBe(0);
    const body = { spec: { minAvailable: 3 } };
    await api.patch(resources.podDisruptionBudgets, 'web', { type: 'merge', body }, { namespace });
    await untilSides(cluster(), namespace, 2, 2);
    expect(evictions(namespace)).toBe(2);
  });

  test('where a quota refuses what comes in their place, no more pods go than may at once, of however many workloads, and it is told', async () => {
    const { api, eventually } = cluster();
    const namespace = await managedNamespace(cluster());
    const names = Array.from({ length: 10 }, (_, index) => `web-${index}`);
    for (const name of names) await deploy(cluster(), namespace, 2, policy(100, 0), name);
    await untilSides(cluster(), namespace, 20, 0);
    const quota = { metadata: { name: 'few' }, spec: { hard: { pods: '5' } } };
    await api.create(resources.resourceQuotas, quota, { namespace });
    await eventually(async () => {
      const { status } = await api.get(resources.resourceQuotas, 'few', { namespace });
      expect(status?.used).toMatchObject({ pods: '20' });
    });
    for (const name of names) await annotate(cluster(), 'deployments', namespace, name, policy(50, 0));
    await eventually(async () => {
      const { items } = await api.list(resources.events, { namespace });
      expect(items.map(({ reason }) => reason)).toContain('ReplacementMissing');
    });
    // As many as are under way in the cluster at once.
    expect(evictions(namespace)).toBeLessThanOrEqual(5);
    for (const name of names) await scale(cluster(), 'deployments', namespace, name, 0);
    await untilSides(cluster(), namespace, 0, 0);
  });

  test('while the webhook cannot be reached pods come up all the same; afterwards they are moved, and it is told', async () => {
    const { api, eventually } = cluster();
    const namespace = await managedNamespace(cluster());
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'probe', uid: 'probe', controller: true };
    const probe = {
      metadata: { name: 'probe', ownerReferences: [owner] },
      spec: { containers: [{ name: 'main', image: 'example.test/app:1' }] },
    };
    /** Changes are in force a moment later: then the next pod is counted so. */
    const untilNextIs = (kind: keyof WebhookCalls) =>
      eventually(async () => {
        const { [kind]: before } = await webhookCalls();
        await api.create(resources.pods, probe, { namespace, dryRun: true });
        expect((await webhookCalls())[kind]).toBeGreaterThan(before);
      });
    const whole = await api.get(resources.mutatingWebhookConfigurations, WEBHOOK_CONFIGURATION);
    const webhooks = (whole.webhooks ?? []).map((webhook) => {
      const { clientConfig } = webhook;
      // Another port: to the one before the API server keeps its connections.
      return { ...webhook, clientConfig: { ...clientConfig, service: { ...clientConfig.service, port: 1 } } };
    });
    const cutOff = await api.replace(resources.mutatingWebhookConfigurations, { ...whole, webhooks } as typeof whole);
    await untilNextIs('failedOpen');
    // Nothing is moved before its new pod would pass the webhook: after one that does not the next move waits for a minute and a half.
    const closed = { 'spotalis.io/disruption-schedule': '0 3 1 1 *', 'spotalis.io/disruption-duration': '1h' };
    await deploy(cluster(), namespace, 4, { ...policy(100, 0), ...closed });
    await eventually(async () => {
      const { spot, onDemand } = sidesOf(await podsOf(cluster(), namespace));
      expect(spot + onDemand).toBe(4);
    });
    const { resourceVersion } = cutOff.metadata ?? {};
    const restored = { ...whole, metadata: { ...whole.metadata, resourceVersion } } as typeof whole;
    await api.replace(resources.mutatingWebhookConfigurations, restored);
    await untilNextIs('answered');
    const open = Object.fromEntries(Object.keys(closed).map((key) => [key, null]));
    await annotate(cluster(), 'deployments', namespace, 'web', open);
    await untilSides(cluster(), namespace, 4, 0);
    await eventually(async () => {
      const { items } = await api.list(resources.events, { namespace });
      expect(items.map(({ reason }) => reason)).toContain('MissedAdmission');
    });
  });
});
