/**
 * Applies sizes by new pods without a new template: the sizes in force are written on the workload, where admission reads
 * them, and pods that have others are evicted one at a time.
 */
import type { Journal } from '../act/journal.ts';
import type { RightsizingEvents } from '../act/rightsizing-events.ts';
import { describeChanges, dueChanges } from '../decide/rightsizing/due-changes.ts';
import { type DriftedPod, driftedPods, type ManagedKeys, managedKeys } from '../decide/rightsizing/pod-drift.ts';
import { joinChanges, mayBegin, partsOf, withoutParts } from '../decide/rightsizing/side-by-side.ts';
import { isDecrease, watchChange } from '../decide/rightsizing/watched-change.ts';
import type { EvictToResizeDecision, SizeChange } from '../decide/size-decision.ts';
import type { SizeLog } from '../guard/size/size-history.ts';
import type { Clock } from '../lib/clock.ts';
import { renderReason } from '../lib/reasons.ts';
import type { Millis } from '../lib/units.ts';
import { workloadKey } from '../model/cluster-view.ts';
import { applyChanges, sizeKeys } from '../model/pod-size.ts';
import type { ContainerSpecRecord } from '../model/sizing-records.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import type { SizeActuator } from './rightsizing-actuator.ts';
import { type ApplyContext, appliedKeys, isSizedByUs } from './rightsizing-apply.ts';
import { type Changes, inForceAnnotations } from './rightsizing-change.ts';
import { goOn, type OngoingChange, review } from './rightsizing-memory.ts';
import { outcomeAtRest, outcomeOfAttempt } from './rightsizing-outcome.ts';
import type { ActResult, ApplyResult } from './rightsizing-result.ts';
import type { RightsizingSettings } from './rightsizing-settings.ts';
import { nothingSeen } from './rightsizing-throttling.ts';

export interface EvictToResizeOptions {
  readonly actuator: Pick<SizeActuator, 'evict'>;
  readonly changes: Changes;
  readonly history: Pick<SizeLog, 'recordIneffective' | 'recordEffective' | 'recordFailure'>;
  readonly settings: () => RightsizingSettings;
  readonly isAllocated: (pod: SizedPod) => boolean;
  readonly events: RightsizingEvents;
  readonly journal: Journal;
  readonly clock: Clock;
}

export type EvictToResize = (context: ApplyContext) => Promise<ApplyResult>;

const LOOK_AGAIN_MILLIS: Millis = 5_000;
const WRITTEN_MILLIS: Millis = 1_000;
/** About one pod only: another may go. */
const ofOnePod: ReadonlySet<string> = new Set(['Protected', 'NodeLeaving', 'NoRoomOnSide', 'AlreadyThatSize']);

