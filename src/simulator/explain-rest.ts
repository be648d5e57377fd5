/** Why a workload at rest is not as it should be, in the operator's own words: what its `explain` tells people. */
import type { WorkloadFacts } from './fleet-watch.ts';
import type { SimulatedOperator } from './operator-port.ts';

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
