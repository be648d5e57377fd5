/**
 * Carries out changes of size: asks the guards, acts, follows each resize to its end, and remembers what came to
 * nothing.
 */
import type { EngineJournal } from '../../act/journal.ts';
import type { Resize } from '../../act/resize.ts';
import type { ReadAnswer } from '../../act/resize-answers.ts';
import type { Retemplate } from '../../act/retemplate.ts';
import type { ResizeDecision, RetemplateDecision } from '../../decide/size-decision.ts';
import type { Leadership } from '../../guard/context.ts';
import type { InFlightResize, SizeGuardContext, SizePolicy } from '../../guard/size/context.ts';
import { inspectSize } from '../../guard/size/inspect-size.ts';
import type { SizeLog } from '../../guard/size/size-history.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { type WorkloadRef, workloadKey } from '../../model/cluster-view.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import type { UsageCollector } from '../../observe/usage/collector-port.ts';
import { adoptSizeDisruptions } from '../adopt-disruptions.ts';
import type { DisruptionTurns } from '../disruption-turns.ts';
import type { Disruptions } from '../disruptions.ts';
import type { ResizeEnd, ResizesInFlight } from '../resizes-in-flight.ts';
import { createGuardedEviction, type GuardedEviction } from './guarded-eviction.ts';
import { createMemoryUse } from './memory-use.ts';
import { askForPlace } from './place.ts';
import { createRestartsInPlace } from './restarts-in-place.ts';
import type { AttemptOutcome } from './result.ts';
import { reviewRollouts } from './review-rollouts.ts';
import type { RightsizingSettings } from './settings.ts';

