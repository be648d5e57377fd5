/**
 * The resizes that were asked for and are not over: what guards count, and what is to be done when one ends or gets
 * stuck.
 */

import type { ReadAnswer } from '../act/resize-answers.ts';
import { answer } from '../act/resize-answers.ts';
import type { ResizeOutcome } from '../act/resize-outcome.ts';
import type { ResizeDecision, SizingEngine } from '../decide/size-decision.ts';
import type { InFlightResize } from '../guard/size/context.ts';
import type { Clock } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';
import { isInForce, notInForce } from '../model/granted-size.ts';
import { changesOf, resourcesOf, type SizedResource } from '../model/pod-size.ts';
import { podRef, workloadRef } from '../model/refs.ts';
import { restartedContainer } from '../model/restart-on-resize.ts';
import { otherResizer, sizeManagers } from '../model/size-managers.ts';
import type { PodSizing } from '../model/sizing-records.ts';
import type { SizedPod, SizingView } from '../model/sizing-view.ts';
import {
  type FollowedResize,
  type ResizeDeadlines,
  type RestartsByContainer,
  standingOf,
  verdictOn,
  withdrawalOf,
} from './follow-resize.ts';

/** How a resize ended. */
export type ResizeEnd = { readonly decision: ResizeDecision } & (
  | {
      readonly kind: 'done';
      readonly tookMillis: Millis;
      /** A container restarted meanwhile, and not for want of memory: in place was not without a restart. */
      readonly restarted: boolean;
    }
  | { readonly kind: 'gone' }
  /** It never reached the API server. */
  | { readonly kind: 'lost'; readonly tookMillis: Millis }
  /** Another size took its place. Once is nobody's fault; again and again it is a fight with another writer. */
  | { readonly kind: 'superseded'; readonly tookMillis: Millis; readonly answer: ReadAnswer }
  /** The API server refused it. */
  | { readonly kind: 'refused'; readonly answer: ReadAnswer; readonly retryAfterMillis: Millis | undefined }
  /** The node did not grant it. */
  | {
      readonly kind: 'taken-back';
      readonly tookMillis: Millis;
      readonly answer: ReadAnswer;
      readonly nodeName: string | undefined;
      /** To be inspected and sent at once; undefined where nothing is left to take back. */
      readonly withdrawal: ResizeDecision | undefined;
    }
  /**
   * Done by the book, and the container ended for want of memory all the same: the kubelet may have left the pod's
   * cgroup at its old size (kubernetes#138760; rightsizing bug 15). Only a new pod helps.
   */
  | { readonly kind: 'not-healed'; readonly tookMillis: Millis; readonly answer: ReadAnswer }
);

/** Of one engine in this process; at most one resize a pod. */
export interface ResizesInFlight {
  /** For guards: every resize that may still change something. */
  list(): readonly InFlightResize[];
  isResizing(podUid: string): boolean;
  /**
   * Call before the patch is sent: from then on it counts, so what is decided while the answer is waited for sees it. A
   * later resize of the same pod takes the place of the earlier one.
   */
  begin(decision: ResizeDecision): void;
  /**
   * Call with the answer of the API server.
   * @returns the end, where the answer is one. An answer that leaves open whether the change was made ends nothing.
   */
  settle(decision: ResizeDecision, outcome: ResizeOutcome): ResizeEnd | undefined;
  /**
   * Looks at every pod with a resize under way, and answers which have ended. Cheap: call it at every change of such a
   * pod, and each second.
   */
  review(): readonly ResizeEnd[];
  /**
   * Takes over what a predecessor left under way, so that it counts, and is taken back in time too. Known by its field
   * manager and by what the pod still waits for; when it began is not known, so its deadlines begin now.
   * @returns what was taken over.
   */
  adopt(): readonly ResizeDecision[];
}

export interface ResizesInFlightOptions {
  readonly view: SizingView;
  readonly clock: Clock;
  readonly deadlines: (engine: SizingEngine) => ResizeDeadlines;
  /** Takes over only what this engine left behind; left out, what any did. */
  readonly engine?: SizingEngine;
}

/**
 * How long a pod that ran out of memory again and again must run after its resize to be believed (kubernetes#138760).
 */
const HEAL_MILLIS: Millis = 120_000;

