/** Resizes pods in place: asks the guards, sends the patch, and follows each resize to its end. */
import type { ResizeDecision } from '../../decide/size-decision.ts';
import { inspectSize } from '../../guard/size/inspect-size.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import { createOwedWithdrawals } from '../owed-withdrawals.ts';
import type { ResizeEnd } from '../resizes-in-flight.ts';
import type { SizeActuatorOptions, SizeContext } from './actuator.ts';
import { askForTurn } from './budget-turn.ts';
import type { ResizeLessons } from './resize-lessons.ts';
import { createRestartsInPlace } from './restarts-in-place.ts';
import type { AttemptOutcome } from './result.ts';

export interface GuardedResizeOptions
  extends Pick<SizeActuatorOptions, 'view' | 'inFlight' | 'disruptions' | 'history' | 'resize' | 'onEnd'>,
    Pick<SizeActuatorOptions, 'metrics' | 'clock' | 'log'> {
  readonly contextFor: SizeContext;
  readonly lessons: Pick<ResizeLessons, 'noteRefusal' | 'noteEnd'>;
}

export interface GuardedResize {
  /**
   * Resizes one pod in place. `asked` means that the API server took it; how it ends shows in what is learned of it and
   * the history, and `onEnd` wakes the workload.
   */
  resize(decision: ResizeDecision, spec: PolicySpec, signal: AbortSignal): Promise<AttemptOutcome>;
  isResizing(podUid: string): boolean;
}

export interface ResizeFollower {
  /** What the last leader began goes on counting. @returns how many resizes there are, and how many restart something. */
  adopt(): { readonly resizes: number; readonly restarts: number };
  /** Takes up what ended since the last call. To be called every second. */
  review(signal: AbortSignal): Promise<void>;
}

/** How the end of a resize is counted. */
const results = {
  done: 'done',
  superseded: 'superseded',
  'taken-back': 'withdrawn',
  'not-healed': 'failed',
  lost: 'failed',
} as const;

export function createGuardedResize(options: GuardedResizeOptions): GuardedResize & ResizeFollower {
  const { contextFor, inFlight, disruptions, history, lessons, metrics, clock, log } = options;
  const restarts = createRestartsInPlace(options);
  const owed = createOwedWithdrawals({ ...options, isResizing: inFlight.isResizing });

  // The order of the four steps is the safety of it: what counts (in flight, a place for a restart, the spacing) is
  // entered before the request leaves, so that whatever is decided while the answer is waited for sees it.
  const send = async (
    decision: ResizeDecision,
    spec: PolicySpec | undefined,
    signal: AbortSignal,
  ): Promise<AttemptOutcome> => {
    const isRestart = restarts.takesPlace(decision);
    const found = inspectSize(decision, contextFor(spec, decision.workloadUid));
    const verdict = isRestart ? askForTurn(disruptions.turns, decision, found) : found;
    if (verdict.kind === 'blocked') return verdict;
    inFlight.begin(decision);
    restarts.begin(decision);
    if (decision.isWithdrawal !== true) history.recordChange(decision.pod.uid, clock.now());
    const outcome = await options.resize(verdict.approved, signal);
    const end = inFlight.settle(decision, outcome);
    if (end?.kind === 'refused' || outcome.result === 'gone') restarts.end(decision.pod.uid, false);
    if (end?.kind === 'refused') {
      lessons.noteRefusal(decision, end.answer);
      return { kind: 'refused', answer: end.answer };
    }
    return outcome.result === 'gone' ? { kind: 'gone' } : { kind: 'asked', tookFrom: [] };
  };

  const takeBack = async (withdrawal: ResizeDecision, signal: AbortSignal): Promise<void> => {
    const { name: pod, namespace } = withdrawal.pod;
    const result = await send(withdrawal, undefined, signal);
    owed.note(withdrawal, result);
    log.info({ pod, namespace, result: result.kind }, 'A resize was taken back');
  };

  /** A withdrawal is sent at once: the node holds the room meanwhile. */
  const conclude = async (end: ResizeEnd, signal: AbortSignal): Promise<void> => {
    const { pod, workload } = end.decision;
    restarts.end(pod.uid, true);
    if (end.kind !== 'refused' && end.kind !== 'gone')
      metrics.observe('optipod_resize_duration_seconds', { result: results[end.kind] }, end.tookMillis / 1000);
    lessons.noteEnd(end);
    if (end.kind === 'taken-back' && end.withdrawal !== undefined) await takeBack(end.withdrawal, signal);
    if (workload !== undefined) options.onEnd(workload);
  };

  return {
    resize: send,
    isResizing: (podUid) => inFlight.isResizing(podUid),
    adopt() {
      const resizes = inFlight.adopt();
      return { resizes: resizes.length, restarts: resizes.filter((decision) => restarts.adopt(decision)).length };
    },
    async review(signal) {
      for (const end of inFlight.review()) await conclude(end, signal);
      for (const withdrawal of owed.due()) await takeBack(withdrawal, signal);
    },
  };
}
