/** One look at one workload: recommend, tell, and apply as the policy says. */

import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import type { LargestNode } from '../../decide/rightsizing/largest-node.ts';
import { type WorkloadOutcome, workloadStatus } from '../../decide/rightsizing/workload-status.ts';
import { takenOver } from '../../lib/past-time.ts';
import { renderReason } from '../../lib/reasons.ts';
import { parseTime } from '../../lib/rfc3339.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import { keyOfNewerFormat } from '../../model/kept-format.ts';
import type { ValidPolicy } from '../../model/optimization-policy.ts';
import { optipodBeside } from '../../model/predecessors.ts';
import { sizeManagers } from '../../model/size-managers.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { UsageCollector } from '../../observe/usage/collector-port.ts';
import { type Advised, type AdviseOptions, advise } from './advise.ts';
import { type Annotations, recommendationAnnotations } from './annotate.ts';
import type { ApplyAdvice } from './apply-advice.ts';
import { cappedResult, LOOK_AGAIN_MILLIS } from './apply-result.ts';
import type { WorkloadMemory } from './memory.ts';
import { isForNobody, replicasNote, savingOfAll, toldReplicas } from './one-size.ts';
import type { RightsizingParts } from './parts.ts';
import { createPromisedBeside, type PromisedBesideOptions } from './promised-beside.ts';
import { createTellRecommendation } from './recommended.ts';
import { createSkipReporter, isKeptFromIt } from './report.ts';
import type { ApplyResult, WorkloadResult } from './result.ts';
import { isDryRun } from './settings.ts';
import { createNoteUnread } from './unread.ts';
import { readWatches, watchesText } from './watch-annotation.ts';

export interface WorkloadReconcilerOptions
  extends AdviseOptions,
    Pick<PromisedBesideOptions, 'resizes'>,
    Pick<
      RightsizingParts,
      'settings' | 'memory' | 'sizesNewPods' | 'annotate' | 'events' | 'journal' | 'metrics' | 'clock'
    > {
  readonly view: RightsizingParts['view'];
  readonly usage: UsageCollector;
  readonly applyAdvice: ApplyAdvice;
}

/** Never called twice at a time for one workload. */
export interface WorkloadReconciler {
  reconcile(
    workload: SizedWorkload,
    policy: ValidPolicy,
    largestNode: LargestNode,
    signal: AbortSignal,
  ): Promise<WorkloadResult>;
}