export function createResizesInFlight(options: ResizesInFlightOptions): ResizesInFlight {
  const { view, clock, deadlines } = options;
  const followed = new Map<string, FollowedResize>();
  /** Done, of pods that were in an OOM loop; they count for no guard any more. */
  const healing = new Map<
    string,
    FollowedResize & { readonly doneAt: number; readonly restartsBefore: RestartsByContainer }
  >();

  const find = ({ pod }: InFlightResize): SizedPod | undefined => view.pod(pod.namespace, pod.name);

  /** @returns its end; undefined while it goes on, or while its pod has still to prove that it is well. */
  const end = (resize: FollowedResize, found: SizedPod | undefined): ResizeEnd | undefined => {
    const { decision } = resize;
    const now = clock.now();
    const standing = standingOf(resize, found);
    const stateSince = standing.kind === resize.state ? resize.stateSince : now;
    const { silenceMillis, ...others } = deadlines(decision.engine);
    // A container that ends for it has the time that its pod gives it.
    const patience = silenceMillis + (standing.kind === 'under-way' ? resize.graceMillis : 0);
    const verdict = verdictOn(standing, stateSince, now, { ...others, silenceMillis: patience });
    if (verdict === undefined) {
      if (standing.kind !== resize.state) followed.set(resize.pod.uid, { ...resize, state: standing.kind, stateSince });
      return undefined;
    }
    followed.delete(resize.pod.uid);
    const tookMillis = now - resize.since;
    if (verdict.kind === 'take-back') {
      const withdrawal =
        found === undefined || decision.isWithdrawal === true
          ? undefined
          : withdrawalOf(found, decision, verdict.answer.message);
      const nodeName = found?.pod.nodeName;
      return { kind: 'taken-back', decision, tookMillis, answer: verdict.answer, nodeName, withdrawal };
    }
    if (verdict.kind === 'superseded') return { kind: 'superseded', decision, tookMillis, answer: verdict.answer };
    if (verdict.kind === 'lost') return { kind: 'lost', decision, tookMillis };
    if (verdict.kind === 'gone' || found === undefined) return { kind: 'gone', decision };
    if (isOomLooping(found.sizing)) {
      healing.set(resize.pod.uid, { ...resize, doneAt: now, restartsBefore: restartsByContainer(found.sizing) });
      return undefined;
    }
    return done(resize, found.sizing, now);
  };

  const done = (resize: FollowedResize, sizing: PodSizing, at: number): ResizeEnd => ({
    kind: 'done',
    decision: resize.decision,
    tookMillis: at - resize.since,
    restarted: hasRestarted(sizing, resize.restarts),
  });

  /** Pods that were resized in an OOM loop, until they have run for a while or end again. */
  const reviewHealing = (): readonly ResizeEnd[] =>
    [...healing].flatMap(([uid, resize]): ResizeEnd[] => {
      const { decision } = resize;
      const found = find(resize);
      if (found?.pod.uid !== uid) {
        healing.delete(uid);
        return [{ kind: 'gone', decision }];
      }
      // Of that very container: its last end stays told when another one restarts for a reason of its own.
      const kill = found.sizing.statuses.find(
        ({ name, restartCount, lastTermination }) =>
          lastTermination?.reason === 'OOMKilled' && restartCount > (resize.restartsBefore.get(name) ?? 0),
      );
      if (kill !== undefined) {
        healing.delete(uid);
        const cause = `${kill.name} was ended for want of memory again, with its new size in force`;
        const tookMillis = clock.now() - resize.since;
        return [{ kind: 'not-healed', decision, tookMillis, answer: answer('ResizeInCrashLoop', 'recreate', cause) }];
      }
      const isWell = found.sizing.statuses.every(({ running }) => running);
      if (!isWell || clock.now() - resize.doneAt < HEAL_MILLIS) return [];
      healing.delete(uid);
      return [done(resize, found.sizing, resize.doneAt)];
    });

  const begin = (decision: ResizeDecision, found = view.pod(decision.pod.namespace, decision.pod.name)): void => {
    const now = clock.now();
    healing.delete(decision.pod.uid);
    followed.set(decision.pod.uid, {
      decision,
      pod: decision.pod,
      engine: decision.engine,
      changes: decision.changes,
      since: now,
      generation: undefined,
      state: 'unseen',
      stateSince: now,
      restarts: found === undefined ? new Map() : restartsByContainer(found.sizing),
      graceMillis: found === undefined ? 0 : graceFor(decision, found),
    });
  };

  return {
    list: () => [...followed.values()],
    isResizing: (podUid) => followed.has(podUid),
    begin: (decision) => begin(decision),
    settle(decision, outcome) {
      const { uid } = decision.pod;
      const resize = followed.get(uid);
      if (resize?.decision !== decision) return undefined;
      if (outcome.result === 'accepted') {
        followed.set(uid, { ...resize, generation: outcome.generation });
        return undefined;
      }
      // What may have been made goes on counting until the view tells.
      if (outcome.result === 'gone' || !outcome.isUncertain) followed.delete(uid);
      if (outcome.result === 'gone') return { kind: 'gone', decision };
      const { action, reason, message, advice, retryAfterMillis } = outcome;
      return { kind: 'refused', decision, answer: { action, reason, message, advice }, retryAfterMillis };
    },
    review: () => [...[...followed.values()].flatMap((resize) => end(resize, find(resize)) ?? []), ...reviewHealing()],
    adopt() {
      const adopted: ResizeDecision[] = [];
      for (const found of everyPod(view)) {
        const decision = followed.has(found.pod.uid) ? undefined : leftBehind(found, view, options.engine);
        if (decision === undefined) continue;
        begin(decision, found);
        adopted.push(decision);
      }
      return adopted;
    },
  };
}

