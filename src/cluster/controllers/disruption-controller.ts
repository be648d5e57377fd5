/** Stand-in of the disruption controller: keeps the status of every PodDisruptionBudget true. */
import type { Deployment, Pod, PodDisruptionBudget, ReplicaSet, StatefulSet } from '../../api/core.ts';
import { isConflict } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { createWorkQueue, type HandlerResult } from '../../kube/queue.ts';
import {
  controllerOf,
  isSameStatus,
  isSameValue,
  keyOf,
  type LabelMatcher,
  nameOf,
  namespaceOf,
  selectorMatcher,
} from '../objects.ts';
import { isReady, isTerminating } from '../pod-state.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';
import { budgetStatus, type ScaleProblem } from './disruption-status.ts';

const WORKERS = 2;

type Labels = Readonly<Record<string, string>> | undefined;

/** Its status is what evictions are judged by, so it never writes over one that an eviction has changed meanwhile. */
export function createDisruptionController({ api, caches, clock, random, log }: StandInContext): StandIn {
  const name = 'disruption-controller';
  const queue = createWorkQueue({ clock, random, log, name });
  const budgets = caches.of(resources.podDisruptionBudgets);
  const pods = caches.of(resources.pods);
  const replicaSets = caches.of(resources.replicaSets);
  const deployments = caches.of(resources.deployments);
  const statefulSets = caches.of(resources.statefulSets);

  /** Compiled once for each version of a budget: clusters have many more pods than budgets. */
  const matchers = new WeakMap<PodDisruptionBudget, LabelMatcher>();
  const matcherFor = (budget: PodDisruptionBudget): LabelMatcher => {
    const known = matchers.get(budget) ?? selectorMatcher(budget.spec?.selector);
    matchers.set(budget, known);
    return known;
  };

  /** By the first label a budget asks for, if any: nearly all others are ruled out without looking at them. */
  const budgetsAsking = budgets.index((budget) => {
    const [label] = Object.entries(budget.spec?.selector?.matchLabels ?? {});
    return `${namespaceOf(budget)}/${label?.join('=') ?? ''}`;
  });
  const wakeBudgetsFor = (namespace: string, labels: Labels): void => {
    const wake = (candidates: Iterable<PodDisruptionBudget>): void => {
      for (const budget of candidates) if (matcherFor(budget)(labels)) queue.add(keyOf(budget));
    };
    wake(budgetsAsking(`${namespace}/`));
    for (const [label, value] of Object.entries(labels ?? {})) wake(budgetsAsking(`${namespace}/${label}=${value}`));
  };

  /** A workload was scaled: budgets of its pods expect another number. */
  const wakeBudgetsOf = (workload: Deployment | ReplicaSet | StatefulSet | undefined): void => {
    if (workload !== undefined) wakeBudgetsFor(namespaceOf(workload), workload.spec?.template?.metadata?.labels);
  };
  budgets.onChange((_, after) => {
    if (after !== undefined) queue.add(keyOf(after));
  });
  pods.onChange((before, after) => {
    if (before !== undefined && after !== undefined && !mattersToBudgets(before, after)) return;
    for (const pod of [before, after]) if (pod !== undefined) wakeBudgetsFor(namespaceOf(pod), pod.metadata?.labels);
  });
  deployments.onChange((before, after) => {
    if (before?.spec?.replicas !== after?.spec?.replicas) wakeBudgetsOf(after ?? before);
  });
  statefulSets.onChange((before, after) => {
    if (before?.spec?.replicas !== after?.spec?.replicas) wakeBudgetsOf(after ?? before);
  });
  replicaSets.onChange((before, after) => {
    if (before?.spec?.replicas !== after?.spec?.replicas) wakeBudgetsOf(after ?? before);
  });

  /** The controller that decides about a pod's number, and that number. */
  const scaleOf = (pod: Pod): { uid: string; replicas: number } | undefined => {
    const owner = controllerOf(pod);
    const key = `${namespaceOf(pod)}/${owner?.name ?? ''}`;
    if (owner?.kind === 'StatefulSet') {
      const set = statefulSets.get(key);
      return set?.metadata?.uid === owner.uid ? { uid: owner.uid, replicas: set.spec?.replicas ?? 1 } : undefined;
    }
    const set = owner?.kind === 'ReplicaSet' ? replicaSets.get(key) : undefined;
    if (owner === undefined || set?.metadata?.uid !== owner.uid) return undefined;
    const parent = controllerOf(set);
    if (parent?.kind !== 'Deployment') return { uid: owner.uid, replicas: set.spec?.replicas ?? 1 };
    const deployment = deployments.get(`${namespaceOf(pod)}/${parent.name}`);
    return deployment === undefined ? undefined : { uid: parent.uid, replicas: deployment.spec?.replicas ?? 1 };
  };

  /** Source: pkg/controller/disruption/disruption.go `getExpectedScale`. */
  const expectedScale = (matching: readonly Pod[]): number | ScaleProblem => {
    const scales = new Map<string, number>();
    // One pod an owner: nearly all of a budget's pods have the same.
    const samples = new Map(matching.map((pod) => [controllerOf(pod)?.uid, pod]));
    for (const [controller, pod] of samples) {
      if (controller === undefined) continue;
      const scale = scaleOf(pod);
      if (scale === undefined) return { problem: `found no controllers for pod ${JSON.stringify(nameOf(pod))}` };
      scales.set(scale.uid, scale.replicas);
    }
    return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
  };

  const sync = async (key: string): Promise<HandlerResult> => {
    const budget = budgets.get(key);
    if (budget === undefined) return undefined;
    const matching = podsOf(budget);
    const input = { budget, pods: matching, expectedScale: expectedScale(matching), nowMillis: clock.now() };
    const { status, recheckAfterMillis } = budgetStatus(input);
    if (!isSameStatus(status, budget.status)) {
      const options = { namespace: namespaceOf(budget), subresource: 'status' };
      try {
        await api.replace(resources.podDisruptionBudgets, { ...budget, status }, options);
      } catch (error) {
        // An eviction was recorded in the meantime. What it wrote counts, so everything is computed again from it.
        if (!isConflict(error)) throw error;
        queue.addRateLimited(key);
        return undefined;
      }
    }
    return recheckAfterMillis === undefined ? undefined : { requeueAfterMillis: recheckAfterMillis };
  };

  /** By label: pods by namespace and its value. A budget asks for one label at least, nearly always, and few pods have it. */
  const podsByLabel = new Map<string, (value: string) => Iterable<Pod>>();
  const podsWith = (label: string): ((value: string) => Iterable<Pod>) => {
    const known =
      podsByLabel.get(label) ??
      pods.index((pod) => {
        const value = pod.metadata?.labels?.[label];
        return value === undefined ? undefined : `${namespaceOf(pod)}/${value}`;
      });
    podsByLabel.set(label, known);
    return known;
  };
  const podsOf = (budget: PodDisruptionBudget): Pod[] => {
    const matches = matcherFor(budget);
    const [label] = Object.entries(budget.spec?.selector?.matchLabels ?? {});
    const candidates =
      label === undefined
        ? pods.inNamespace(namespaceOf(budget))
        : podsWith(label[0])(`${namespaceOf(budget)}/${label[1]}`);
    return [...candidates].filter((pod) => matches(pod.metadata?.labels));
  };

  return { name, run: (signal) => queue.run(WORKERS, sync, signal) };
}

function mattersToBudgets(before: Pod, after: Pod): boolean {
  return (
    isReady(before) !== isReady(after) ||
    isTerminating(before) !== isTerminating(after) ||
    controllerOf(before)?.uid !== controllerOf(after)?.uid ||
    !isSameValue(before.metadata?.labels, after.metadata?.labels)
  );
}
