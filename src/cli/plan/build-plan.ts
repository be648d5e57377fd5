/** Plans every workload of the input by the operator's own code and asks the guards about each decision. */

import type { MinOnDemand } from '../../api/annotations-values.ts';
import type { Decision } from '../../decide/decision.ts';
import { sumCosts } from '../../decide/placement/cost.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { planAllocation } from '../allocation/allocation-plan.ts';
import { type PlannedWorkload, planFleet } from '../fleet.ts';
import { inputNotes } from '../input/input-notes.ts';
import type { LoadedInput } from '../input/load-input.ts';
import { DOCUMENT_VERSION } from '../output.ts';
import { planSizes } from '../sizing/sizing-plan.ts';
import { type PlanDocument, type PlannedAction, type PlannedWorkloadDocument, slotRuns } from './plan-document.ts';
import { blocksOf } from './planned-blocks.ts';

/**
 * As the operator would decide and its guards would say at this instant. What only a running operator knows (cooldowns
 * since the last move, what is in flight) is not in the input, and told as missing by whoever prints the plan.
 * @param namespace the only one to plan; undefined for all.
 */
export function buildPlan(input: LoadedInput, now: EpochMillis, namespace: string | undefined): PlanDocument {
  const workloads = planFleet(input.view, input.rules, now, namespace).map((planned) =>
    toDocument(input, planned, now),
  );
  const { maxConcurrentEvictions, cooldownMillis } = input.rules.settings;
  const actions = workloads.flatMap((workload) => workload.actions);
  const allocation = planAllocation(input.allocation, input.view, now, namespace);
  const count = (state: PlannedWorkloadDocument['state']): number =>
    workloads.filter((each) => each.state === state).length;
  return {
    apiVersion: DOCUMENT_VERSION,
    kind: 'Plan',
    source: input.source,
    summary: {
      workloads: workloads.length,
      managed: count('managed'),
      invalid: count('invalid'),
      driftedReplicas: workloads.reduce((sum, { drift }) => sum + drift, 0),
      actions: actions.filter(({ blockedBy }) => blockedBy.length === 0).length,
      blocked: actions.filter(({ blockedBy }) => blockedBy.length > 0).length,
    },
    pace: { maxConcurrentEvictions, cooldownMillis },
    ...(input.rules.prices !== undefined && { cost: sumCosts(workloads.flatMap(({ cost }) => cost ?? [])) }),
    workloads,
    ...(input.sizing.policies.length > 0 && {
      sizing: planSizes(input.sizing, input.view, input.tenancy, namespace),
    }),
    ...(allocation !== undefined && { allocation }),
    ...inputNotes(input),
  };
}

function toDocument(input: LoadedInput, planned: PlannedWorkload, now: EpochMillis): PlannedWorkloadDocument {
  const { plan, workload } = planned;
  const { policy, target, actual, drift } = plan;
  const { kind, namespace, name, replicas } = workload;
  const identity = { kind, namespace, name, replicas, state: policy.state, drift };
  const counts = plan.pods.length > 0 && {
    actual: { spot: actual.spot, onDemand: actual.onDemand, unknown: actual.unknown },
  };
  if (policy.state !== 'managed') {
    const { name: reason, message, advice } = policy.reason;
    return { ...identity, ...counts, block: { reason, message, advice }, actions: [], notes: [] };
  }
  const { rule, sources } = policy;
  return {
    ...identity,
    ...counts,
    policy: { spotPercentage: rule.spotPercentage, minOnDemand: minOnDemandText(rule.minOnDemand), sources },
    ...(target !== undefined && { target: { spot: target.spot, onDemand: target.onDemand } }),
    slots: slotRuns(policy, replicas),
    ...(planned.cost !== undefined && { cost: planned.cost }),
    actions: plan.decisions.map((decision) => ({
      ...toAction(decision),
      blockedBy: blocksOf(decision, policy, { ...input, now }),
    })),
    notes: plan.notes.map(({ text }) => text),
  };
}

function toAction(decision: Decision): Omit<PlannedAction, 'blockedBy'> {
  const { pod, why } = decision;
  const common = { pod: pod.name, why: why.summary, numbers: why.numbers };
  switch (decision.kind) {
    case 'evict':
      return { action: 'evict', ...common, from: decision.from, to: decision.to };
    case 'fallback':
      return { action: 'fallback', ...common, from: 'spot', to: decision.to };
    case 'restamp':
      return { action: 'restamp', ...common, to: decision.capacity, slot: decision.slot };
  }
}

/** As it is written in the annotation. */
export function minOnDemandText(floor: MinOnDemand): string {
  return floor.kind === 'count' ? String(floor.count) : `${floor.percent}%`;
}
