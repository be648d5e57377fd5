/** The guard of sizes: no pod and no template changes its size without its approval, whichever engine wants it. */
import type { SizeDecision } from '../../decide/size-decision.ts';
import { isSettled } from '../../model/granted-size.ts';
import { applyChanges, effectiveChanges } from '../../model/pod-size.ts';
import { type Approved, approve } from '../approved.ts';
import type { Block } from '../context.ts';
import { object } from '../objection.ts';
import type { SizeGuardContext, SizeSubject } from './context.ts';
import { sizeRules } from './size-rules.ts';

export type SizeVerdict<D extends SizeDecision> =
  | { readonly kind: 'approved'; readonly approved: Approved<D> }
  | { readonly kind: 'blocked'; readonly block: Block };

/**
 * The only way to an {@link Approved} decision about sizes. Asks the rules in order and stops at the first objection.
 * Pure, never throws. A decision whose changes are all in the spec already is blocked as `AlreadyThatSize`: a second
 * pass writes nothing.
 */
export function inspectSize<D extends SizeDecision>(decision: D, context: SizeGuardContext): SizeVerdict<D> {
  for (const block of objections(decision, context)) return { kind: 'blocked', block };
  return { kind: 'approved', approved: approve(decision) };
}

/** Every objection in the order of the rules, by which tests see each of them; empty when the decision would be approved. */
export function inspectSizeAll(decision: SizeDecision, context: SizeGuardContext): readonly Block[] {
  return [...objections(decision, context)];
}

function* objections(decision: SizeDecision, context: SizeGuardContext): Generator<Block> {
  const subject = findSubject(decision, context);
  const target = decision.kind === 'retemplate' ? decision.workload.name : decision.pod.name;
  if (subject === undefined) {
    yield { rule: 'subject', ...object('PreconditionFailed', { pod: target }) };
    return;
  }
  if (subject.changes.length === 0) {
    yield { rule: 'changes', ...object('AlreadyThatSize', { target }) };
    return;
  }
  for (const rule of sizeRules) {
    const objection = rule.check(subject, context);
    if (objection !== undefined) yield { rule: rule.name, ...objection };
  }
}

/**
 * The records the decision is about as they are now, by uid. Undefined where they no longer are what it is about: also
 * a resize that was to be taken back as not granted, and has been granted since.
 */
function findSubject(decision: SizeDecision, { view }: SizeGuardContext): SizeSubject | undefined {
  if (decision.kind === 'retemplate') {
    const workload = view.workloadByUid(decision.workloadUid);
    if (workload === undefined) return undefined;
    const before = workload.containers;
    const changes = effectiveChanges(before, decision.changes);
    return { kind: 'retemplate', decision, workload, changes, before, after: applyChanges(before, changes) };
  }
  const pod = view.pod(decision.pod.namespace, decision.pod.name);
  if (pod === undefined || pod.pod.uid !== decision.pod.uid) return undefined;
  const before = pod.sizing.containers;
  const changes = effectiveChanges(before, decision.changes);
  if (decision.kind === 'evict-to-resize') {
    const owner = view.workloadByUid(decision.workloadUid);
    if (owner === undefined) return undefined;
    const after = applyChanges(before, changes);
    return { kind: decision.kind, decision, pod, workload: owner, changes, before, after };
  }
  const node = pod.pod.nodeName === undefined ? undefined : view.node(pod.pod.nodeName);
  const workload = view.workloadOf(pod.pod);
  if (decision.isWithdrawal === true) {
    if (isSettled(pod.sizing)) return undefined;
  } else if (decision.workloadUid !== undefined && decision.workloadUid !== workload?.uid) {
    // What is known of the one says nothing of the other: windows, budgets, the other pods.
    return undefined;
  }
  return { kind: 'resize', decision, pod, workload, node, changes, before, after: applyChanges(before, changes) };
}
