/** What the operator does as pods on real nodes, wherever they come from: exact placement through its Service, careful moves, one leader and another when that is gone. */
import { describe, expect, test } from 'vitest';
import type { Lease, Pod, StatefulSet } from '../../../src/api/core.ts';
import { resources } from '../../../src/api/resources.ts';
import type { RealNodesKit } from '../kit.ts';
import { ON_DEMAND_NODE, SPOT_NODE } from '../nodes.ts';
import { isReady } from '../pod-access.ts';
import { loadDeployment, loadTemplate, managed, policy } from '../workloads.ts';

const LEASE = 'spotalis-controller-leader';

export interface PlacementTestsOptions {
  readonly kit: () => RealNodesKit;
  /** Where Stowage runs. */
  readonly namespace: string;
  /** Its operators that are not being deleted. */
  readonly operators: () => Promise<readonly Pod[]>;
}

interface Sides {
  readonly spot: number;
  readonly onDemand: number;
  readonly pending: number;
}

function sidesOf(pods: readonly Pod[]): Sides {
  const staying = pods.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  const readyOn = (node: string): number => staying.filter((pod) => isReady(pod) && pod.spec?.nodeName === node).length;
  return {
    spot: readyOn(SPOT_NODE),
    onDemand: readyOn(ON_DEMAND_NODE),
    pending: staying.filter((pod) => !isReady(pod)).length,
  };
}

const uidOf = (pod: Pod): string => pod.metadata?.uid ?? '';
const containerOf = (pod: Pod): string => pod.status?.containerStatuses?.[0]?.containerID ?? '';

