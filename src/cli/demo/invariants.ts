/** What must hold whatever happens in the demo, checked on every observation: the promises of placement, as a judge sees them. */
import { isDeepStrictEqual } from 'node:util';
import type { PodPlan } from '../../decide/placement/plan.ts';
import { type SlotRule, spotCount } from '../../decide/placement/slots.ts';
import { isLivePod } from '../../decide/placement/standing.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { PdbRecord } from '../../model/records.ts';
import type { PlannedWorkload } from '../fleet.ts';
import { counted } from '../plural.ts';

export interface Observation {
  /** The managed workloads. */
  readonly workloads: readonly PlannedWorkload[];
  readonly budgets: readonly PdbRecord[];
  /** Evictions the API server has granted to the operator so far. */
  readonly evictions: number;
  /** Nodes are on their way out, or silent, with pods on them. */
  readonly losesNodes: boolean;
}

/** What goes on in a chapter of the story. */
export interface Circumstances {
  /** Nodes are lost in it: pods end without the operator's doing, so budgets may be short. */
  readonly losesNodes: boolean;
}

export const invariants = {
  burst: 'new pods land on the right side without an eviction',
  bounded: 'no chapter costs more evictions than pods have to move',
  paced: 'at most one pod of a workload is disrupted at a time',
  floor: 'ready on-demand pods never fall below the floor',
  budget: 'no PodDisruptionBudget is violated',
  exact: 'the mix is exact whenever the cluster is at rest',
} as const;

export type Invariant = keyof typeof invariants;

export interface InvariantResult {
  readonly invariant: Invariant;
  /** How often it was checked; an invariant that never was proves nothing. */
  readonly checks: number;
  /** What was seen when it broke, the first time; undefined when it held. */
  readonly violation: string | undefined;
}

export interface InvariantMonitor {
  /** A chapter begins. */
  begin(circumstances: Circumstances): void;
  /** The machine stood still, or the operator had to start anew: what this chapter takes is judged no more, but for its end. */
  excuse(): void;
  observe(observation: Observation): void;
  /** A chapter has reached its end, or its time is up: now everything has to be in place. */
  judgeRest(observation: Observation): void;
  results(): readonly InvariantResult[];
}

/**
 * Evictions are due only where somebody changed what is wanted: as many as pods then have to change sides. The monitor
 * finds that out by itself, so it judges rightly whoever made the change, the story or a spectator with kubectl.
 */
export function createInvariantMonitor(): InvariantMonitor {
  const checks = new Map<Invariant, number>();
  const violations = new Map<Invariant, string>();
  const rules = new Map<string, SlotRule>();
  /** Workloads that were whole once under their present rule: before, their pods are only coming. */
  const settled = new Set<string>();
  /** Pods end without the operator's doing, until all are whole again. */
  let losesPods = false;
  let isExcused = false;
  /** Since the chapter began. */
  let evictionsDue = 0;
  let evictionsBefore: number | undefined;
  let lastEvictions = 0;

  const check = (invariant: Invariant, holds: boolean, describe: () => string): void => {
    checks.set(invariant, (checks.get(invariant) ?? 0) + 1);
    if (!holds && !violations.has(invariant)) violations.set(invariant, describe());
  };

  /** A changed rule makes moves due; so does a workload that comes under management with its pods in place. */
  const noteRule = ({ workload, plan }: PlannedWorkload): void => {
    if (plan.policy.state !== 'managed') return;
    const key = workloadKey(workload);
    const { rule } = plan.policy;
    const before = rules.get(key);
    rules.set(key, rule);
    if (before === undefined) evictionsDue += plan.drift;
    else if (!isDeepStrictEqual(before, rule)) {
      evictionsDue += Math.abs(spotCount(rule, workload.replicas) - spotCount(before, workload.replicas));
      settled.delete(key);
    }
  };

  const observeWorkload = ({ plan, workload, isBalanced, ready }: PlannedWorkload): void => {
    const key = workloadKey(workload);
    if (isBalanced && ready === workload.replicas) settled.add(key);
    if (settled.has(key)) {
      const onDemand = plan.pods.filter(isServingOnDemand).length;
      check('floor', onDemand >= plan.floor, () => `${key}: ${onDemand} ready on on-demand, ${plan.floor} needed`);
    }
    if (losesPods || evictionsDue === 0) return;
    const terminating = plan.pods.filter(({ state }) => state === 'terminating').length;
    check('paced', terminating <= 1, () => `${key}: ${counted(terminating, 'pod')} going at once`);
  };

  const observeBudget = (budget: PdbRecord): void => {
    // Growth and lost nodes leave budgets short without anybody's eviction.
    if (!budget.observed || evictionsDue === 0 || losesPods) return;
    check('budget', budget.currentHealthy >= budget.desiredHealthy, () => {
      const { namespace, name, currentHealthy, desiredHealthy } = budget;
      return `${namespace}/${name}: ${currentHealthy} healthy, ${desiredHealthy} needed`;
    });
  };

  return {
    begin({ losesNodes }) {
      losesPods ||= losesNodes;
      isExcused = false;
      evictionsDue = 0;
      evictionsBefore = lastEvictions;
    },
    excuse() {
      isExcused = true;
      settled.clear();
    },
    observe({ workloads, budgets, evictions, losesNodes }) {
      lastEvictions = evictions;
      evictionsBefore ??= evictions;
      for (const planned of workloads) noteRule(planned);
      if (isExcused) return;
      losesPods ||= losesNodes;
      const cost = evictions - evictionsBefore;
      const invariant = evictionsDue === 0 ? 'burst' : 'bounded';
      check(invariant, cost <= evictionsDue, () => `${counted(cost, 'eviction')}, ${evictionsDue} expected at most`);
      for (const planned of workloads) observeWorkload(planned);
      for (const budget of budgets) observeBudget(budget);
    },
    judgeRest({ workloads, losesNodes }) {
      const isWhole = workloads.every(({ workload, isBalanced, ready }) => isBalanced && ready === workload.replicas);
      losesPods = losesNodes || !isWhole;
      for (const { workload, plan, isBalanced, ready } of workloads) {
        check('exact', isBalanced && ready === workload.replicas, () => {
          const { actual, target } = plan;
          return `${workloadKey(workload)}: ${actual.spot}/${actual.onDemand} instead of ${target?.spot}/${target?.onDemand} (spot/on-demand), ${ready} of ${workload.replicas} ready`;
        });
      }
    },
    results: () =>
      invariantNames.map((invariant) => ({
        invariant,
        checks: checks.get(invariant) ?? 0,
        violation: violations.get(invariant),
      })),
  };
}

const invariantNames = Object.keys(invariants).filter((name): name is Invariant => Object.hasOwn(invariants, name));

function isServingOnDemand(pod: PodPlan): boolean {
  return pod.actualSide === 'on-demand' && pod.ready && isLivePod(pod);
}
