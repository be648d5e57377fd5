/** What resizes that were refused or came to nothing have taught: of the guards' history, and of what they cannot see. */
import type { ReadAnswer } from '../../act/resize-answers.ts';
import type { ResizeDecision } from '../../decide/size-decision.ts';
import type { ReasonName } from '../../lib/reasons.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import type { ResizeEnd } from '../resizes-in-flight.ts';
import type { SizeActuatorOptions } from './actuator.ts';

export interface ResizeLessons {
  /** The API server said no. */
  noteRefusal(decision: ResizeDecision, answer: ReadAnswer): void;
  noteEnd(end: ResizeEnd): void;
  /** New pods are on their way. */
  noteNewTemplate(workloadUid: string): void;
  /**
   * Why the workload's pods cannot have what was asked for in place; undefined: nothing is known against it. Forgotten
   * after an hour, and when the template is changed.
   */
  needsNewPods(workloadUid: string): string | undefined;
  /** That is because the API server lowers no memory limits in place: all else may be. */
  keepsMemoryLimits(workloadUid: string): boolean;
  /**
   * That is because a container was killed for want of memory again with more of it: what it was given may not have reached
   * it, or may be too little still.
   */
  keepsDying(workloadUid: string): boolean;
  /**
   * Its node deferred what the pod was to have until that was taken back; for an hour, or until a resize of it is done.
   */
  lacksRoom(podUid: string): boolean;
  /** Pods are replaced all the time: what was remembered of those that are gone would never end. */
  forgetGone(): void;
}

export type ResizeLessonsOptions = Pick<SizeActuatorOptions, 'view' | 'history' | 'journal' | 'clock'>;

/**
 * After this time a node may have become another (a new kubelet, an autoscaler's machine), and in place is tried again.
 */
const REMEMBER_MILLIS: Millis = 3_600_000;

export function createResizeLessons({ view, history, journal, clock }: ResizeLessonsOptions): ResizeLessons {
  const newPods = new Map<string, { readonly cause: string; readonly reason: ReasonName; readonly at: EpochMillis }>();
  /** When pods were last refused room by their node. */
  const deferred = new Map<string, EpochMillis>();

  /**
   * So a pod is refused of which no container runs at that instant, as well as one whose kubelet cannot; that it can was
   * seen before it was asked for.
   */
  const endedMeanwhile = ({ namespace, name }: ResizeDecision['pod'], { reason }: ReadAnswer): boolean =>
    reason === 'ResizeNotOnNode' &&
    view.pod(namespace, name)?.sizing.statuses.some(({ restartCount }) => restartCount > 0) === true;

  const knownOf = (workloadUid: string) => {
    const known = newPods.get(workloadUid);
    if (known === undefined || clock.now() - known.at < REMEMBER_MILLIS) return known;
    newPods.delete(workloadUid);
    return undefined;
  };

  /** The node took it, and it came to nothing there. */
  const noteIneffective = ({ pod, workloadUid, workload }: ResizeDecision, answer: ReadAnswer): void => {
    const { action, reason, message } = answer;
    const now = clock.now();
    history.recordFailure(pod.uid, now, message);
    history.recordIneffective(pod.uid, now);
    if (workloadUid !== undefined) {
      history.recordIneffective(workloadUid, now);
      if (action === 'recreate') newPods.set(workloadUid, { cause: message, reason, at: now });
    }
    if (workload !== undefined) {
      journal.record(workloadKey(workload), { kind: 'failed', reason, message, pod: pod.name });
    }
  };

  return {
    noteRefusal({ pod, workloadUid }, answer) {
      const { action, reason, message } = answer;
      const now = clock.now();
      history.recordFailure(pod.uid, now, message);
      if (workloadUid === undefined) return;
      if (action === 'recreate' && !endedMeanwhile(pod, answer))
        newPods.set(workloadUid, { cause: message, reason, at: now });
      if (action === 'give-up') history.recordIneffective(workloadUid, now);
    },
    noteEnd(end) {
      const { pod, workloadUid, changes } = end.decision;
      // What gives no memory heals nobody that runs out of it, and is in force all the same.
      const isInForce = end.kind === 'done' || (end.kind === 'not-healed' && !isOfMemory(changes));
      if (isInForce || end.kind === 'gone') deferred.delete(pod.uid);
      if (isInForce) {
        history.recordSuccess(pod.uid);
        history.recordEffective(pod.uid);
        if (workloadUid !== undefined) history.recordEffective(workloadUid);
        return;
      }
      if (end.kind !== 'taken-back' && end.kind !== 'not-healed' && end.kind !== 'superseded') return;
      noteIneffective(end.decision, end.answer);
      if (end.kind !== 'taken-back') return;
      const { action, reason, message } = end.answer;
      if (reason === 'ResizeDeferred') deferred.set(pod.uid, clock.now());
      if (end.nodeName !== undefined && action === 'recreate')
        history.recordInfeasible(pod.uid, end.nodeName, { changes, detail: message });
    },
    noteNewTemplate(workloadUid) {
      history.recordSuccess(workloadUid);
      newPods.delete(workloadUid);
    },
    needsNewPods: (workloadUid) => knownOf(workloadUid)?.cause,
    keepsMemoryLimits: (workloadUid) => knownOf(workloadUid)?.reason === 'ResizeMemoryDecreaseRefused',
    keepsDying: (workloadUid) => knownOf(workloadUid)?.reason === 'ResizeInCrashLoop',
    lacksRoom: (podUid) => clock.now() - (deferred.get(podUid) ?? Number.NEGATIVE_INFINITY) < REMEMBER_MILLIS,
    forgetGone() {
      const present = new Set<string>();
      for (const workload of view.workloads()) {
        present.add(workload.uid);
        for (const { pod } of view.podsOf(workload)) present.add(pod.uid);
      }
      history.keepOnly((uid) => present.has(uid));
      for (const known of [newPods, deferred]) {
        for (const uid of known.keys()) if (!present.has(uid)) known.delete(uid);
      }
    },
  };
}

function isOfMemory(changes: readonly SizeChange[]): boolean {
  return changes.some(({ to }) => to.memoryRequest !== undefined || to.memoryLimit !== undefined);
}
