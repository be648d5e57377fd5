/**
 * Applies sizes to running pods: one pod first, then the others, and back again where a decrease does harm. Which sizes are in
 * force is written on the workload once the first pod has them; from then on any pod that differs is brought in line.
 */
import { describeChanges, dueChanges } from '../decide/rightsizing/due-changes.ts';
import { isDecrease, judgeChange, mayBegin, watchChange, watchMillis } from '../decide/rightsizing/judge-change.ts';
import { driftedPods, type ManagedKeys, managedKeys } from '../decide/rightsizing/pod-drift.ts';
import type { ResizeDecision, SizeChange } from '../decide/size-decision.ts';
import type { Clock } from '../lib/clock.ts';
import { renderReason } from '../lib/reasons.ts';
import type { Millis } from '../lib/units.ts';
import { applyChanges, effectiveChanges, isIncrease, type SizeKey, sizeKeys } from '../model/pod-size.ts';
import type { ContainerSpecRecord } from '../model/sizing-records.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import { isInForce } from './follow-resize.ts';
import type { SizeActuator } from './rightsizing-actuator.ts';
import { type ApplyContext, appliedKeys, isSizedByUs } from './rightsizing-apply.ts';
import { type Changes, inForceAnnotations } from './rightsizing-change.ts';
import type { OngoingChange } from './rightsizing-memory.ts';
import { outcomeAtRest, outcomeOfAttempt } from './rightsizing-outcome.ts';
import type { ApplyResult } from './rightsizing-result.ts';
import type { RightsizingSettings } from './rightsizing-settings.ts';

export interface InPlaceOptions {
  readonly actuator: SizeActuator;
  readonly changes: Changes;
  readonly settings: () => RightsizingSettings;
  readonly isAllocated: (pod: SizedPod) => boolean;
  readonly clock: Clock;
}

export type InPlace = (context: ApplyContext) => Promise<ApplyResult>;

/** What the guard says of a memory limit that would be too near to use. */
const aboutMemory: ReadonlySet<string> = new Set(['MemoryInUse', 'MemoryUseUnknown']);

function withoutMemory(due: readonly SizeChange[]): readonly SizeChange[] {
  return due.flatMap(({ container, to: { memoryRequest: _request, memoryLimit: _limit, ...cpu } }) =>
    Object.keys(cpu).length === 0 ? [] : [{ container, to: cpu }],
  );
}

const LOOK_AGAIN_MILLIS: Millis = 5_000;
/** A pod whose node has no room says nothing about the others. */
const MAX_CANARY_TRIES = 3;