export function createEvictToResize(options: EvictToResizeOptions): EvictToResize {
  const { actuator, changes, history, settings, isAllocated, events, journal, clock } = options;

  /** Pods that differ from these sizes, those that serve nobody first, then the newest: it has the least to lose. */
  const driftOf = (
    context: ApplyContext,
    sizes: readonly ContainerSpecRecord[],
    to: readonly SizeChange[] = [],
  ): readonly DriftedPod[] => {
    const ours = managedKeys(to, appliedKeys(context));
    return context.live
      .flatMap((pod) => {
        const keys = isSizedByUs(pod) ? everyKey(sizes) : ours;
        // Where allocation shares out the CPU, what a pod requests of it says nothing.
        return driftedPods([pod], sizes, isAllocated(pod) ? withoutCpu(keys) : keys);
      })
      .toSorted(
        (a, b) => Number(a.pod.pod.ready) - Number(b.pod.pod.ready) || b.pod.pod.createdAt - a.pod.pod.createdAt,
      );
  };

  const decisionFor = ({ advised: { workload } }: ApplyContext, { pod, changes: to }: DriftedPod) => {
    const { kind, namespace, name, uid } = workload;
    const before = pod.sizing.containers;
    const summary = describeChanges(to, before);
    return {
      kind: 'evict-to-resize',
      engine: 'rightsizing',
      workload: { kind, namespace, name },
      workloadUid: uid,
      pod: { namespace: pod.pod.namespace, name: pod.pod.name, uid: pod.pod.uid },
      changes: to,
      growth: growthOf(before, applyChanges(before, to)),
      why: { summary, numbers: {} },
    } as const satisfies EvictToResizeDecision;
  };

  /** The first pod that may go. */
  const evictOne = async (
    context: ApplyContext,
    drifted: readonly DriftedPod[],
    isTrial: boolean,
  ): Promise<{ readonly decision: EvictToResizeDecision; readonly attempt: ActResult } | undefined> => {
    let first: { readonly decision: EvictToResizeDecision; readonly attempt: ActResult } | undefined;
    for (const each of drifted) {
      const decision = decisionFor(context, each);
      const attempt = await actuator.evict(decision, context.policy.spec, context.signal, isTrial);
      if (attempt.kind !== 'blocked') return { decision, attempt };
      first ??= { decision, attempt };
      if (!ofOnePod.has(attempt.block.reason)) break;
    }
    return first;
  };

  /** What became of the last eviction: a replacement with the old size was not admitted through the webhook. */
  const judgeLast = ({ advised: { workload }, live, memory }: ApplyContext, drifted: readonly DriftedPod[]): void => {
    const { evictedAt } = memory;
    if (evictedAt === undefined) return;
    // Pods are dated by the second.
    const newer = live.filter(({ pod }) => pod.createdAt >= Math.floor(evictedAt / 1000) * 1000);
    if (newer.length === 0) return;
    memory.evictedAt = undefined;
    const missed = newer.find(({ pod }) => drifted.some((each) => each.pod.pod.uid === pod.uid));
    if (missed === undefined) {
      history.recordEffective(workload.uid);
      return;
    }
    const cause = `the new pod ${missed.pod.name} was admitted with the size of the template`;
    history.recordFailure(workload.uid, clock.now(), cause);
    history.recordIneffective(workload.uid, clock.now());
  };

  const begin = async (context: ApplyContext, due: readonly SizeChange[]): Promise<ApplyResult | undefined> => {
    const { advised, live, memory, policy } = context;
    const { workload, inForce, lessons } = advised;
    const after = applyChanges(inForceNow(context).inForce, due);
    // Nothing is written before the guards agree to what follows from it.
    const trial = await evictOne(context, driftOf(context, after, due), true);
    const kept = trial === undefined ? undefined : outcomeOfAttempt(workload, memory, trial.attempt);
    if (kept !== undefined) return kept;
    const written = await context.annotate(inForceAnnotations(workload, after, lessons, clock.now()));
    if (written !== undefined) return written;
    const watched = watchChange(due, inForce, live, clock.now());
    const phase = isDecrease(watched) && live.length > 1 ? 'canary' : 'spread';
    const change: OngoingChange = { ...watched, method: 'Evict', phase, canary: undefined, throttling: nothingSeen() };
    memory.ongoing = [...withoutParts(memory.ongoing, partsOf(due)), change];
    changes.noteMade(workload, policy, memory, change, 'Recreate', 'Eviction');
    return undefined;
  };

  const takeBack = async (context: ApplyContext): Promise<ApplyResult | undefined> => {
    const { advised, live, memory } = context;
    const { workload, lessons } = advised;
    const { inForce, changed } = inForceNow(context);
    const differ = new Set(driftOf(context, inForce, changed).map(({ pod }) => pod));
    const sized = live.filter((pod) => !differ.has(pod));
    const harms = await changes.judge(context, () => sized);
    if (harms.length === 0) return undefined;
    const noted = changes.noteHarm(workload, memory, harms, { lessons, inForce });
    await context.annotate(inForceAnnotations(workload, noted.inForce, noted.lessons, clock.now()));
    return noted.result;
  };

  /** After a decrease the first new pod is watched for a while before the others go. */
  const watchFirst = ({ live, memory }: ApplyContext, ongoing: OngoingChange, drifted: readonly DriftedPod[]) => {
    const sized = live.filter((pod) => drifted.every((each) => each.pod !== pod));
    const [first] = sized.toSorted((a, b) => a.pod.createdAt - b.pod.createdAt);
    if (first === undefined) return undefined;
    const remaining = Math.max(first.pod.createdAt, ongoing.startedAt) + settings().canaryMillis - clock.now();
    if (remaining <= 0) {
      goOn(memory, ongoing, { ...ongoing, phase: 'spread' });
      return undefined;
    }
    const message = renderReason('CanaryWatched', { pod: first.pod.name });
    return pending('CanaryWatched', message, Math.min(remaining, LOOK_AGAIN_MILLIS));
  };

  return async (context) => {
    const { advised, memory } = context;
    const { workload } = advised;
    const harmed = await takeBack(context);
    if (harmed !== undefined) return harmed;
    const due = workload.isRollingOut ? [] : dueChanges(advised.advice);
    const { raises, decreases } = mayBegin(due, advised.inForce, memory.ongoing, true);
    const beginning = joinChanges([...raises, ...decreases]);
    if (beginning.length > 0) {
      const kept = await begin(context, beginning);
      return kept ?? pending('EvictedToResize', 'the new size is written for the pods to come', WRITTEN_MILLIS);
    }
    const { inForce, changed } = inForceNow(context);
    const drifted = driftOf(context, inForce, changed);
    judgeLast(context, drifted);
    review(memory, drifted.length === 0, clock.now(), settings().revertMillis);
    if (drifted.length === 0) {
      const againAfterMillis = memory.ongoing.length === 0 ? undefined : LOOK_AGAIN_MILLIS;
      if (due.length > 0) {
        return {
          status: 'Pending',
          reason: 'ChangeWatched',
          message: renderReason('ChangeWatched', {}),
          againAfterMillis,
        };
      }
      return { ...outcomeAtRest(advised, memory), againAfterMillis };
    }
    // What admission reads is what the view shows.
    if (memory.written !== undefined)
      return pending('EvictedToResize', 'the new size is being written', WRITTEN_MILLIS);
    const first = memory.ongoing.find(({ phase }) => phase === 'canary');
    const watching = first && watchFirst(context, first, drifted);
    if (watching !== undefined) return watching;
    const tried = await evictOne(context, drifted, false);
    if (tried === undefined) return { status: 'Applied' };
    const kept = outcomeOfAttempt(workload, memory, tried.attempt);
    if (kept !== undefined) return { ...kept, againAfterMillis: kept.againAfterMillis ?? settings().deferredMillis };
    const { pod, why } = tried.decision;
    const message = renderReason('EvictedToResize', { pod: pod.name, changes: why.summary });
    if (tried.attempt.kind === 'asked') {
      memory.evictedAt = clock.now();
      events.onWorkload(workload, { reason: 'EvictedToResize', message });
      const numbers = { differing: drifted.length, pods: context.live.length };
      journal.record(workloadKey(workload), {
        kind: 'done',
        reason: 'EvictedToResize',
        message,
        pod: pod.name,
        numbers,
      });
    }
    return pending('EvictedToResize', message, LOOK_AGAIN_MILLIS);
  };
}

