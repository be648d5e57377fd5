/** Carries out resizes of allocation: asks the guards, acts, follows each to its end, and learns from how it ended. */
import type { Events } from '../../act/events.ts';
import type { EngineJournal } from '../../act/journal.ts';
import type { Resize } from '../../act/resize.ts';
import type { ReadAnswer } from '../../act/resize-answers.ts';
import type { ResizeDecision } from '../../decide/size-decision.ts';
import type { Block, InFlightEviction, Leadership } from '../../guard/context.ts';
import type { InFlightResize, SizeGuardContext, SizePolicy } from '../../guard/size/context.ts';
import { inspectSize, type SizeVerdict } from '../../guard/size/inspect-size.ts';
import type { SizeLog } from '../../guard/size/size-history.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { renderReason } from '../../lib/reasons.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import { createOwedWithdrawals } from '../owed-withdrawals.ts';
import type { ResizeEnd, ResizesInFlight } from '../resizes-in-flight.ts';
import type { AllocationMemory } from './memory.ts';
import type { AllocationSettings } from './settings.ts';

/** What became of an attempt. */
export type AllocationAttempt =
  | { readonly kind: 'asked' }
  | { readonly kind: 'blocked'; readonly block: Block }
  | { readonly kind: 'refused'; readonly answer: ReadAnswer }
  | { readonly kind: 'gone' };

/**
 * The only one that resizes pods for allocation. What it has asked for counts from before the request leaves until it
 * is seen to be over.
 */
export interface AllocationActuator {
  /** What a guard has against it at this moment; nothing is sent. */
  objection(decision: ResizeDecision): Block | undefined;
  /** `asked`: the API server took it, or may have. How it ends is seen by {@link review}. */
  send(decision: ResizeDecision, signal: AbortSignal): Promise<AllocationAttempt>;
  /** Looks after what is under way; to be called at every change of such a pod and each second. */
  review(signal: AbortSignal): Promise<void>;
}

