/** What must hold whatever happens in the demo, checked on every observation: the promises of placement, as a judge sees them. */
import type { PodPlan } from '../../decide/placement/plan.ts';
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
}

/** What a chapter of the story permits. */
export interface Permission {
  /** Evictions it may cost at most. */
  readonly evictions: number;
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
  begin(permission: Permission): void;
  observe(observation: Observation): void;
  /** A chapter has reached its end, or its time is up: now everything has to be in place. */
  judgeRest(observation: Observation): void;
  results(): readonly InvariantResult[];
}

export function createInvariantMonitor(): InvariantMonitor {
  const checks = new Map<Invariant, number>();
  const violations = new Map<Invariant, string>();
  /** Workloads that were whole once: before, they are only being built. */
  const settled = new Set<string>();
  let permission: Permission = { evictions: 0, losesNodes: false };
  let evictionsBefore: number | undefined;
  let lastEvictions = 0;

  const check = (invariant: Invariant, holds: boolean, describe: () => string): void => {
    checks.set(invariant, (checks.get(invariant) ?? 0) + 1);
    if (!holds && !violations.has(invariant)) violations.set(invariant, describe());
  };

  const observeWorkload = (planned: PlannedWorkload): void => {
    const key = workloadKey(planned.workload);
    const { plan, workload, isBalanced, ready } = planned;
    if (isBalanced && ready === workload.replicas) settled.add(key);
    if (!settled.has(key)) return;
    const onDemand = plan.pods.filter(isServingOnDemand).length;
    check('floor', onDemand >= plan.floor, () => `${key}: ${onDemand} ready on on-demand, ${plan.floor} needed`);
    if (permission.losesNodes) return;
    const terminating = plan.pods.filter(({ state }) => state === 'terminating').length;
    if (permission.evictions > 0)
      check('paced', terminating <= 1, () => `${key}: ${counted(terminating, 'pod')} going at once`);
  };

  const observeBudget = (budget: PdbRecord): void => {
    // Growth and lost nodes leave budgets short without anybody's eviction.
    if (!budget.observed || permission.evictions === 0 || permission.losesNodes) return;
    check('budget', budget.currentHealthy >= budget.desiredHealthy, () => {
      const { namespace, name, currentHealthy, desiredHealthy } = budget;
      return `${namespace}/${name}: ${currentHealthy} healthy, ${desiredHealthy} needed`;
    });
  };

  return {
    begin(next) {
      permission = next;
      evictionsBefore = lastEvictions;
    },
    observe({ workloads, budgets, evictions }) {
      lastEvictions = evictions;
      evictionsBefore ??= evictions;
      const cost = evictions - evictionsBefore;
      const allowed = permission.evictions;
      const invariant = allowed === 0 ? 'burst' : 'bounded';
      check(invariant, cost <= allowed, () => `${counted(cost, 'eviction')}, ${allowed} expected at most`);
      for (const planned of workloads) observeWorkload(planned);
      for (const budget of budgets) observeBudget(budget);
    },
    judgeRest({ workloads }) {
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

function isServingOnDemand({ actualSide, ready, state }: PodPlan): boolean {
  return actualSide === 'on-demand' && ready && state !== 'terminating' && state !== 'ended';
}
