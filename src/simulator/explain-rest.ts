/** Why a workload at rest is not as it should be, in the operator's own words: what its `explain` tells people. */
import type { Millis } from '../lib/units.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import type { SimulatedOperator } from './operator-port.ts';

/** Whether a replica leads: for a while after a crash, or while the API refuses the operator, none does. */
export function isLed(workloads: Iterable<WorkloadFacts>, replicas: Iterable<SimulatedOperator>): boolean {
  const [facts] = workloads;
  if (facts === undefined) return true;
  const [namespace = '', name = ''] = facts.key.split('/');
  return [...replicas].some(({ explain }) => explain({ kind: facts.kind, namespace, name })?.isLeader === true);
}

/** Undefined where the operator has nothing to say, or nobody leads. */
export function explainRest(facts: WorkloadFacts, replicas: Iterable<SimulatedOperator>): string | undefined {
  const [namespace = '', name = ''] = facts.key.split('/');
  for (const operator of replicas) {
    const explanation = operator.explain({ kind: facts.kind, namespace, name });
    if (explanation === undefined || !explanation.isLeader) continue;
    const { plan, decisions } = explanation;
    if (plan.policy.state !== 'managed') return plan.policy.reason.message;
    const block = decisions.flatMap(({ blocks }) => blocks)[0];
    if (block !== undefined) return block.message;
    if (plan.spot.state.kind !== 'open') return `spot is ${plan.spot.state.kind}`;
    return plan.notes[0]?.text;
  }
  return undefined;
}

/** What kept the workload's pods from their sizes lately, as the journal of the leader tells, by its clock; undefined: nothing. */
export function explainSizes(
  { key, kind }: WorkloadFacts,
  replicas: Iterable<SimulatedOperator>,
  withinMillis: Millis,
): string | undefined {
  const [namespace = '', name = ''] = key.split('/');
  for (const operator of replicas) {
    const explanation = operator.explain({ kind, namespace, name });
    if (explanation?.isLeader !== true) continue;
    const told = explanation.journal.findLast(
      (entry) =>
        entry.engine === 'rightsizing' &&
        (entry.kind === 'blocked' || entry.kind === 'failed') &&
        entry.lastAt >= explanation.at - withinMillis,
    );
    return told?.message;
  }
  return undefined;
}