export interface AllocationActuatorOptions {
  readonly view: SizingView;
  readonly settings: () => AllocationSettings;
  readonly leadership: () => Leadership;
  readonly history: SizeLog;
  readonly memory: AllocationMemory;
  readonly inFlight: ResizesInFlight;
  /** Of both engines. */
  readonly resizes: () => readonly InFlightResize[];
  readonly evictions: () => readonly InFlightEviction[];
  readonly servesResize: () => boolean | undefined;
  readonly resize: Resize;
  /** A resize on this node ended: it is worth a look. */
  readonly onEnd: (nodeName: string) => void;
  readonly events: Pick<Events, 'onPod'>;
  readonly journal: EngineJournal;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/**
 * Spacing is the business of admission, which knows funding and forced raises; windows are not for shares that move
 * with every burst.
 */
const policy: SizePolicy = { cooldownMillis: 0, allowRecreate: false };

export function createAllocationActuator(options: AllocationActuatorOptions): AllocationActuator {
  const { view, settings, history, memory, inFlight, events, journal, metrics, clock } = options;

  const owed = createOwedWithdrawals({ view, clock, isResizing: (podUid) => inFlight.isResizing(podUid) });

  const context = (): SizeGuardContext => ({
    view,
    settings: settings().size,
    policy,
    leadership: options.leadership(),
    history,
    resizes: options.resizes(),
    evictions: options.evictions(),
    memoryOf: () => undefined,
    isAllocated: () => true,
    servesResize: options.servesResize(),
    now: clock.now(),
  });
  const note = (decision: ResizeDecision, kind: 'done' | 'failed', reason: string, message: string): void => {
    const { workload, pod, why } = decision;
    if (workload === undefined) return;
    journal.record(workloadKey(workload), { kind, reason, message, pod: pod.name, numbers: why.numbers });
  };
  const count = (status: 'asked' | 'done' | 'blocked' | 'refused' | 'withdrawn' | 'superseded' | 'lost'): void =>
    metrics.inc('mbcas_controller_resize_total', { status });

  /** A quota is a matter of the whole namespace, anything else of this pod. */
  const learnRefusal = (
    { pod }: ResizeDecision,
    { reason, message }: Pick<ReadAnswer | Block, 'reason' | 'message'>,
  ) => {
    const now = clock.now();
    const isQuota = reason === 'ResizeQuotaDenied';
    if (isQuota) memory.noteQuotaDenied(pod.namespace, view.quotas(pod.namespace), now);
    else history.recordFailure(pod.uid, now, message);
    const told = renderReason('CPURefused', { pod: pod.name, cause: message });
    events.onPod(pod, { reason: 'CPURefused', message: told, lasts: true, about: reason });
  };

  const inspect = (decision: ResizeDecision): SizeVerdict<ResizeDecision> => {
    const verdict = inspectSize(decision, context());
    if (verdict.kind === 'blocked') {
      count('blocked');
      // As good as a refusal: the agent is to know that the pod keeps what it has, and somebody has to mend it.
      if (verdict.block.reason === 'QuotaWantsAmounts') learnRefusal(decision, verdict.block);
    }
    return verdict;
  };

  const send = async (decision: ResizeDecision, signal: AbortSignal): Promise<AllocationAttempt> => {
    const verdict = inspect(decision);
    if (verdict.kind === 'blocked') return verdict;
    // Counted before the patch leaves: what is decided meanwhile must see it.
    inFlight.begin(decision);
    if (decision.isWithdrawal !== true) history.recordChange(decision.pod.uid, clock.now());
    count('asked');
    const outcome = await options.resize(verdict.approved, signal);
    const end = inFlight.settle(decision, outcome);
    if (end?.kind === 'refused') {
      count('refused');
      learnRefusal(decision, end.answer);
      note(decision, 'failed', end.answer.reason, end.answer.message);
      return { kind: 'refused', answer: end.answer };
    }
    return { kind: outcome.result === 'gone' ? 'gone' : 'asked' };
  };

  const concludeDone = (end: Extract<ResizeEnd, { kind: 'done' }>): void => {
    const { decision, tookMillis, restarted } = end;
    const { pod, why } = decision;
    history.recordSuccess(pod.uid);
    history.recordEffective(pod.uid);
    count('done');
    metrics.observe('mbcas_controller_resize_lag_seconds', {}, tookMillis / 1000);
    if (restarted) {
      memory.noteRestart(pod.uid);
      events.onPod(pod, { reason: 'CPUBreaker', message: renderReason('CPUBreaker', { pod: pod.name }), lasts: true });
    }
    if (decision.isWithdrawal === true) return;
    const reason = decision.isRestore === true ? 'CPURestored' : 'CPUApplied';
    const message =
      reason === 'CPURestored'
        ? renderReason('CPURestored', { pod: pod.name, cause: why.summary })
        : renderReason('CPUApplied', { pod: pod.name, change: why.summary });
    events.onPod(pod, { reason, message, isSeries: true });
    note(decision, 'done', reason, message);
  };

  const takeBack = async (withdrawal: ResizeDecision, signal: AbortSignal): Promise<void> =>
    owed.note(withdrawal, await send(withdrawal, signal));

  /** The node did not grant it: told, remembered for this pod and node, and taken back in the spec as well. */
  const concludeTakenBack = async (
    { decision, answer, nodeName, withdrawal }: Extract<ResizeEnd, { kind: 'taken-back' }>,
    signal: AbortSignal,
  ): Promise<void> => {
    const { pod, changes } = decision;
    history.recordFailure(pod.uid, clock.now(), answer.message);
    count('withdrawn');
    if (nodeName !== undefined && answer.action === 'recreate') {
      history.recordInfeasible(pod.uid, nodeName, { changes, detail: answer.message });
      if (/CPU Manager policy/.test(answer.message)) memory.notePinned(pod.uid);
    }
    const message = renderReason('CPUWithdrawn', { pod: pod.name, cause: answer.message });
    events.onPod(pod, { reason: 'CPUWithdrawn', message, lasts: true, about: answer.reason });
    note(decision, 'failed', 'CPUWithdrawn', message);
    // At once: the node, the scheduler and the quota hold the room for it meanwhile.
    if (withdrawal !== undefined) await takeBack(withdrawal, signal);
  };

  /** What another writer makes of it again and again is not asked for at the pace at which that is undone. */
  const concludeSuperseded = ({ decision, answer }: Extract<ResizeEnd, { kind: 'superseded' }>): void => {
    count('superseded');
    learnRefusal(decision, answer);
    history.recordIneffective(decision.pod.uid, clock.now());
    note(decision, 'failed', answer.reason, answer.message);
  };

  return {
    objection(decision) {
      const verdict = inspect(decision);
      return verdict.kind === 'blocked' ? verdict.block : undefined;
    },
    send,
    async review(signal) {
      for (const end of inFlight.review()) {
        if (end.kind === 'done') concludeDone(end);
        else if (end.kind === 'taken-back') await concludeTakenBack(end, signal);
        else if (end.kind === 'superseded') concludeSuperseded(end);
        else if (end.kind === 'lost') count('lost');
        // It has its CPU; the want of memory is another matter.
        else if (end.kind === 'not-healed') count('done');
        const { namespace, name } = end.decision.pod;
        const nodeName = view.pod(namespace, name)?.pod.nodeName;
        if (nodeName !== undefined) options.onEnd(nodeName);
      }
      for (const withdrawal of owed.due()) await takeBack(withdrawal, signal);
    },
  };
}
