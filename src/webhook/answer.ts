/** What the API server is told about a decision: patch, trace message, warnings for the user, audit annotations. */
import type { JsonPatchOperation } from '../api/kube-api.ts';
import type { AdmissionDecision } from '../decide/placement/admission-decision.ts';
import type { ReviewAnswer } from './review.ts';
import { toWarning } from './warning.ts';

/**
 * Says that the pod was placed without the leader; the leader has a look at such pods. The stamps before it made the
 * parent.
 */
const unconfirmedStamp: JsonPatchOperation = {
  op: 'add',
  path: '/metadata/annotations/spotalis.io~1unconfirmed',
  value: 'true',
};

/**
 * The API server prefixes audit annotations with the webhook's name, and shows warnings to whoever created the pod:
 * mostly a controller, which reads none, so that warnings are few and the journal has the rest.
 * @param isConfirmed false when a replica that is not the leader decided by itself.
 */
export function answerOf(decision: AdmissionDecision, isConfirmed: boolean): ReviewAnswer {
  if (decision.kind === 'steered') {
    const { slot, side, patch, warnings, explanation } = decision;
    return {
      patch: isConfirmed || patch.length === 0 ? patch : [...patch, unconfirmedStamp],
      // The message that Spotalis sends.
      message: 'applied Spotalis mutations',
      warnings: warnings.map((warning) => toWarning('spotalis', warning)),
      auditAnnotations: { slot: String(slot), capacity: side, why: explanation.summary },
    };
  }
  const { reason, message, warn, wouldBe } = decision;
  if (wouldBe === undefined) return { message, ...(warn && { warnings: [toWarning('spotalis', message)] }) };
  const would = `slot ${wouldBe.slot} on ${wouldBe.side}`;
  return {
    message,
    warnings: [toWarning('spotalis', `${message}; this pod would take ${would}`)],
    auditAnnotations: { 'would-be-slot': String(wouldBe.slot), 'would-be-capacity': wouldBe.side, why: reason },
  };
}