/** Tests of a release that is there while they run. */
export function describePlacement({ kit, namespace: home, operators }: PlacementTestsOptions): void {
  /** Name of the pod that leads; undefined while none does. */
  const leader = async (): Promise<string | undefined> => {
    const lease = await kit().api.get<Lease>(resources.leases, LEASE, { namespace: home });
    const holder = lease.spec?.holderIdentity;
    return holder === undefined || holder === '' ? undefined : holder.slice(0, holder.lastIndexOf('_'));
  };
  async function podsIn(namespace: string): Promise<Pod[]> {
    return (await kit().api.list(resources.pods, { namespace })).items;
  }

  const untilSides = (namespace: string, spot: number, onDemand: number): Promise<void> =>
    kit().eventually(async () => expect(sidesOf(await podsIn(namespace))).toEqual({ spot, onDemand, pending: 0 }));

  async function evictionsIn(namespace: string): Promise<number> {
    const { items } = await kit().api.list(resources.events, { namespace });
    return items.filter(({ reason }) => reason === 'EvictedForRebalance').length;
  }

  /** Hands over every state of every pod of a namespace, from the first on, while `work` goes on. */
  async function watching(
    namespace: string,
    onPod: (pod: Pod, isGone: boolean) => void,
    work: () => Promise<void>,
  ): Promise<void> {
    const stop = new AbortController();
    const watch = (async () => {
      const stream = kit().api.watch<Pod>(resources.pods, { namespace, sendInitialEvents: true, signal: stop.signal });
      for await (const event of stream) {
        if (event.type !== 'BOOKMARK' && event.type !== 'ERROR') onPod(event.object, event.type === 'DELETED');
      }
    })().catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    await work();
    stop.abort();
    await watch;
  }

  /** @returns the least number of ready pods seen while `work` goes on, from the first time all were. */
  async function leastReady(namespace: string, replicas: number, work: () => Promise<void>): Promise<number> {
    const ready = new Map<string, boolean>();
    let least = Number.POSITIVE_INFINITY;
    const onPod = (pod: Pod, isGone: boolean): void => {
      ready.set(uidOf(pod), !isGone && pod.metadata?.deletionTimestamp === undefined && isReady(pod));
      const count = [...ready.values()].filter(Boolean).length;
      if (count === replicas || least !== Number.POSITIVE_INFINITY) least = Math.min(least, count);
    };
    await watching(namespace, onPod, work);
    return least;
  }

  describe('the operator as a Deployment', () => {
    test('runs two pods that are ready, of which one leads', async () => {
      const pods = await kit().eventually(async () => {
        const found = await operators();
        expect(found.filter(isReady)).toHaveLength(2);
        expect(found.map(({ metadata }) => metadata?.name)).toContain(await leader());
        return found;
      });
      expect(pods.flatMap(({ status }) => status?.containerStatuses?.map(({ restartCount }) => restartCount))).toEqual([
        0, 0,
      ]);
    });

    test('places a Deployment of six at 50 % exactly through the webhook behind its Service, without an eviction', async () => {
      const namespace = await kit().namespace(managed);
      // On a machine so crowded that the leader could not answer for half a second the other replica decides, and says so;
      // only such a pod may have to be moved.
      const unconfirmed = new Set<string>();
      const onPod = (pod: Pod): void => {
        if (pod.metadata?.annotations?.['spotalis.io/unconfirmed'] !== undefined) unconfirmed.add(uidOf(pod));
      };
      await watching(namespace, onPod, async () => {
        await kit().api.create(resources.deployments, loadDeployment('web', 6, policy(50)), { namespace });
        await untilSides(namespace, 3, 3);
      });
      expect(await evictionsIn(namespace)).toBeLessThanOrEqual(unconfirmed.size);
      expect(unconfirmed.size).toBeLessThan(3);
      // Stamped at admission: the webhook was asked, this is no scheduler's luck.
      for (const { metadata } of await podsIn(namespace))
        expect(Object.keys(metadata?.annotations ?? {}).join(' ')).toMatch(/spotalis\.io\//);
    });

    test('moves pods one at a time when the annotation changes; the others never notice', async () => {
      const { api } = kit();
      const namespace = await kit().namespace(managed);
      await api.create(resources.deployments, loadDeployment('web', 6, policy(50)), { namespace });
      await untilSides(namespace, 3, 3);
      const moved = await evictionsIn(namespace);
      const before = await podsIn(namespace);
      const least = await leastReady(namespace, 6, async () => {
        const body = { metadata: { annotations: policy(83) } };
        await api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace });
        await untilSides(namespace, 5, 1);
      });
      expect(least).toBeGreaterThanOrEqual(5);
      expect((await evictionsIn(namespace)) - moved).toBe(2);
      // The last one evicted may still be ending.
      const after = (await podsIn(namespace)).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
      const stayed = after.filter((pod) => before.some((old) => uidOf(old) === uidOf(pod)));
      expect(stayed).toHaveLength(4);
      for (const pod of stayed) {
        const old = before.find((each) => uidOf(each) === uidOf(pod));
        expect(old && containerOf(old)).toBe(containerOf(pod));
        expect(pod.status?.containerStatuses?.[0]?.restartCount).toBe(0);
      }
    });

    test('moves a pod of a StatefulSet to the other node under its own name', async () => {
      const { api } = kit();
      const namespace = await kit().namespace(managed);
      const set: StatefulSet = {
        metadata: { name: 'db', labels: managed, annotations: policy(0) },
        spec: {
          replicas: 3,
          serviceName: 'db',
          podManagementPolicy: 'Parallel',
          selector: { matchLabels: { app: 'db' } },
          template: loadTemplate('db'),
        },
      };
      await api.create(resources.statefulSets, set, { namespace });
      await untilSides(namespace, 0, 3);
      const before = await podsIn(namespace);
      const least = await leastReady(namespace, 3, async () => {
        const body = { metadata: { annotations: policy(33) } };
        await api.patch(resources.statefulSets, 'db', { type: 'merge', body }, { namespace });
        await untilSides(namespace, 1, 2);
      });
      expect(least).toBeGreaterThanOrEqual(2);
      const after = await podsIn(namespace);
      expect(new Set(after.map(({ metadata }) => metadata?.name))).toEqual(new Set(['db-0', 'db-1', 'db-2']));
      const moved = after.filter((pod) => pod.spec?.nodeName === SPOT_NODE);
      expect(moved).toHaveLength(1);
      for (const pod of moved) expect(before.map(containerOf)).not.toContain(containerOf(pod));
      expect(await evictionsIn(namespace)).toBe(1);
    });

    test('has another leader when the leading pod is deleted, and goes on', async () => {
      const { api, eventually } = kit();
      const namespace = await kit().namespace(managed);
      await api.create(resources.deployments, loadDeployment('web', 2, policy(0)), { namespace });
      await untilSides(namespace, 0, 2);
      const first = await leader();
      expect(first).toBeDefined();
      await api.delete(resources.pods, first ?? '', { namespace: home });
      await eventually(async () => {
        const now = await leader();
        expect(now).not.toBe(first);
        expect((await operators()).map(({ metadata }) => metadata?.name)).toContain(now);
      });
      const body = { metadata: { annotations: policy(50) } };
      await api.patch(resources.deployments, 'web', { type: 'merge', body }, { namespace });
      await untilSides(namespace, 1, 1);
      await eventually(async () => expect((await operators()).filter(isReady)).toHaveLength(2));
    });
  });
}
