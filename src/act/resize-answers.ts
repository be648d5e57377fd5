/**
 * What the API server and the kubelet say to a resize, and what is to be done about each: one table. Texts as
 * Kubernetes 1.33 to 1.37 have them; sources: pkg/apis/core/validation/validation.go (ValidatePodResize),
 * plugin/pkg/admission/{resourcequota, limitranger,podresize}, pkg/kubelet/allocation/allocation_manager.go,
 * pkg/kubelet/kuberuntime/kuberuntime_manager.go.
 */
import type { ResizeAnswer } from '../lib/reason-resize-answers.ts';
import { renderAdvice, renderReason } from '../lib/reasons.ts';

/** What to do after an answer. */
export type ResizeAction =
  /** Send it again: at once with fresh data after a conflict, else after a pause. */
  | 'retry'
  /** Something else must change first: room, a quota. */
  | 'wait'
  /** Put the spec back to what is allocated. */
  | 'withdraw'
  /** Not on this running pod: a new one could have it. */
  | 'recreate'
  /** As asked, never: decide anew when the inputs change. */
  | 'give-up';

export interface ResizeAnswerRow {
  readonly reason: ResizeAnswer;
  readonly action: ResizeAction;
  /** Where the text is seen: an HTTP answer, or the condition of a pod with this reason. */
  readonly seenIn: 'answer' | 'Deferred' | 'Infeasible' | 'Error';
  readonly pattern: RegExp;
}

/**
 * The first row that matches counts, so narrow texts stand before wide ones. A row of `seenIn` other than `answer` ends
 * with one that matches anything: of a condition the reason alone says what to do.
 */
export const resizeAnswerRows: readonly ResizeAnswerRow[] = [
  row('ResizeQosRefused', 'recreate', 'answer', /Pod QOS Class may not change/i),
  row('ResizeNotOnNode', 'recreate', 'answer', /running on node without support for resize/),
  row('ResizeMemoryDecreaseRefused', 'recreate', 'answer', /memory limits cannot be decreased unless resizePolicy/),
  row('ResizeRemovalRefused', 'give-up', 'answer', /resource (?:limits|requests) cannot be removed/),
  row('ResizeRemovalRefused', 'give-up', 'answer', /pod-level resource.* cannot be removed/),
  row('ResizeFieldRefused', 'give-up', 'answer', /only cpu and memory resources .*are mutable/),
  row('ResizePodKindRefused', 'give-up', 'answer', /static pods cannot be resized/),
  row('ResizePodKindRefused', 'recreate', 'answer', /windows pods cannot be resized/),
  row('ResizePodKindRefused', 'recreate', 'answer', /pod resize is only supported on linux nodes/),
  row('ResizePodKindRefused', 'recreate', 'answer', /non-sidecar init containers .* cannot be resized/),
  row('ResizeContainersChanged', 'retry', 'answer', /may not be (?:renamed or reordered|added or removed) on resize/),
  row('ResizeAdmissionDenied', 'give-up', 'answer', /admission webhook "[^"]*" denied the request/),
  row('ResizeAdmissionDenied', 'give-up', 'answer', /ValidatingAdmissionPolicy '[^']*' .*denied request/),
  row('ResizeApiTrouble', 'retry', 'answer', /failed calling webhook/),
  row('ResizeQuotaDenied', 'wait', 'answer', /exceeded quota:/),
  row('ResizeLimitRangeDenied', 'give-up', 'answer', /(?:maximum|minimum) \S+ usage per (?:Container|Pod) is/),
  row('ResizeLimitRangeDenied', 'give-up', 'answer', /max limit to request ratio per (?:Container|Pod) is/),
  row('ResizeBeyondNode', 'recreate', 'answer', /node didn't have enough allocatable resources/i),
  row('ResizeNodeUnknown', 'wait', 'answer', /node "[^"]*" not found/),
  row('ResizeForbidden', 'give-up', 'answer', /User "[^"]*" cannot \w+ resource/),
  row('ResizeBeyondNode', 'recreate', 'Infeasible', /enough capacity:/),
  row('ResizeInfeasible', 'recreate', 'Infeasible', /(?:CPU|Memory) Manager policy/),
  row('ResizeInfeasible', 'recreate', 'Infeasible', /containers with swap is not supported/),
  row('ResizeInfeasible', 'recreate', 'Infeasible', /(?:)/),
  row('ResizeDeferred', 'wait', 'Deferred', /(?:)/),
  row('ResizeMemoryStillUsed', 'withdraw', 'Error', /cannot decrease memory limits/),
  // An error is never taken for infeasible: the kubelet tries again by itself.
  row('ResizeErrorOnNode', 'wait', 'Error', /(?:)/),
];

function row(
  reason: ResizeAnswer,
  action: ResizeAction,
  seenIn: ResizeAnswerRow['seenIn'],
  pattern: RegExp,
): ResizeAnswerRow {
  return { reason, action, seenIn, pattern };
}

/** An answer with its sentences for people. */
export interface ReadAnswer {
  readonly action: ResizeAction;
  readonly reason: ResizeAnswer;
  readonly message: string;
  readonly advice: string;
}

/** The row of a text; undefined for a text of an HTTP answer that no row knows. */
export function readAnswer(seenIn: ResizeAnswerRow['seenIn'], text: string): ReadAnswer | undefined {
  const found = resizeAnswerRows.find((each) => each.seenIn === seenIn && each.pattern.test(text));
  return found === undefined ? undefined : answer(found.reason, found.action, text);
}

/** An answer of our own, where no text was read. @param cause in a few words, for the sentences of the reason. */
export function answer(reason: ResizeAnswer, action: ResizeAction, cause: string): ReadAnswer {
  return { action, reason, message: renderReason(reason, { cause }), advice: renderAdvice(reason, { cause }) };
}
