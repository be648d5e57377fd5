/** Three processes of the operator on the real control plane: rollouts, scaling, everything that may hold an eviction up, and an outage. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Pod } from '../../src/api/core.ts';
import { resources } from '../../src/api/resources.ts';
import { type Disruptions, watchDisruptions } from './disruption-watch.ts';
import { fillSeatsOfEvictions } from './full-seats.ts';
import { sumOf } from './metrics-text.ts';
import type { OperatorProcess } from './operator-process.ts';
import { isUnconfirmed, isUnstamped, startReplicas, webhookCalls } from './operator-replicas.ts';
import { COOLDOWN_MILLIS, useOperatorWorld } from './operator-world.ts';
import { watchPods } from './pod-watch.ts';
import { useRealCluster } from './real-cluster.ts';
import { WEBHOOK_CONFIGURATION } from './release.ts';
import {
  annotate,
  deploy,
  deploySet,
  expectPodSides,
  isOnSpot,
  managedNamespace,
  podsOf,
  policy,
  protect,
  scale,
  untilSides,
} from './workloads.ts';

const cluster = useRealCluster();
const world = useOperatorWorld(cluster);
let replicas: OperatorProcess[];

beforeAll(async () => {
  replicas = await startReplicas(cluster(), world(), 3);
});

const evictionTimes = (namespace: string): number[] =>
  world()
    .audit.evictions(namespace)
    .map(({ receivedMillis }) => receivedMillis);
const pausesOf = (times: readonly number[]): number[] =>
  times.slice(1).map((time, index) => time - (times[index] ?? 0));
async function eventsIn(namespace: string): Promise<string[]> {
  const { items } = await cluster().api.list(resources.events, { namespace });
  return items.map(({ reason, note }) => `${reason}: ${note}`);
}

describe('rollouts and scaling', () => {
  test('a rolling update of 40 replicas with 25 % of surge ends exact; the floor is short by maxUnavailable at most', async () => {
    const { api, eventually } = cluster();
    const namespace = await managedNamespace(cluster());
    const unconfirmed = new Set<string>();
    const watch = await watchPods(api, namespace, (pod) => {
      if (isUnconfirmed(pod)) unconfirmed.add(pod.metadata?.name ?? '');
    });
    await deploy(cluster(), namespace, 40, policy(70, 12));
    const rollingUpdate = { maxSurge: '25%', maxUnavailable: 2 };
    const strategy = { spec: { strategy: { rollingUpdate } } };
    await api.patch(resources.deployments, 'web', { type: 'merge', body: strategy }, { namespace });
    await untilSides(cluster(), namespace, 28, 12);
    const evictedBefore = evictionTimes(namespace).length;
    const seen = await watchDisruptions(api, namespace, async () => {
      const body = { spec: { template: { metadata: { annotations: { version: '2' } } } } };
      await api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace });
      await eventually(async () => {
        const { status } = await api.get(resources.deployments, 'web', { namespace });
        expect(status).toMatchObject({
          observedGeneration: 3,
          updatedReplicas: 40,
          availableReplicas: 40,
          replicas: 40,
        });
      });
      await untilSides(cluster(), namespace, 28, 12);
    });
    await watch.stop();
    expect(seen.leastReady).toBeGreaterThanOrEqual(38);
    expect(seen.leastOnDemand).toBeGreaterThanOrEqual(10);
    // Only what a replica decided that could not ask the leader in time may be wrong: nothing, unless the machine is crowded.
    const evicted = evictionTimes(namespace).length;
    expect(evicted).toBeLessThanOrEqual(unconfirmed.size);
    expect(seen.ended).toHaveLength(40 + evicted - evictedBefore);
  });

  test('a StatefulSet that goes 3 -> 0 -> 3 has each ordinal on the side it was on', async () => {
    const namespace = await managedNamespace(cluster());
    await deploySet(cluster(), namespace, 3, policy(67, 1));
    await untilSides(cluster(), namespace, 2, 1);
    const split = async (): Promise<Record<string, boolean>> => {
      const pods = await podsOf(cluster(), namespace);
      return Object.fromEntries(pods.map((pod) => [pod.metadata?.name, isOnSpot(pod)]));
    };
    const before = await split();
    await scale(cluster(), 'statefulSets', namespace, 'db', 0);
    await untilSides(cluster(), namespace, 0, 0);
    await scale(cluster(), 'statefulSets', namespace, 'db', 3);
    await untilSides(cluster(), namespace, 2, 1);
    expect(await split()).toEqual(before);
    expect(evictionTimes(namespace)).toEqual([]);
  });
});

describe('evictions that do not go through', () => {
  test('bug 14: a pod with two budgets, which the API answers with 500, is left alone and told of; the workload beside it goes on', async () => {
    const { api, eventually } = cluster();
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 3, policy(0, 0), 'bad');
    await deploy(cluster(), namespace, 3, policy(0, 0), 'good');
    await untilSides(cluster(), namespace, 0, 6);
    await protect(cluster(), namespace, { maxUnavailable: 1 }, 'bad');
    const selector = { matchLabels: { app: 'bad' } };
    const second = { metadata: { name: 'second' }, spec: { maxUnavailable: 1, selector } };
    await api.create(resources.podDisruptionBudgets, second, { namespace });

    await annotate(cluster(), 'deployments', namespace, 'bad', policy(100, 0));
    await annotate(cluster(), 'deployments', namespace, 'good', policy(100, 0));
    await untilSides(cluster(), namespace, 3, 0, { matchLabels: { app: 'good' } });
    await eventually(async () =>
      expect(await eventsIn(namespace)).toContainEqual(expect.stringMatching(/^MultiplePdbs: .*bad.*second/)),
    );
    expect(evictionTimes(namespace)).toHaveLength(3);
    const stuck = await podsOf(cluster(), namespace, selector);
    expectPodSides(stuck, { spot: 0, onDemand: 3 });
    // The witness: it is the API server that cannot evict such a pod.
    const name = stuck[0]?.metadata?.name ?? '';
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    await expect(
      api.createSubresource(resources.pods, name, 'eviction', eviction, { namespace }),
    ).rejects.toMatchObject({ httpStatus: 500 });

    await api.delete(resources.podDisruptionBudgets, 'second', { namespace });
    await untilSides(cluster(), namespace, 6, 0);
  });

  test('case 71: evictions that the API server has no room for are told as such, not as a budget, and made once it has', async () => {
    const { eventually } = cluster();
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 3, policy(0, 0));
    await untilSides(cluster(), namespace, 0, 3);
    /** Told by whoever leads, which on a crowded machine may be another one in the end. */
    const blocks = async (reason: string): Promise<number> => {
      const running = replicas.filter((replica) => replica.isRunning());
      const samples = await Promise.all(running.map((replica) => replica.metrics()));
      return sumOf(samples.flat(), 'spotalis_disruptions_blocked_total', { reason });
    };
    const byBudget = await blocks('BlockedByPdb');
    const full = await fillSeatsOfEvictions(cluster(), world().operatorKubeconfigPath);
    try {
      await annotate(cluster(), 'deployments', namespace, 'web', policy(100, 0));
      await eventually(async () => expect(await blocks('ThrottledByApi')).toBeGreaterThan(0));
      expect(evictionTimes(namespace)).toEqual([]);
    } finally {
      await full.end();
    }
    await untilSides(cluster(), namespace, 3, 0);
    expect(evictionTimes(namespace)).toHaveLength(3);
    expect(await blocks('BlockedByPdb')).toBeLessThanOrEqual(byBudget);
  });
});