export function createWorkloadReconciler(options: WorkloadReconcilerOptions): WorkloadReconciler {
  const { view, usage, settings, applyAdvice, annotate, clock } = options;
  const report = createSkipReporter(options);
  const tellRecommendation = createTellRecommendation(options);
  const noteUnread = createNoteUnread();
  const promisedBeside = createPromisedBeside({
    ...options,
    actingOn(uid) {
      const known = options.memory.known(uid);
      return known && applyAdvice.isActing(known) ? known : undefined;
    },
  });

  /** @returns why it could not be written. */
  const write = async (
    workload: SizedWorkload,
    memory: WorkloadMemory,
    wanted: Annotations,
    signal: AbortSignal,
  ): Promise<ApplyResult | undefined> => {
    const outcome = await annotate(workload, wanted, signal);
    if (outcome.result === 'written') memory.annotations.note(wanted, clock.now());
    if (outcome.result !== 'forbidden' && outcome.result !== 'failed') return undefined;
    const isForbidden = outcome.result === 'forbidden';
    const reason = isForbidden ? 'RBACError' : 'UpdateFailed';
    const message = renderReason(reason, { ...workload, cause: outcome.message });
    return { status: 'Error', reason, message, isForbidden };
  };

  /** @returns the workload with what went with the whole object, and why that could not be written again. */
  const withKept = async (
    workload: SizedWorkload,
    { spec: { mode } }: ValidPolicy,
    memory: WorkloadMemory,
    signal: AbortSignal,
  ): Promise<{ readonly workload: SizedWorkload; readonly unkept?: ApplyResult | undefined }> => {
    const isWriting = mode === 'Auto' && !isDryRun(settings());
    const lost = isWriting ? memory.annotations.lostOf(workload) : undefined;
    if (lost === undefined) return { workload };
    const failed = await write(workload, memory, lost, signal);
    const unkept = failed && { ...failed, againAfterMillis: LOOK_AGAIN_MILLIS };
    return { workload: { ...workload, annotations: { ...workload.annotations, ...lost } }, unkept };
  };

  return {
    async reconcile(found, policy, largestNode, signal) {
      const now = clock.now();
      const memory = options.memory.of(found.uid);
      const { workload, unkept } = await withKept(memory.annotations.putOn(found, now), policy, memory, signal);
      const before = policy.status.workloads?.find((entry) => isSame(entry, workload));
      const told = takenOver(parseTime(workload.annotations[rightsizingKeys.lastApplied]), now);
      const lastApplied = told ?? takenOver(parseTime(before?.lastApplied), now);
      memory.times.resume(lastApplied, before?.lastApplyMethod, told);
      memory.watches.resume(() => readWatches(workload, view.podsOf(workload), now));
      const { problem } = usage.stateOf(workload);
      const { isLong, againAfterMillis } = noteUnread(memory, problem, now, settings().noDataMillis);
      const unread = isLong ? problem?.message : undefined;
      const advised = advise(options, {
        workload,
        spec: policy.spec,
        times: memory.times,
        isActing: applyAdvice.isActing(memory),
        largestNode,
        promises: () => promisedBeside(workload),
        unread,
        now: clock.now(),
      });
      const lastRecommendation = tellRecommendation(advised, policy, memory, before);
      const forNobody = isForNobody(advised);
      const { mode, annotateRecommendations } = policy.spec;
      // Anything else that is written first would look as if somebody had taken away only what is missing.
      const isAnnotated = unkept === undefined && !isDryRun(settings()) && (mode === 'Auto' || annotateRecommendations);
      let forbidden: string | undefined;
      if (isAnnotated && advised.hasUsage && optipodBeside(view, policy.group) === undefined) {
        const wanted = recommendationAnnotations(workload, policy.name, advised.advice, now, forNobody);
        const kept = await write(workload, memory, wanted, signal);
        if (kept?.isForbidden === true) forbidden = kept.message;
      }
      const annotating = (wanted: Annotations): Promise<ApplyResult | undefined> =>
        write(workload, memory, wanted, signal);
      const applied = unkept ?? (await applyAdvice.apply({ advised, policy, memory, annotate: annotating, signal }));
      // What could not be written together with the sizes: a first pod that is watched, and the end of a watch.
      if (mode === 'Auto' && isAnnotated && keyOfNewerFormat(workload.annotations) === undefined)
        await write(
          memory.annotations.putOn(found, clock.now()),
          memory,
          { [rightsizingKeys.watchedChanges]: watchesText(memory.watches) },
          signal,
        );
      memory.annotations.keep(found, clock.now());
      const outcome = outcomeOf(applied, advised, problem?.message);
      if (applied?.isForbidden === true) forbidden ??= applied.message;
      const replicas = toldReplicas(advised);
      if (isKeptFromIt(outcome) && (isLong || outcome.reason !== 'MetricsCollectionFailed'))
        report(workload, outcome, applied?.advice);
      return {
        entry: workloadStatus({
          workload,
          advice: advised.advice,
          outcome,
          lastRecommendation,
          lastApplied: memory.times.lastApplied,
          lastApplyMethod: memory.times.lastMethod,
          replicaSizes: replicasNote(advised, mode !== 'Auto'),
          fieldOwnership: ownsFields(workload),
        }),
        advice: advised.advice,
        saving: savingOfAll(advised),
        ...(replicas && { replicas }),
        ...(forNobody && { isForNobody: true }),
        hasUsage: advised.hasUsage,
        // A workload that has just begun is no reason to doubt the source.
        metricsProblem: unread,
        forbidden,
        failure: outcome.status === 'Error' ? (outcome.message ?? outcome.reason) : undefined,
        againAfterMillis: applied?.againAfterMillis ?? againAfterMillis,
      };
    },
  };
}

/** What applying came to; without it, what keeps the advice from being acted upon. */
function outcomeOf(
  applied: ApplyResult | undefined,
  { workload, advice, hasUsage }: Advised,
  problem: string | undefined,
): WorkloadOutcome {
  if (!hasUsage && applied?.status !== 'Error') {
    if (problem !== undefined) {
      const message = renderReason('MetricsCollectionFailed', { ...workload, cause: problem });
      return { status: 'Skipped', reason: 'MetricsCollectionFailed', message };
    }
    const isStale = advice.some(({ cpu, memory }) => cpu.held === 'Stale' || memory.held === 'Stale');
    const reason = isStale ? 'Stale' : 'NoData';
    return { status: 'Skipped', reason, message: renderReason(reason, { what: 'any container' }) };
  }
  return applied ?? { status: 'Recommended', ...cappedResult(advice) };
}

/** Whether the template's sizes are ours by server-side apply; not told where they never were. */
function ownsFields({ templateManagers }: SizedWorkload): true | undefined {
  return Object.values(templateManagers).some((managers) => managers.includes(sizeManagers.rightsizing)) || undefined;
}

function isSame(entry: WorkloadRef, workload: SizedWorkload): boolean {
  return entry.name === workload.name && entry.namespace === workload.namespace && entry.kind === workload.kind;
}