/** The sizes that new pods are given: as written on the workload, and what has just been written. */
function inForceNow({ advised, memory }: ApplyContext) {
  const changed = joinChanges(memory.ongoing.flatMap((each) => each.changes));
  return { inForce: applyChanges(advised.inForce, changed), changed };
}

function everyKey(sizes: readonly ContainerSpecRecord[]): ManagedKeys {
  return new Map(sizes.map(({ name }) => [name, new Set(sizeKeys)]));
}

function withoutCpu(keys: ManagedKeys): ManagedKeys {
  return new Map([...keys].map(([name, own]) => [name, new Set([...own].filter((key) => !key.startsWith('cpu')))]));
}

function growthOf(
  before: readonly ContainerSpecRecord[],
  after: readonly ContainerSpecRecord[],
): EvictToResizeDecision['growth'] {
  const sum = (containers: readonly ContainerSpecRecord[], key: 'cpuRequest' | 'memoryRequest'): number =>
    containers.reduce((total, { size }) => total + (size[key] ?? 0), 0);
  const more = (key: 'cpuRequest' | 'memoryRequest'): number => sum(after, key) - sum(before, key);
  return { cpuMillis: more('cpuRequest'), memoryBytes: more('memoryRequest') };
}

function pending(reason: string, message: string, againAfterMillis: Millis): ApplyResult {
  return { status: 'Pending', reason, message, againAfterMillis };
}
