/** Holds placement to its invariants, at every step the operator takes and at every rest of the fleet. */

import type { Pod } from '../api/core.ts';
import { matcherOf, selectorRequirements } from '../api/label-selector.ts';
import { resources } from '../api/resources.ts';
import type { Caches } from '../cluster/caches.ts';
import { isFinished, isReady, isTerminating } from '../cluster/pod-state.ts';
import type { Config } from '../config/schema.ts';
import { describeError } from '../lib/errors.ts';
import type { FleetWatch, WorkloadFacts } from './fleet-watch.ts';
import type { Ledger } from './ledger.ts';
import type { PodFacts } from './pod-facts.ts';
import type { ObservedWrite } from './watched-api.ts';
import type { AdmissionSeen } from './world.ts';

/** Told of each step before and after it: what an eviction may do is judged by the state it was sent into. */
export interface InvariantMonitor {
  /** The operator is about to evict or delete a pod. */
  beforeRemoval(pod: Pod): void;
  /** The API server did it. */
  removed(pod: Pod): void;
  podGone(uid: string): void;
  /** Evicted by the operator and not gone yet. */
  underWay(): number;
  onWrite(write: ObservedWrite): void;
  onAdmission(answer: AdmissionSeen): void;
  /** Something happened that may make moves of this workload due; of all where left out. */
  cause(workload?: WorkloadFacts): void;
  /** @param explanation why the mix is not exact; undefined where nothing explains it. */
  judgeRest(facts: WorkloadFacts, explanation: string | undefined): void;
}

export interface InvariantOptions {
  readonly caches: Caches;
  readonly fleet: FleetWatch;
  readonly config: Config;
  readonly ledger: Ledger;
  readonly sizes: SizeConsent;
}

/** What policies allow on sizes. */
export interface SizeConsent {
  /** Whether pods of the workload may be evicted so that new ones have another size. */
  mayEvict(facts: WorkloadFacts): boolean;
  /** Rollouts of new sizes that are under way. */
  rollouts(): number;
}

/** The last move of a place: from where, and how many causes there had been for moves of its workload. */
interface Move {
  readonly from: PodFacts['side'];
  readonly cause: number;
}

/** The API server gives a webhook this long. */
const ANSWER_MILLIS = 2000;

/**
 * `paced` and `concurrency` count pods from the accepted eviction until the pod is gone, as the guards' own sources do.
 */
export function createInvariantMonitor({ caches, fleet, config, ledger, sizes }: InvariantOptions): InvariantMonitor {
  /** Evicted by the operator and not gone yet: uid of the pod, of its workload. */
  const going = new Map<string, string>();
  const causes = new Map<string, number>();
  const moves = new Map<string, Move>();
  let causeOfAll = 0;

  const { check } = ledger;
  const causeOf = (uid: string): number => causeOfAll + (causes.get(uid) ?? 0);

  const checkBudgets = (pod: Pod): void => {
    const namespace = pod.metadata?.namespace ?? '';
    // One that is not ready is no loss to a budget: the API server lets it go where the healthy suffice.
    if (!isReady(pod)) return;
    for (const budget of caches.of(resources.podDisruptionBudgets).inNamespace(namespace)) {
      const matches = matcherOf(selectorRequirements(budget.spec?.selector ?? {}));
      if (!matches(pod.metadata?.labels)) continue;
      let healthy = 0;
      for (const other of caches.of(resources.pods).inNamespace(namespace))
        if (matches(other.metadata?.labels) && isReady(other) && !isTerminating(other) && !isFinished(other)) healthy++;
      const needed = budget.status?.desiredHealthy ?? 0;
      const name = budget.metadata?.name;
      check(
        'budget',
        healthy - 1 >= needed,
        () => `${namespace}/${name}: ${healthy - 1} healthy left, ${needed} needed`,
      );
    }
  };

  const checkMove = (facts: WorkloadFacts, { slot, side }: PodFacts): void => {
    if (slot === undefined) return;
    const key = `${facts.uid}/${slot}`;
    const cause = causeOf(facts.uid);
    const before = moves.get(key);
    const isRepeated = before !== undefined && before.cause === cause && before.from !== side;
    check('oscillation', !isRepeated, () => `${facts.key}: place ${slot} left ${before?.from} and then ${side}`);
    moves.set(key, { from: side, cause });
  };

  return {
    beforeRemoval(pod) {
      const facts = fleet.workloadOfPod(pod.metadata?.uid ?? '');
      const seen = facts?.pods.get(pod.metadata?.uid ?? '');
      const name = `${pod.metadata?.namespace}/${pod.metadata?.name}`;
      const isManaged = facts !== undefined && (facts.rule !== undefined || sizes.mayEvict(facts));
      check('stranger', isManaged, () => `${name} was evicted but its workload is not managed`);
      // A pod that never had a node serves nobody: recreating it disrupts nothing.
      if (facts === undefined || seen === undefined || seen.node === undefined) return;
      const left = facts.counts.readyOnDemand - (seen.side === 'on-demand' && seen.isReady && seen.isLive ? 1 : 0);
      const isTouched = seen.side === 'on-demand' && seen.isReady;
      check('floor', !isTouched || left >= facts.floor, () => `${facts.key}: ${left} ready left, floor ${facts.floor}`);
      const others = [...going.values()].filter((uid) => uid === facts.uid).length;
      check('paced', others === 0, () => `${facts.key}: ${name} evicted while ${others} of its pods are going`);
      const limit = config.placement.maxConcurrentEvictions;
      const underWay = going.size + sizes.rollouts();
      check('concurrency', underWay < limit, () => `${underWay} under way, at most ${limit} allowed`);
      checkBudgets(pod);
    },
    removed(pod) {
      const uid = pod.metadata?.uid ?? '';
      const facts = fleet.workloadOfPod(uid);
      const seen = facts?.pods.get(uid);
      if (facts === undefined || seen?.node === undefined) return;
      going.set(uid, facts.uid);
      if (!sizes.mayEvict(facts)) checkMove(facts, seen);
    },
    podGone: (uid) => void going.delete(uid),
    underWay: () => going.size,
    onWrite({ verb, resource, subresource }) {
      if (!config.operator.readOnlyMode) return;
      // It still reports, leads, and remembers what was used.
      const isReport = subresource === 'status' && ['optimizationpolicies', 'podallocations'].includes(resource);
      const isAllowed = isReport || ['events', 'leases', 'configmaps'].includes(resource);
      check('readOnly', isAllowed, () => `${verb} ${resource} in read-only mode`);
    },
    onAdmission({ status, allowed, error, tookMillis }) {
      const isGood = status === 200 && allowed && error === undefined && tookMillis <= ANSWER_MILLIS;
      check(
        'webhook',
        isGood,
        () =>
          `status ${status}, allowed ${allowed}, after ${tookMillis} ms ${error === undefined ? '' : describeError(error)}`,
      );
    },
    cause(workload) {
      if (workload === undefined) causeOfAll++;
      else causes.set(workload.uid, (causes.get(workload.uid) ?? 0) + 1);
    },
    judgeRest({ key, counts: { spot, onDemand }, targetSpot, replicas }, explanation) {
      const isExact = spot === targetSpot && onDemand === replicas - targetSpot;
      const wanted = `${targetSpot}/${replicas - targetSpot}`;
      check(
        'exact',
        isExact || explanation !== undefined,
        () => `${key}: ${spot}/${onDemand} instead of ${wanted} (spot/on-demand)`,
      );
    },
  };
}
