/**
 * Replaces pods one by one with such of another size: picks the first that may go, and judges what came of the last
 * one.
 */

import { describeChanges } from '../../decide/rightsizing/due-changes.ts';
import type { DriftedPod } from '../../decide/rightsizing/pod-drift.ts';
import { isRather } from '../../decide/rightsizing/rather-size.ts';
import { touches } from '../../decide/rightsizing/side-by-side.ts';
import type { EvictToResizeDecision } from '../../decide/size-decision.ts';
import { ADMISSION, type SizeLog } from '../../guard/size/size-history.ts';
import { type ReasonName, renderReason } from '../../lib/reasons.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { applyChanges, sizeKeys, sizeOfContainer, sumOf } from '../../model/pod-size.ts';
import { isBeingKilled } from '../../model/recent-kill.ts';
import { podRef, workloadRef } from '../../model/refs.ts';
import { noUse, quotaGrowth, quotaProblem } from '../../model/size-bounds.ts';
import { otherResizer } from '../../model/size-managers.ts';
import type { ContainerSpecRecord, QuotaRecord } from '../../model/sizing-records.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { SizeActuator } from './actuator.ts';
import type { ApplyContext } from './apply.ts';
import type { WorkloadMemory } from './memory.ts';
import type { RightsizingParts } from './parts.ts';
import type { AttemptOutcome } from './result.ts';

/** Of several pods the first whose objection is worth telling. */
export interface TriedEviction {
  readonly decision: EvictToResizeDecision;
  readonly attempt: AttemptOutcome;
}

/** Keeps which pods there were at the last eviction; at most one pod a call. */
export interface PodReplacement {
  /** Asks for the first of the pods that may go; undefined where there is none. */
  evictOne(context: ApplyContext, drifted: readonly DriftedPod[]): Promise<TriedEviction | undefined>;
  /** The same, but asks the guards only. */
  tryOne(context: ApplyContext, drifted: readonly DriftedPod[]): Promise<TriedEviction | undefined>;
  /**
   * What became of the last eviction, once a pod made after it is seen. A replacement that is among `drifted` was not
   * admitted through the webhook; without this it would be evicted for ever (rightsizing bug 9).
   */
  judgeLast(context: ApplyContext, drifted: readonly DriftedPod[]): void;
}

export interface PodReplacementOptions extends Pick<RightsizingParts, 'events' | 'journal' | 'clock'> {
  readonly view: Pick<SizingView, 'quotas'>;
  readonly actuator: Pick<SizeActuator, 'evict' | 'tryEviction'>;
  readonly history: Pick<SizeLog, 'recordIneffective' | 'recordEffective' | 'recordFailure' | 'recordSuccess'>;
}

/** Objections that are about one pod only: another may go. Any other is about the workload or the whole cluster. */
const ofOnePod: ReadonlySet<ReasonName> = new Set([
  'Protected',
  'NodeLeaving',
  'NodeNotReady',
  'NoRoomOnSide',
  'AlreadyThatSize',
  'OtherResizer',
  'OnDemandFloor',
]);