/** By workloads, as nodes may not be ours to read; and by nodes, as some pods are nobody's. Most are told twice. */
function* everyPod(view: SizingView): Generator<SizedPod> {
  for (const workload of view.workloads()) yield* view.podsOf(workload);
  for (const { name } of view.nodes()) yield* view.podsOnNode(name);
}

function graceFor({ changes }: ResizeDecision, { pod, sizing }: SizedPod): Millis {
  return restartedContainer(sizing.containers, changes) === undefined ? 0 : pod.template.terminationGraceSeconds * 1000;
}

/** What is killed for want of memory would have been without a resize. Counts only ever grow within the life of a pod. */
function hasRestarted({ statuses }: PodSizing, before: RestartsByContainer): boolean {
  return statuses.some(
    ({ name, restartCount, lastTermination }) =>
      restartCount > (before.get(name) ?? 0) && lastTermination?.reason !== 'OOMKilled',
  );
}

/**
 * The next start of one that waits for it in CrashLoopBackOff is counted already: the end that it follows was before,
 * and is still told as its last one.
 */
function restartsByContainer({ statuses }: PodSizing): RestartsByContainer {
  return new Map(statuses.map(({ name, restartCount, running }) => [name, running ? restartCount : restartCount + 1]));
}

/** More than one end for want of memory: one can be a matter of chance. */
function isOomLooping({ statuses }: PodSizing): boolean {
  return statuses.some(
    ({ restartCount, lastTermination }) => restartCount >= 2 && lastTermination?.reason === 'OOMKilled',
  );
}

/** The resize of ours that a pod still waits for, as a decision: the sizes its spec asks for. */
function leftBehind(
  { pod, sizing }: SizedPod,
  view: SizingView,
  only: SizingEngine | undefined,
): ResizeDecision | undefined {
  const asked = sizing.containers.map(({ name, size }) => ({ container: name, to: size }));
  const { resize, generation, observedGeneration } = sizing;
  // The kubelet has not looked at it yet: no condition tells of it.
  const isUnread = observedGeneration !== undefined && observedGeneration < generation && !isInForce(sizing, asked);
  if (resize.pending === undefined && resize.inProgress === undefined && !isUnread) return undefined;
  // Where both have sized the pod: memory is rightsizing's alone, and what CPU is asked for is allocation's as a rule.
  const missing = resourcesOf(notInForce(sizing, asked));
  const first = missing.has('memory')
    ? (['rightsizing', 'allocation'] as const)
    : (['allocation', 'rightsizing'] as const);
  const engine = first.find((each) => sizing.sizeManagers.includes(sizeManagers[each]));
  if (engine === undefined || (only !== undefined && engine !== only)) return undefined;
  // Whose word was the last is not told, and what another writer asks for is not ours to take back.
  if (otherResizer(sizing) !== undefined) return undefined;
  const workload = view.workloadOf(pod);
  return {
    kind: 'resize',
    engine,
    workload: workload && workloadRef(workload),
    workloadUid: workload?.uid,
    pod: podRef(pod),
    changes: changesOf(asked, ownResources(engine, missing)),
    why: { summary: 'asked for before this replica led', numbers: {} },
  };
}

/** What an engine may have asked for of what is missing; of all it writes where all is in force but for rounding. */
function ownResources(engine: SizingEngine, missing: ReadonlySet<SizedResource>): ReadonlySet<SizedResource> {
  if (engine === 'allocation') return new Set(['cpu']);
  return missing.size > 0 ? missing : new Set(['cpu', 'memory']);
}