export function createInPlace({ actuator, changes, settings, isAllocated, clock }: InPlaceOptions): InPlace {
  const decisionFor = (
    context: ApplyContext,
    pod: SizedPod,
    to: readonly SizeChange[],
    summary: string,
  ): ResizeDecision => {
    const { kind, namespace, name, uid } = context.advised.workload;
    return {
      kind: 'resize',
      engine: 'rightsizing',
      workload: { kind, namespace, name },
      workloadUid: uid,
      pod: { namespace: pod.pod.namespace, name: pod.pod.name, uid: pod.pod.uid },
      changes: to,
      why: { summary, numbers: {} },
    };
  };

  /** What rightsizing has a say in, of this pod. */
  const managedOf = (context: ApplyContext, pod: SizedPod, more: ManagedKeys): ManagedKeys => {
    const all: ReadonlySet<SizeKey> = new Set(sizeKeys);
    const keys = isSizedByUs(pod) ? new Map(context.advised.inForce.map(({ name }) => [name, all])) : more;
    return isAllocated(pod) ? withoutCpu(keys) : keys;
  };

  /** Brings pods in line, decreases first: they make room for the rest. @returns what keeps one from it. */
  const converge = async (
    context: ApplyContext,
    inForce: readonly ContainerSpecRecord[],
    more: ManagedKeys,
  ): Promise<ApplyResult | undefined> => {
    const { workload } = context.advised;
    if (workload.isRollingOut) return undefined;
    const drifted = context.live.flatMap((pod) => driftedPods([pod], inForce, managedOf(context, pod, more)));
    const rises = ({ pod, changes: to }: (typeof drifted)[number]): boolean =>
      to.some(({ container, to: size }) =>
        isIncrease(pod.sizing.containers.find(({ name }) => name === container)?.size ?? {}, size),
      );
    let kept: ApplyResult | undefined;
    for (const each of [...drifted.filter((one) => !rises(one)), ...drifted.filter(rises)]) {
      if (actuator.isResizing(each.pod.pod.uid)) continue;
      const decision = decisionFor(context, each.pod, each.changes, 'the sizes in force');
      const attempt = await actuator.resize(decision, context.policy.spec, context.signal);
      kept ??= outcomeOfAttempt(workload, context.memory, attempt);
      // The cluster as a whole has to wait: so have the other pods.
      if (attempt.kind === 'blocked' && isGlobal(attempt.block.reason)) break;
    }
    return kept;
  };

  /** Writes the sizes of the change as those in force. */
  const spread = async (context: ApplyContext, change: OngoingChange): Promise<ApplyResult | undefined> => {
    const { advised, memory, policy } = context;
    const { workload, lessons } = advised;
    const written = await context.annotate(inForceAnnotations(workload, change.after, lessons, clock.now()));
    if (written !== undefined) return written;
    change.phase = 'spread';
    changes.noteMade(workload, policy, memory, change, 'InPlace', 'InPlace');
    return undefined;
  };

  const begin = async (context: ApplyContext, due: readonly SizeChange[]): Promise<ApplyResult | undefined> => {
    const { advised, live, memory, policy, signal } = context;
    const { workload, inForce } = advised;
    const now = clock.now();
    const change: OngoingChange = {
      ...watchChange(due, inForce, live, now),
      method: 'InPlace',
      phase: 'canary',
      canary: undefined,
      after: applyChanges(inForce, due),
    };
    if (live.length === 0) {
      memory.ongoing = change;
      return spread(context, change);
    }
    let kept: ApplyResult | undefined;
    for (const pod of canaries(live)) {
      const to = effectiveChanges(pod.sizing.containers, due);
      const attempt =
        to.length === 0
          ? ({ kind: 'asked', tookFrom: [] } as const)
          : await actuator.resize(decisionFor(context, pod, to, describeChanges(due, inForce)), policy.spec, signal);
      if (attempt.kind === 'asked') {
        const { uid, name } = pod.pod;
        memory.ongoing = { ...change, canary: { uid, name, at: clock.now() } };
        if (live.length > 1) return canaryPending(name);
        return spread(context, memory.ongoing);
      }
      kept ??= outcomeOfAttempt(workload, context.memory, attempt);
    }
    const rest = kept?.reason !== undefined && aboutMemory.has(kept.reason) ? withoutMemory(due) : due;
    if (rest.length === 0 || rest === due) return kept;
    // Memory in use holds back what is advised for memory, and nothing else.
    return await begin(context, rest);
  };

  const watchCanary = async (context: ApplyContext, ongoing: OngoingChange): Promise<ApplyResult | undefined> => {
    const { canary } = ongoing;
    const pod = context.live.find(({ pod: { uid } }) => uid === canary?.uid);
    const isAsked = pod !== undefined && effectiveChanges(pod.sizing.containers, ongoing.changes).length === 0;
    if (canary === undefined || pod === undefined || (!isAsked && !actuator.isResizing(pod.pod.uid))) {
      // It is gone, or was not granted: the guards remember why, and another look begins anew.
      context.memory.ongoing = undefined;
      return {
        status: 'Pending',
        reason: 'CanaryWatched',
        message: 'the first pod did not get the new size; it is tried again',
        againAfterMillis: LOOK_AGAIN_MILLIS,
      };
    }
    if (!isAsked || !isInForce(pod.sizing, ongoing.changes)) return canaryPending(canary.name);
    const period = isDecrease(ongoing) ? settings().canaryMillis : 0;
    const remaining = canary.at + period - clock.now();
    if (remaining > 0)
      return { ...canaryPending(canary.name), againAfterMillis: Math.min(remaining, LOOK_AGAIN_MILLIS) };
    return spread(context, ongoing);
  };

  const takeBack = async (context: ApplyContext, ongoing: OngoingChange): Promise<ApplyResult | undefined> => {
    const { advised, live, memory } = context;
    const concerned = ongoing.phase === 'canary' ? live.filter(({ pod }) => pod.uid === ongoing.canary?.uid) : live;
    const harm = judgeChange(ongoing, concerned, clock.now());
    if (harm === undefined) return undefined;
    const { lessons, result } = changes.noteHarm(advised.workload, memory, ongoing, harm, advised.lessons);
    await context.annotate(inForceAnnotations(advised.workload, ongoing.before, lessons, clock.now()));
    await converge(context, ongoing.before, managedKeys(ongoing.changes));
    return result;
  };

  /** Looks after the change under way. @returns what the workload waits for. */
  const attend = async (context: ApplyContext, ongoing: OngoingChange): Promise<ApplyResult | undefined> => {
    const harmed = await takeBack(context, ongoing);
    if (harmed !== undefined) return harmed;
    if (ongoing.phase === 'canary') return watchCanary(context, ongoing);
    if (clock.now() >= ongoing.startedAt + watchMillis(ongoing, settings().revertMillis))
      context.memory.ongoing = undefined;
    return undefined;
  };

  return async (context) => {
    const { advised, memory } = context;
    const waits = memory.ongoing === undefined ? undefined : await attend(context, memory.ongoing);
    if (waits !== undefined) return waits;
    const { isRollingOut, kind, namespace, name } = advised.workload;
    const due = dueChanges(advised.advice);
    if (isRollingOut && due.length > 0) {
      const message = renderReason('TemplateRollout', { workload: `${kind} ${namespace}/${name}` });
      return { status: 'Pending', reason: 'TemplateRollout', message };
    }
    if (due.length > 0 && mayBegin(memory.ongoing, { changes: due, before: advised.inForce })) {
      const kept = await begin(context, due);
      if (kept !== undefined) return kept;
    }
    const change = memory.ongoing;
    const annotated = appliedKeys(context);
    const kept =
      change === undefined
        ? await converge(context, advised.inForce, annotated)
        : await converge(context, change.after, managedKeys(change.changes, annotated));
    if (kept !== undefined) return kept;
    const resizing = context.live.filter(({ pod }) => actuator.isResizing(pod.uid)).length;
    if (resizing > 0) {
      const message = `${resizing} of ${context.live.length} pods are being resized`;
      return { status: 'Pending', reason: 'ResizeInFlight', message, againAfterMillis: LOOK_AGAIN_MILLIS };
    }
    // A decrease is watched until it is behind us.
    const again = change === undefined ? undefined : LOOK_AGAIN_MILLIS;
    return { ...outcomeAtRest(advised, memory), againAfterMillis: again };
  };
}

/** Ready pods first, the newest of them: it has the least to lose. */
function canaries(live: readonly SizedPod[]): readonly SizedPod[] {
  const newestFirst = live.toSorted((a, b) => b.pod.createdAt - a.pod.createdAt);
  const ready = newestFirst.filter(({ pod }) => pod.ready);
  const others = newestFirst.filter(({ pod }) => !pod.ready);
  return [...ready, ...others].slice(0, MAX_CANARY_TRIES);
}

function canaryPending(pod: string): ApplyResult {
  const message = renderReason('CanaryWatched', { pod });
  return { status: 'Pending', reason: 'CanaryWatched', message, againAfterMillis: LOOK_AGAIN_MILLIS };
}

function isGlobal(reason: string): boolean {
  return (
    reason === 'ResizeConcurrency' || reason === 'ChangePace' || reason === 'LeaderWarmup' || reason === 'CachesStale'
  );
}

function withoutCpu(keys: ManagedKeys): ManagedKeys {
  return new Map([...keys].map(([name, own]) => [name, new Set([...own].filter((key) => !key.startsWith('cpu')))]));
}
