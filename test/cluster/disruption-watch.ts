/** Watches the pods and budgets of a namespace while something happens, and keeps what was worst. */
import { expect, vi } from 'vitest';
import type { KubeObject, Pod, PodDisruptionBudget } from '../../src/api/core.ts';
import type { KubeApi } from '../../src/api/kube-api.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { informerOf } from './pod-watch.ts';
import { isOnSpot, isReady, isStaying } from './workloads.ts';

export interface Disruptions {
  /** Least number of pods that were ready and staying. */
  readonly leastReady: number;
  /** Least number of those on on-demand nodes. */
  readonly leastOnDemand: number;
  /** Most pods that were terminating at the same time. */
  readonly mostTerminating: number;
  /** `currentHealthy/desiredHealthy` of each status of a budget that had fewer healthy pods than it asks for. */
  readonly budgetViolations: readonly string[];
  /** Statuses of budgets that were looked at. */
  readonly budgetStatuses: number;
  /** Names of the pods that ended. */
  readonly ended: readonly string[];
}

/** Watches lag behind: resolves when one has told everything that a list of now shows. */
async function untilSeen<T extends KubeObject>(
  api: KubeApi,
  type: ResourceType<T>,
  namespace: string,
  seen: { values(): Iterable<T> },
): Promise<void> {
  const versionsOf = (objects: Iterable<T>): string[] =>
    [...objects].map(({ metadata }) => `${metadata?.uid} ${metadata?.resourceVersion}`).sort();
  await vi.waitFor(
    async () => {
      const { items } = await api.list(type, { namespace });
      expect(versionsOf(seen.values())).toEqual(versionsOf(items));
    },
    { timeout: 100_000, interval: 100 },
  );
}

/** @returns the worst of everything that happened from the start of `work` to its end. */
export async function watchDisruptions(
  api: KubeApi,
  namespace: string,
  work: () => Promise<void>,
): Promise<Disruptions> {
  const stop = new AbortController();
  const ended: string[] = [];
  const budgetViolations: string[] = [];
  let budgetStatuses = 0;
  let leastReady = Number.POSITIVE_INFINITY;
  let leastOnDemand = Number.POSITIVE_INFINITY;
  let mostTerminating = 0;

  const pods = informerOf<Pod>(api, resources.pods, namespace);
  const budgets = informerOf<PodDisruptionBudget>(api, resources.podDisruptionBudgets, namespace);
  const running = Promise.all([pods.run(stop.signal), budgets.run(stop.signal)]);
  await Promise.all([pods.onSynced, budgets.onSynced]);

  const measure = (): void => {
    const all = [...pods.store.values()];
    const ready = all.filter((pod) => isStaying(pod) && isReady(pod));
    leastReady = Math.min(leastReady, ready.length);
    leastOnDemand = Math.min(leastOnDemand, ready.filter((pod) => !isOnSpot(pod)).length);
    mostTerminating = Math.max(mostTerminating, all.filter((pod) => !isStaying(pod)).length);
  };
  measure();
  pods.subscribe({
    onChange(_, before, after) {
      // One of the same name in its place is another pod.
      if (before !== undefined && before.metadata?.uid !== after?.metadata?.uid)
        ended.push(before.metadata?.name ?? '');
      measure();
    },
  });
  budgets.subscribe({
    onChange(_key, _before, after) {
      if (after?.status === undefined) return;
      const { currentHealthy, desiredHealthy } = after.status;
      budgetStatuses++;
      if (currentHealthy < desiredHealthy) budgetViolations.push(`${currentHealthy}/${desiredHealthy}`);
    },
  });
  try {
    await work();
    await untilSeen(api, resources.pods, namespace, pods.store);
    await untilSeen(api, resources.podDisruptionBudgets, namespace, budgets.store);
  } finally {
    stop.abort();
    await running;
  }
  return { leastReady, leastOnDemand, mostTerminating, budgetViolations, budgetStatuses, ended };
}