describe('an outage', () => {
  test('no replica answers for a minute: pods come in within the two seconds of the webhook, and are put right one at a time', async () => {
    const { eventually } = cluster();
    const namespace = await managedNamespace(cluster());
    const before = await webhookCalls();
    const usual = await waitFor(TIMEOUT_SECONDS);
    const spotOf = (app: string) => ({ matchLabels: { app } });
    const goOn = (): void => {
      for (const replica of replicas) replica.signal('SIGCONT');
    };
    let drifted: readonly Pod[];
    let seen: Disruptions;
    // They keep their connections and answer nothing: the worst that an API server can meet.
    for (const replica of replicas) replica.signal('SIGSTOP');
    try {
      const began = performance.now();
      await deploy(cluster(), namespace, 10, policy(100, 0), 'one');
      await deploy(cluster(), namespace, 10, policy(0, 0), 'two');
      await eventually(async () => {
        const pods = await podsOf(cluster(), namespace);
        expect(pods.filter(isUnstamped)).toHaveLength(20);
        expectPodSides(pods, { pending: 0, ending: 0 });
      });
      await eventually(async () => expect(performance.now() - began).toBeGreaterThan(OUTAGE_MILLIS), OUTAGE_MILLIS * 2);
      // What comes now must not be missed because the machine is crowded.
      await eventually(() => waitFor(usual));
      const after = await webhookCalls();
      expect(after.failedOpen - before.failedOpen).toBe(20);
      expect((after.waitedSeconds - before.waitedSeconds) / 20).toBeLessThan(2 * TIMEOUT_SECONDS);
      drifted = (await podsOf(cluster(), namespace)).filter(isWrong);
      expect(evictionTimes(namespace)).toEqual([]);
      seen = await watchDisruptions(cluster().api, namespace, async () => {
        goOn();
        await untilSides(cluster(), namespace, 10, 0, spotOf('one'));
        await untilSides(cluster(), namespace, 0, 10, spotOf('two'));
      });
    } finally {
      goOn();
    }
    const evicted = world().audit.evictions(namespace);
    expect(new Set(evicted.map(({ name }) => name))).toEqual(new Set(drifted.map(({ metadata }) => metadata?.name)));
    expect(evicted).toHaveLength(drifted.length);
    for (const app of ['one', 'two']) {
      const times = evicted.filter(({ name }) => name.startsWith(app)).map(({ receivedMillis }) => receivedMillis);
      expect(pausesOf(times).filter((pause) => pause < COOLDOWN_MILLIS)).toEqual([]);
    }
    // One of each workload.
    expect(seen.mostTerminating).toBeLessThanOrEqual(2);
    expect(seen.leastReady).toBeGreaterThanOrEqual(18);
  });
});

const OUTAGE_MILLIS = 60_000;
/** As the chart has it. */
const TIMEOUT_SECONDS = 2;

/** @returns for how many seconds the API server has waited until now. */
async function waitFor(timeoutSeconds: number): Promise<number> {
  const { api } = cluster();
  const configuration = await api.get(resources.mutatingWebhookConfigurations, WEBHOOK_CONFIGURATION);
  const webhooks = (configuration.webhooks ?? []).map((webhook) => ({ ...webhook, timeoutSeconds }));
  await api.replace(resources.mutatingWebhookConfigurations, { ...configuration, webhooks });
  const [before] = configuration.webhooks ?? [];
  if (before?.timeoutSeconds === undefined) throw new Error('the webhook has no timeout');
  return before.timeoutSeconds;
}

/** `one` is to be on spot, `two` on on-demand. */
const isWrong = (pod: Pod): boolean => isOnSpot(pod) !== (pod.metadata?.labels?.['app'] === 'one');
