/** The guard: nothing reaches the cluster that it has not approved, whichever engine wants it. */
import { podsOf } from '../model/owners.ts';
import { type Approved, approve } from './approved.ts';
import type { Block, GuardContext, GuardedDecision, Subject } from './context.ts';
import { object } from './objection.ts';
import { rules } from './rules.ts';

export type { Approved } from './approved.ts';

/** `blocked` carries the first objection in the order of `rules`; there may be others, see {@link inspectAll}. */
export type Verdict<D extends GuardedDecision> =
  | { readonly kind: 'approved'; readonly approved: Approved<D> }
  | { readonly kind: 'blocked'; readonly block: Block };

/**
 * The only way to an {@link Approved} decision about pods (those about sizes go through `inspectSize`). Asks the rules
 * in order and stops at the first objection: later rules are dearer, and may read what earlier ones have vouched for.
 */
export function inspect<D extends GuardedDecision>(decision: D, context: GuardContext): Verdict<D> {
  for (const block of objections(decision, context)) return { kind: 'blocked', block };
  return { kind: 'approved', approved: approve(decision) };
}

/** Every objection in the order of the rules, for explanations; empty when the decision would be approved. */
export function inspectAll(decision: GuardedDecision, context: GuardContext): readonly Block[] {
  return [...objections(decision, context)];
}

function* objections(decision: GuardedDecision, context: GuardContext): Generator<Block> {
  const subject = findSubject(decision, context);
  if (subject === undefined) {
    yield { rule: 'subject', ...object('PreconditionFailed', { pod: decision.pod.name }) };
    return;
  }
  for (const rule of rules) {
    const objection = rule.check(subject, context);
    if (objection !== undefined) yield { rule: rule.name, ...objection };
  }
}

/** The records the decision is about as they are now: by uid, and only while the pod belongs to the workload. */
function findSubject(decision: GuardedDecision, { view }: GuardContext): Subject | undefined {
  const workload = view.workloadByUid(decision.workloadUid);
  if (workload === undefined) return undefined;
  const pods = podsOf(view, workload);
  const pod = pods.find(({ uid }) => uid === decision.pod.uid);
  // What is ending needs no ending. Stamps of such a pod are left to the API server: its resourceVersion is another by
  // now.
  if (pod === undefined || (pod.deletingAt !== undefined && decision.kind !== 'restamp')) return undefined;
  return { decision, workload, pod, pods };
}
