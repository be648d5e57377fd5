/** One look at one workload: recommend, tell, and apply as the policy says. */

import type { Events } from '../../act/events.ts';
import type { EngineJournal } from '../../act/journal.ts';
import type { AnnotateWorkload } from '../../act/workload-annotations.ts';
import { isPaused, rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { chooseMethod } from '../../decide/rightsizing/choose-method.ts';
import { dueChanges } from '../../decide/rightsizing/due-changes.ts';
import type { LargestNode } from '../../decide/rightsizing/largest-node.ts';
import { runningPods } from '../../decide/rightsizing/pod-drift.ts';
import { type WorkloadOutcome, workloadStatus } from '../../decide/rightsizing/workload-status.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { pastTime, takenOver } from '../../lib/past-time.ts';
import { renderReason } from '../../lib/reasons.ts';
import { parseTime } from '../../lib/rfc3339.ts';
import { actingVpa } from '../../model/acting-vpa.ts';
import { writeAppliedSizes } from '../../model/applied-sizes.ts';
import { keyOfNewerFormat } from '../../model/kept-format.ts';
import type { ValidPolicy } from '../../model/optimization-policy.ts';
import { effectiveChanges, qosClassOf } from '../../model/pod-size.ts';
import { optipodBeside } from '../../model/predecessors.ts';
import { restartedContainer } from '../../model/restart-on-resize.ts';
import { sizeManagers } from '../../model/size-managers.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { UsageCollector } from '../../observe/usage/collector-port.ts';
import { type Advised, type AdviseOptions, advise } from './advise.ts';
import { type Annotations, recommendationAnnotations } from './annotate.ts';
import type { ApplySizes } from './apply.ts';
import { cappedResult, LOOK_AGAIN_MILLIS } from './apply-result.ts';
import type { InPlaceProblem } from './in-place-problem.ts';
import { keptText, resumeWatches } from './keep-watch.ts';
import { keptAnnotations, lostAnnotations } from './lost-annotations.ts';
import {
  dropOutlived,
  dropUnspread,
  type RightsizingMemory,
  review,
  type WorkloadMemory,
  withWritten,
} from './memory.ts';
import {
  hasOwnSizes,
  isForNobody,
  replicasNote,
  savingOfAll,
  strandedReplicas,
  toldReplicas,
  toOneSize,
} from './one-size.ts';
import { createTellRecommendation, recommendedBefore } from './recommended.ts';
import { createSkipReporter, isKeptFromIt } from './report.ts';
import type { ApplyResult, WorkloadResult } from './result.ts';
import { isDryRun, type RightsizingSettings } from './settings.ts';
import { noteUnread } from './unread.ts';

export interface WorkloadReconcilerOptions extends AdviseOptions {
  readonly view: SizingView;
  readonly usage: UsageCollector;
  readonly settings: () => RightsizingSettings;
  readonly memory: RightsizingMemory;
  /** Why pods of the workload cannot be resized in place; undefined: they can. */
  readonly inPlaceProblem: InPlaceProblem;
  /** New pods are sized at admission. */
  readonly sizesNewPods: () => boolean;
  readonly apply: ApplySizes;
  readonly annotate: AnnotateWorkload;
  readonly events: Events;
  readonly journal: EngineJournal;
  readonly metrics: Metrics;
  readonly clock: Clock;
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
  const { view, usage, settings, inPlaceProblem, apply, annotate, clock } = options;
  const report = createSkipReporter(options);
  const tellRecommendation = createTellRecommendation(options);

  /** @returns why it could not be written. */
  const write = async (
    workload: SizedWorkload,
    memory: WorkloadMemory,
    wanted: Annotations,
    signal: AbortSignal,
  ): Promise<ApplyResult | undefined> => {
    const outcome = await annotate(workload, wanted, signal);
    if (outcome.result === 'written') {
      memory.written = { at: clock.now(), annotations: { ...memory.written?.annotations, ...wanted } };
    }
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
    const lost = isWriting ? lostAnnotations(workload, memory.kept) : undefined;
    if (lost === undefined) return { workload };
    const failed = await write(workload, memory, lost, signal);
    const unkept = failed && { ...failed, againAfterMillis: LOOK_AGAIN_MILLIS };
    return { workload: { ...workload, annotations: { ...workload.annotations, ...lost } }, unkept };
  };

  /**
   * Applies the advice by the method the policy and the pods allow.
   * @returns undefined where nothing is to be applied at all, as in Recommend.
   */
  const act = async (
    advised: Advised,
    policy: ValidPolicy,
    memory: WorkloadMemory,
    signal: AbortSignal,
  ): Promise<ApplyResult | undefined> => {
    const { workload, inForce } = advised;
    const { mode, updates } = policy.spec;
    const hasOwn = hasOwnSizes(advised);
    const restarting = updates.evictToResize && !hasOwn ? restartProblem(advised) : undefined;
    const mayRecreate = updates.allowRecreate && !hasOwn;
    const problem = inPlaceProblem({ workload, hasOwnSizes: hasOwn, mayRecreate }) ?? restarting;
    const choice = chooseMethod({
      workload,
      mode,
      dryRun: isDryRun(settings()),
      isPaused: isPaused(workload.annotations),
      newerFormat: keyOfNewerFormat(workload.annotations),
      qos: qosClassOf(inForce.map(({ size }) => size)),
      vpa: actingVpa(view.vpas(workload.namespace), workload)?.name,
      optipod: optipodBeside(view, policy.group),
      inPlaceProblem: problem,
      allowInPlaceResize: updates.allowInPlaceResize,
      allowRecreate: updates.allowRecreate,
      evictToResize: updates.evictToResize,
      sizesNewPods: options.sizesNewPods(),
    });
    dropOutlived(memory, inForce, clock.now());
    const stranded = choice.method === 'Skip' ? undefined : strandedReplicas(advised, choice.method, problem);
    if (stranded !== undefined) return stranded;
    if (choice.method !== 'Skip') {
      const live = runningPods(advised.pods);
      const annotating = (wanted: Annotations): Promise<ApplyResult | undefined> =>
        write(workload, memory, wanted, signal);
      // Before any pod is brought in line with it, and admission gives it to new ones.
      if (advised.isOutworn === true) {
        const sizes = writeAppliedSizes(workload.containers, inForce) ?? null;
        const kept = await annotating({ [rightsizingKeys.appliedSizes]: sizes });
        if (kept !== undefined) return kept;
      }
      const rejoining = toOneSize(advised);
      if (rejoining !== undefined) return (await annotating(rejoining.annotations)) ?? rejoining.result;
      memory.isActing = true;
      return apply(choice.method, { advised, policy, memory, live, annotate: annotating, signal });
    }
    // Time goes on: when it is applied again, what happened meanwhile is not put down to what is long behind us.
    memory.isActing = false;
    dropUnspread(memory);
    review(memory, true, clock.now(), settings().revertMillis);
    if (choice.reason === undefined) return undefined;
    const { name, message, advice } = choice.reason;
    return { status: 'Skipped', reason: name, message, advice };
  };

  return {
    async reconcile(found, policy, largestNode, signal) {
      const now = clock.now();
      const memory = options.memory.of(found.uid);
      const { workload, unkept } = await withKept(withWritten(found, memory, now), policy, memory, signal);
      const before = policy.status.workloads?.find((entry) => isSame(entry, workload));
      // What the last leader wrote is where this one goes on.
      const lastApplied = workload.annotations[rightsizingKeys.lastApplied] ?? before?.lastApplied;
      memory.lastApplied ??= takenOver(parseTime(lastApplied), now);
      memory.lastMethod ??= before?.lastApplyMethod;
      memory.lastRecommendation ??= pastTime(parseTime(before?.lastRecommendation), now);
      memory.recommended ??= recommendedBefore(before?.recommendations);
      resumeWatches(memory, workload, view.podsOf(workload), now);
      const { problem } = usage.stateOf(workload);
      const { isLong, againAfterMillis } = noteUnread(memory, problem, now, settings().noDataMillis);
      const unread = isLong ? problem?.message : undefined;
      const advised = advise(options, { workload, spec: policy.spec, memory, largestNode, unread, now });
      tellRecommendation(advised, policy, memory);
      const forNobody = isForNobody(advised);
      const { mode, annotateRecommendations } = policy.spec;
      // Anything else that is written first would look as if somebody had taken away only what is missing.
      const isAnnotated = unkept === undefined && (mode === 'Auto' ? !isDryRun(settings()) : annotateRecommendations);
      let forbidden: string | undefined;
      if (isAnnotated && advised.hasUsage && optipodBeside(view, policy.group) === undefined) {
        const wanted = recommendationAnnotations(workload, policy.name, advised.advice, now, forNobody);
        const kept = await write(workload, memory, wanted, signal);
        if (kept?.isForbidden === true) forbidden = kept.message;
      }
      const applied = unkept ?? (await act(advised, policy, memory, signal));
      // What could not be written together with the sizes: a first pod that is watched, and the end of a watch.
      if (mode === 'Auto' && isAnnotated && keyOfNewerFormat(workload.annotations) === undefined)
        await write(
          withWritten(found, memory, clock.now()),
          memory,
          { [rightsizingKeys.watchedChanges]: keptText(memory) },
          signal,
        );
      memory.kept = keptAnnotations(withWritten(found, memory, clock.now())) ?? lostAnnotations(found, memory.kept);
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
          lastRecommendation: memory.lastRecommendation,
          lastApplied: memory.lastApplied,
          lastApplyMethod: memory.lastMethod,
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
}

/** A pod that would be restarted in place is rather replaced, where the policy asks for evictions. */
function restartProblem({ advice, inForce, pods }: Advised): string | undefined {
  const due = dueChanges(advice);
  const wanted = inForce.map(({ name, size }) => ({ container: name, to: size }));
  const restarted =
    restartedContainer(inForce, due) ??
    runningPods(pods)
      .map(({ sizing: { containers } }) => restartedContainer(containers, effectiveChanges(containers, wanted)))
      .find((each) => each !== undefined);
  return restarted && `container ${restarted.container} restarts when its ${restarted.resource} changes`;
}

/** Whether the template's sizes are ours by server-side apply; not told where they never were. */
function ownsFields({ templateManagers }: SizedWorkload): true | undefined {
  return Object.values(templateManagers).some((managers) => managers.includes(sizeManagers.rightsizing)) || undefined;
}

function isSame(entry: { kind: string; namespace: string; name: string }, workload: SizedWorkload): boolean {
  return entry.name === workload.name && entry.namespace === workload.namespace && entry.kind === workload.kind;
}