export interface SizeActuator extends GuardedEviction {
  /**
   * Resizes one pod in place. `asked` means that the API server took it; how it ends shows in {@link needsNewPods},
   * {@link lacksRoom} and the history, and `onEnd` wakes the workload.
   */
  resize(decision: ResizeDecision, spec: PolicySpec, signal: AbortSignal): Promise<AttemptOutcome>;
  /**
   * Changes the template of one workload, which rolls it out: a place of the budget until the view shows the rollout
   * ended.
   */
  retemplate(decision: RetemplateDecision, spec: PolicySpec, signal: AbortSignal): Promise<AttemptOutcome>;
  /** Asks the guards only, and reserves a place. `asked`: nothing objects. */
  tryRetemplate(decision: RetemplateDecision, spec: PolicySpec): AttemptOutcome;
  isResizing(podUid: string): boolean;
  /**
   * Why the workload's pods cannot have what was asked for in place; undefined: nothing is known against it. Forgotten
   * after an hour, and when the template is changed.
   */
  needsNewPods(workloadUid: string): string | undefined;
  /**
   * Its node deferred what the pod was to have until that was taken back; for an hour, or until a resize of it is done.
   */
  lacksRoom(podUid: string): boolean;
  /** Takes over what the last leader had under way and follows all resizes, once a second, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface SizeActuatorOptions {
  readonly view: SizingView;
  readonly usage: Pick<UsageCollector, 'profileOf' | 'stateOf'>;
  readonly settings: () => RightsizingSettings;
  readonly leadership: () => Leadership;
  readonly history: SizeLog;
  readonly inFlight: ResizesInFlight;
  readonly disruptions: Disruptions;
  readonly isAllocated: (pod: SizedPod) => boolean;
  /** Of the other engine, under way. */
  readonly otherResizes: () => readonly InFlightResize[];
  readonly servesResize: () => boolean | undefined;
  readonly resize: Resize;
  readonly retemplate: Retemplate;
  /** Called when a resize ended: its workload is worth a look. */
  readonly onEnd: (workload: WorkloadRef) => void;
  readonly journal: EngineJournal;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A node answers within seconds; a second more is not noticed. */
const REVIEW_MILLIS: Millis = 1_000;
/** How often what is gone is forgotten. Not at each deletion: pods of a rollout go by the thousand. */
const FORGET_MILLIS: Millis = 600_000;
/** The recommendation keeps the policy's cooldown; this only keeps a pod from being changed twice in one breath. */
const MIN_SPACING_MILLIS: Millis = 10_000;
/**
 * After this time a node may have become another (a new kubelet, an autoscaler's machine), and in place is tried again.
 */
const NEEDS_NEW_PODS_MILLIS: Millis = 3_600_000;

/** How the end of a resize is counted. */
const results = {
  done: 'done',
  superseded: 'superseded',
  'taken-back': 'withdrawn',
  'not-healed': 'failed',
  lost: 'failed',
} as const;

export function createSizeActuator(options: SizeActuatorOptions): SizeActuator {
  const { view, usage, settings, leadership, disruptions, history, inFlight, journal, metrics, clock, log } = options;
  const newPods = new Map<string, { readonly cause: string; readonly at: EpochMillis }>();
  /** When pods were last refused room by their node. */
  const deferred = new Map<string, EpochMillis>();
  const restarts = createRestartsInPlace({ view, disruptions, clock });

  const memoryOf = createMemoryUse({ view, usage, clock });

  const contextFor = (policy: SizePolicy, workloadUid?: string): SizeGuardContext => ({
    view,
    settings: settings().size,
    policy,
    leadership: leadership(),
    history,
    resizes: [...inFlight.list(), ...options.otherResizes()],
    evictions: disruptions.list(),
    disruption: workloadUid === undefined ? undefined : disruptions.stateOf(workloadUid),
    memoryOf,
    isAllocated: options.isAllocated,
    servesResize: options.servesResize(),
    now: clock.now(),
  });

  const policyOf = ({ updates }: PolicySpec): SizePolicy => ({
    window: updates.window,
    cooldownMillis: Math.min(updates.cooldownMillis, MIN_SPACING_MILLIS),
    allowRecreate: updates.allowRecreate,
  });

  /**
   * So a pod is refused of which no container runs at that instant, as well as one whose kubelet cannot; that it can was
   * seen before it was asked for.
   */
  const endedMeanwhile = ({ namespace, name }: ResizeDecision['pod'], reason: string): boolean =>
    reason === 'ResizeNotOnNode' &&
    view.pod(namespace, name)?.sizing.statuses.some(({ restartCount }) => restartCount > 0) === true;

  /** The API server said no. @param isPassing it need not have been a moment later. */
  const noteRefusal = (
    uid: string,
    workloadUid: string | undefined,
    { action, message }: ReadAnswer,
    isPassing = false,
  ): void => {
    const now = clock.now();
    history.recordFailure(uid, now, message);
    if (workloadUid === undefined) return;
    if (action === 'recreate' && !isPassing) newPods.set(workloadUid, { cause: message, at: now });
    if (action === 'give-up') history.recordIneffective(workloadUid, now);
  };

  // The order of the four steps is the safety of it: what counts (in flight, a place for a restart, the spacing) is
  // entered before the request leaves, so that whatever is decided while the answer is waited for sees it.
  const send = async (decision: ResizeDecision, policy: SizePolicy, signal: AbortSignal): Promise<AttemptOutcome> => {
    const isRestart = restarts.takesPlace(decision);
    const found = inspectSize(decision, contextFor(policy, decision.workloadUid));
    const verdict = isRestart ? askForPlace(disruptions.turns, decision, found) : found;
    if (verdict.kind === 'blocked') return verdict;
    inFlight.begin(decision);
    restarts.begin(decision);
    if (decision.isWithdrawal !== true) history.recordChange(decision.pod.uid, clock.now());
    const outcome = await options.resize(verdict.approved, signal);
    const end = inFlight.settle(decision, outcome);
    if (end?.kind === 'refused' || outcome.result === 'gone') restarts.end(decision.pod.uid, false);
    if (end?.kind === 'refused') {
      const isPassing = endedMeanwhile(decision.pod, end.answer.reason);
      noteRefusal(decision.pod.uid, decision.workloadUid, end.answer, isPassing);
      return { kind: 'refused', answer: end.answer };
    }
    return outcome.result === 'gone' ? { kind: 'gone' } : { kind: 'asked', tookFrom: [] };
  };

  const inspectTemplate = (decision: RetemplateDecision, spec: PolicySpec, take: DisruptionTurns['take']) => {
    const found = inspectSize(decision, contextFor(policyOf(spec), decision.workloadUid));
    return askForPlace({ take, noteBlocked: disruptions.turns.noteBlocked }, decision, found);
  };

  /** What the end of a resize teaches. A withdrawal is sent at once: the node holds the room meanwhile. */
  const conclude = async (end: ResizeEnd, signal: AbortSignal): Promise<void> => {
    const { decision } = end;
    const { pod, workloadUid, workload } = decision;
    const now = clock.now();
    restarts.end(pod.uid, true);
    if (end.kind === 'done' || end.kind === 'gone') deferred.delete(pod.uid);
    if (end.kind === 'taken-back' && end.answer.reason === 'ResizeDeferred') deferred.set(pod.uid, now);
    if (end.kind !== 'refused' && end.kind !== 'gone')
      metrics.observe('optipod_resize_duration_seconds', { result: results[end.kind] }, end.tookMillis / 1000);
    if (end.kind === 'done') {
      history.recordSuccess(pod.uid);
      history.recordEffective(pod.uid);
      if (workloadUid !== undefined) history.recordEffective(workloadUid);
    } else if (end.kind === 'taken-back' || end.kind === 'not-healed' || end.kind === 'superseded') {
      const { action, reason, message } = end.answer;
      history.recordFailure(pod.uid, now, message);
      history.recordIneffective(pod.uid, now);
      if (workloadUid !== undefined) {
        history.recordIneffective(workloadUid, now);
        if (action === 'recreate') newPods.set(workloadUid, { cause: message, at: now });
      }
      if (end.kind === 'taken-back' && end.nodeName !== undefined && action === 'recreate') {
        history.recordInfeasible(pod.uid, end.nodeName, { changes: decision.changes, detail: message });
      }
      if (workload !== undefined) {
        journal.record(workloadKey(workload), { kind: 'failed', reason, message, pod: pod.name });
      }
      if (end.kind === 'taken-back' && end.withdrawal !== undefined) {
        const result = await send(end.withdrawal, { cooldownMillis: 0, allowRecreate: false }, signal);
        log.info({ pod: pod.name, namespace: pod.namespace, result: result.kind }, 'A resize was taken back');
      }
    }
    if (workload !== undefined) options.onEnd(workload);
  };

  /** What the last leader began goes on counting, and is followed to its end. */
  const takeOver = (): void => {
    const resizes = inFlight.adopt();
    const restarted = resizes.filter((decision) => restarts.adopt(decision));
    const others = adoptSizeDisruptions(view, disruptions, clock.now());
    const taken = { resizes: resizes.length, restarts: restarted.length, otherDisruptions: others };
    if (Object.values(taken).some((count) => count > 0))
      log.info(taken, 'What the last leader had under way was taken over');
  };

  /** Pods are replaced all the time: what was remembered of those that are gone would never end. */
  const forgetGone = (): void => {
    const present = new Set<string>();
    for (const workload of view.workloads()) {
      present.add(workload.uid);
      for (const { pod } of view.podsOf(workload)) present.add(pod.uid);
    }
    history.keepOnly((uid) => present.has(uid));
    for (const memory of [newPods, deferred]) {
      for (const uid of memory.keys()) if (!present.has(uid)) memory.delete(uid);
    }
  };

  return {
    resize: (decision, spec, signal) => send(decision, policyOf(spec), signal),
    tryRetemplate(decision, spec) {
      const verdict = inspectTemplate(decision, spec, disruptions.turns.reserve);
      return verdict.kind === 'blocked' ? verdict : { kind: 'asked', tookFrom: [] };
    },
    async retemplate(decision, spec, signal) {
      const { workloadUid } = decision;
      const verdict = inspectTemplate(decision, spec, disruptions.turns.take);
      if (verdict.kind === 'blocked') return verdict;
      history.recordChange(workloadUid, clock.now());
      // Entered before asking: other workloads decide while this one waits for the answer.
      disruptions.beginRollout(workloadUid);
      const outcome = await options.retemplate(verdict.approved, signal);
      // What may have been written goes on counting until the view tells.
      const isWritten = outcome.result === 'accepted' || (outcome.result !== 'gone' && outcome.isUncertain);
      if (isWritten) disruptions.history.recordDisruption(workloadUid, clock.now());
      else disruptions.endRollout(workloadUid);
      if (outcome.result === 'gone') return { kind: 'gone' };
      if (outcome.result === 'accepted') {
        history.recordSuccess(decision.workloadUid);
        newPods.delete(decision.workloadUid);
        return { kind: 'asked', tookFrom: outcome.tookFrom };
      }
      noteRefusal(decision.workloadUid, undefined, outcome);
      return { kind: 'refused', answer: outcome };
    },
    ...createGuardedEviction({ ...options, contextFor: (spec) => contextFor(policyOf(spec)) }),
    isResizing: (podUid) => inFlight.isResizing(podUid),
    needsNewPods(workloadUid) {
      const known = newPods.get(workloadUid);
      if (known === undefined || clock.now() - known.at < NEEDS_NEW_PODS_MILLIS) return known?.cause;
      newPods.delete(workloadUid);
      return undefined;
    },
    lacksRoom: (podUid) => clock.now() - (deferred.get(podUid) ?? Number.NEGATIVE_INFINITY) < NEEDS_NEW_PODS_MILLIS,
    async run(signal) {
      takeOver();
      let forgetAt = clock.now() + FORGET_MILLIS;
      while (!signal.aborted) {
        if (clock.now() >= forgetAt) {
          forgetGone();
          forgetAt = clock.now() + FORGET_MILLIS;
        }
        // Before the resizes: a place that comes free here may be taken in the same second.
        reviewRollouts(disruptions, view, clock.now());
        for (const end of inFlight.review()) await conclude(end, signal);
        await pause(clock, REVIEW_MILLIS, signal);
      }
    },
  };
}
