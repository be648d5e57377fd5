/** The guard: nothing reaches the cluster that it has not approved, whichever engine wants it. */
import type { Decision } from '../decide/decision.ts';
import { podsOf } from '../model/owners.ts';
import { type Approved, approve } from './approved.ts';
import type { Block, GuardContext, Rule, Subject } from './context.ts';
import { object } from './objection.ts';
import { rules } from './rules.ts';

export type { Approved } from './approved.ts';

export type Verdict<D extends Decision> =
  | { readonly kind: 'approved'; readonly approved: Approved<D> }
  | { readonly kind: 'blocked'; readonly block: Block };

/** Asks the rules in order and stops at the first objection. */
export function inspect<D extends Decision>(decision: D, context: GuardContext): Verdict<D> {
  for (const block of objections(decision, context)) return { kind: 'blocked', block };
  return { kind: 'approved', approved: approve(decision) };
}

/** Every objection in the order of the rules, for explanations; empty when the decision would be approved. */
export function inspectAll(decision: Decision, context: GuardContext): readonly Block[] {
  return [...objections(decision, context)];
}

function* objections(decision: Decision, context: GuardContext): Generator<Block> {
  const subject = findSubject(decision, context);
  if (subject === undefined) {
    const gone = object('PreconditionFailed', { pod: decision.pod.name });
    if (gone !== undefined) yield { rule: 'subject', ...gone };
    return;
  }
  for (const rule of rules) {
    if (!concerns(rule, decision)) continue;
    const objection = rule.check(subject, context);
    if (objection !== undefined) yield { rule: rule.name, ...objection };
  }
}

function concerns(rule: Rule, decision: Decision): boolean {
  const { appliesTo } = rule;
  return appliesTo === 'every' || appliesTo === decision.kind || (appliesTo === 'end' && decision.kind !== 'restamp');
}

/** The records the decision is about as they are now: by uid, and only while the pod belongs to the workload. */
function findSubject(decision: Decision, { view }: GuardContext): Subject | undefined {
  const workload = view.workloadByUid(decision.workloadUid);
  if (workload === undefined) return undefined;
  const pods = podsOf(view, workload);
  const pod = pods.find(({ uid }) => uid === decision.pod.uid);
  if (pod === undefined || (pod.deletingAt !== undefined && decision.kind !== 'restamp')) return undefined;
  return { decision, workload, pod, pods };
}