export function createPodReplacement({
  view,
  actuator,
  history,
  events,
  journal,
  clock,
}: PodReplacementOptions): PodReplacement {
  /** Uids of the pods there were then, and what was in force, until a pod made after it is seen. */
  const lastEviction = new WeakMap<
    WorkloadMemory,
    { readonly podUids: ReadonlySet<string>; readonly revision: number }
  >();

  const tell = (
    { advised: { workload, pods }, live, memory }: ApplyContext,
    decision: EvictToResizeDecision,
    of: number,
  ) => {
    lastEviction.set(memory, { podUids: new Set(pods.map(({ pod }) => pod.uid)), revision: memory.times.revision });
    const message = evictedMessage(decision);
    events.onWorkload(workload, { reason: 'EvictedToResize', message });
    const numbers = { differing: of, pods: live.length };
    const pod = decision.pod.name;
    journal.record(workloadKey(workload), { kind: 'done', reason: 'EvictedToResize', message, pod, numbers });
  };

  const isKilled = ({ pod }: DriftedPod): boolean => isBeingKilled(pod.sizing, clock.now());

  /** In a rollout, and where a quota keeps its room, the guards let none go but who is killed for want of memory. */
  const inTurn = (drifted: readonly DriftedPod[]): readonly DriftedPod[] =>
    drifted.toSorted((a, b) => Number(isKilled(b)) - Number(isKilled(a)));

  const firstThatMay = async (
    context: ApplyContext,
    drifted: readonly DriftedPod[],
    ask: (decision: EvictToResizeDecision) => AttemptOutcome | Promise<AttemptOutcome>,
  ): Promise<TriedEviction | undefined> => {
    let first: TriedEviction | undefined;
    for (const each of inTurn(drifted)) {
      const decision = decisionFor(context, each);
      const attempt = await ask(decision);
      if (attempt.kind !== 'blocked') return { decision, attempt };
      first ??= { decision, attempt };
      if (!ofOnePod.has(attempt.block.reason)) break;
    }
    return first;
  };

  return {
    async evictOne(context, drifted) {
      const { policy, signal } = context;
      const tried = await firstThatMay(context, drifted, (decision) => actuator.evict(decision, policy.spec, signal));
      if (tried?.attempt.kind === 'asked') tell(context, tried.decision, drifted.length);
      return tried;
    },
    tryOne: (context, drifted) =>
      firstThatMay(context, drifted, (decision) => actuator.tryEviction(decision, context.policy.spec)),
    judgeLast({ advised: { workload }, live, memory }, drifted) {
      const last = lastEviction.get(memory);
      // Not by times: pods are dated by another clock. One that somebody else sizes does not show how it was admitted.
      const newer = live.filter(
        ({ pod, sizing }) => last?.podUids.has(pod.uid) === false && otherResizer(sizing) === undefined,
      );
      if (newer.length === 0) return;
      lastEviction.delete(memory);
      // A replacement that was made before has what was in force then: that says nothing about admission.
      if (last?.revision !== memory.times.revision) return;
      const missed = drifted.find((each) => newer.some(({ pod }) => pod.uid === each.pod.pod.uid));
      if (missed === undefined) {
        history.recordEffective(workload.uid);
        for (const target of [workload.uid, ADMISSION]) history.recordSuccess(target);
        return;
      }
      const isPassedBy = isOfTemplate(missed, workload.containers);
      const quota = isPassedBy ? tooSmallQuota(view.quotas(workload.namespace), missed) : undefined;
      const what = isPassedBy
        ? `the size of the template${quota === undefined ? '' : `: ResourceQuota ${quota} has no room for more`}`
        : 'another size than the one in force: somebody else changes it';
      const cause = `the new pod ${missed.pod.pod.name} was admitted with ${what}`;
      history.recordFailure(workload.uid, clock.now(), cause);
      // Nor would those of other workloads be given theirs, until one is seen that was; but for want of room admission
      // itself leaves a pod as it was sent.
      if (isPassedBy && quota === undefined) history.recordFailure(ADMISSION, clock.now(), cause);
      history.recordIneffective(workload.uid, clock.now());
    },
  };
}

/** The name of one that has no room for the pod to have what is in force. */
function tooSmallQuota(quotas: readonly QuotaRecord[], { pod: { sizing }, changes }: DriftedPod): string | undefined {
  const { containers, statuses } = sizing;
  const more = quotaGrowth(containers, applyChanges(containers, changes), statuses);
  return quotaProblem(quotas, sizing, more, noUse)?.name;
}

/** In some amount the pod is rather as the template has it than as it was to be. */
function isOfTemplate({ pod: { sizing }, changes }: DriftedPod, template: readonly ContainerSpecRecord[]): boolean {
  return changes.some(({ container, to }) => {
    const has = sizeOfContainer(sizing.containers, container) ?? {};
    const original = sizeOfContainer(template, container) ?? {};
    return sizeKeys.some((key) => {
      const wanted = to[key];
      return wanted !== undefined && !isRather(has[key], wanted, original[key]);
    });
  });
}

export function evictedMessage({ pod, why }: EvictToResizeDecision): string {
  return renderReason('EvictedToResize', { pod: pod.name, changes: why.summary });
}

function decisionFor(
  { advised: { workload }, memory }: ApplyContext,
  { pod, changes }: DriftedPod,
): EvictToResizeDecision {
  const before = pod.sizing.containers;
  return {
    kind: 'evict-to-resize',
    engine: 'rightsizing',
    workload: workloadRef(workload),
    workloadUid: workload.uid,
    pod: podRef(pod.pod),
    changes,
    isRestore: memory.watches.takenBack.some((part) => touches({ changes }, part)),
    growth: growthOf(before, applyChanges(before, changes)),
    why: { summary: describeChanges(changes, before), numbers: {} },
  };
}

/** Of requests, by which room is proved before a pod goes; negative where it shrinks. */
function growthOf(
  before: readonly ContainerSpecRecord[],
  after: readonly ContainerSpecRecord[],
): EvictToResizeDecision['growth'] {
  const more = (key: 'cpuRequest' | 'memoryRequest'): number => sumOf(after, key) - sumOf(before, key);
  return { cpuMillis: more('cpuRequest'), memoryBytes: more('memoryRequest') };
}
