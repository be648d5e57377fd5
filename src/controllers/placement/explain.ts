/**
 * The whole story of one workload as plain data: slots and sides, what blocks, what happens next and when, and what was
 * done.
 */

import type { EngineJournal, JournalEntry } from '../../act/journal.ts';
import type { Decision } from '../../decide/decision.ts';
import { planWorkload } from '../../decide/placement/converge.ts';
import { costOf, type WorkloadCost } from '../../decide/placement/cost.ts';
import { explainPlan, type PlanExplanation } from '../../decide/placement/explain.ts';
import type { WorkloadPlan } from '../../decide/placement/plan.ts';
import { isMove } from '../../decide/placement/standing.ts';
import type { Block } from '../../guard/context.ts';
import { inspectAll } from '../../guard/guard.ts';
import type { Clock } from '../../lib/clock.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { type ClusterView, type WorkloadRef, workloadKey } from '../../model/cluster-view.ts';
import type { Disruptions } from '../disruptions.ts';
import type { SpotWatch } from '../spot-watch.ts';
import type { PlacementRules } from './rules.ts';

export interface ExplainedDecision {
  readonly decision: Decision;
  /** All objections, first the one that is reported; empty: it is carried out at the next look. */
  readonly blocks: readonly Block[];
}

/** Plain data, as it is sent over the wire. Made anew at each question: no plan is kept. */
export interface WorkloadExplanation {
  readonly at: EpochMillis;
  readonly plan: WorkloadPlan;
  readonly decisions: readonly ExplainedDecision[];
  /** The same in words. */
  readonly story: PlanExplanation;
  /** Undefined where no prices are configured. */
  readonly cost: WorkloadCost | undefined;
  readonly lastDisruption: EpochMillis | undefined;
  /** Only the leader remembers what was done. */
  readonly isLeader: boolean;
  readonly journal: readonly JournalEntry[];
}

/** Undefined for a workload that does not exist. */
export type Explainer = (ref: WorkloadRef) => WorkloadExplanation | undefined;

export interface ExplainerOptions {
  readonly view: ClusterView;
  readonly rules: () => PlacementRules;
  readonly disruptions: Pick<Disruptions, 'contextWith'>;
  readonly spot: SpotWatch;
  readonly journal: EngineJournal;
  readonly clock: Clock;
}

export function createExplainer(options: ExplainerOptions): Explainer {
  const { view, rules, disruptions, spot, journal, clock } = options;
  return (ref) => {
    const workload = view.workload(ref);
    if (workload === undefined) return undefined;
    const { settings, sides, readPolicy, prices } = rules();
    const now = clock.now();
    const policy = readPolicy(view, workload);
    const plan = planWorkload({ view, sides, workload, settings, policy, spot: spot.memory, now });
    const context = disruptions.contextWith(policy, workload);
    const decisions = plan.decisions.map((decision) => ({ decision, blocks: inspectAll(decision, context) }));
    const ending = decisions.find(({ decision }) => isMove(decision));
    const rule = policy.state === 'managed' ? policy.rule : undefined;
    return {
      at: now,
      plan,
      decisions,
      story: explainPlan(plan, ending?.blocks ?? [], now),
      cost: prices === undefined ? undefined : costOf({ view, sides, workload, rule, prices }),
      lastDisruption: context.history.lastDisruption(workload.uid),
      isLeader: context.leadership.leader,
      journal: journal.entries(workloadKey(ref)),
    };
  };
}
