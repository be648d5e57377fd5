/** Applies the advice for a workload by the method that its policy and its pods allow. */
import { isPaused, rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { chooseMethod } from '../../decide/rightsizing/choose-method.ts';
import { dueChanges } from '../../decide/rightsizing/due-changes.ts';
import { runningPods } from '../../decide/rightsizing/pod-drift.ts';
import { actingVpa } from '../../model/acting-vpa.ts';
import { writeAppliedSizes } from '../../model/applied-sizes.ts';
import { keyOfNewerFormat } from '../../model/kept-format.ts';
import { effectiveChanges, qosClassOf } from '../../model/pod-size.ts';
import { optipodBeside } from '../../model/predecessors.ts';
import { restartedContainer } from '../../model/restart-on-resize.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { Advised } from './advise.ts';
import type { ApplyContext, ApplySizes } from './apply.ts';
import type { InPlaceProblem } from './in-place-problem.ts';
import type { WorkloadMemory } from './memory.ts';
import { hasOwnSizes, strandedReplicas, toOneSize } from './one-size.ts';
import type { RightsizingParts } from './parts.ts';
import type { ApplyResult } from './result.ts';
import { isDryRun } from './settings.ts';

export interface ApplyAdviceOptions extends Pick<RightsizingParts, 'settings' | 'sizesNewPods' | 'clock'> {
  readonly view: SizingView;
  /** Why pods of the workload cannot be resized in place; undefined: they can. */
  readonly inPlaceProblem: InPlaceProblem;
  readonly methods: Readonly<Record<'InPlace' | 'Recreate' | 'Evict', ApplySizes>>;
}

export interface ApplyAdvice {
  /** @returns undefined where nothing is to be applied at all, as in Recommend. */
  apply(context: Omit<ApplyContext, 'live' | 'replicas'>): Promise<ApplyResult | undefined>;
  /** At the last look the advice was being applied. */
  isActing(memory: WorkloadMemory): boolean;
}

export function createApplyAdvice(options: ApplyAdviceOptions): ApplyAdvice {
  const { view, settings, sizesNewPods, inPlaceProblem, methods, clock } = options;
  const acting = new WeakSet<WorkloadMemory>();

  const choose = ({ advised, policy }: Pick<ApplyContext, 'advised' | 'policy'>) => {
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
      sizesNewPods: sizesNewPods(),
    });
    return { choice, problem };
  };

  return {
    async apply(context) {
      const { advised, memory, annotate } = context;
      const { workload, inForce } = advised;
      const { choice, problem } = choose(context);
      memory.watches.dropOutlived(inForce, memory.template.isDue(advised.at));
      if (choice.method === 'Skip') {
        // Time goes on: when it is applied again, what happened meanwhile is not put down to what is long behind us.
        acting.delete(memory);
        memory.watches.dropUnspread();
        memory.watches.review(() => true, clock.now(), settings().revertMillis);
        if (choice.reason === undefined) return undefined;
        const { name, message, advice } = choice.reason;
        return { status: 'Skipped', reason: name, message, advice };
      }
      const stranded = strandedReplicas(advised, choice.method, problem);
      if (stranded !== undefined) return stranded;
      // Before any pod is brought in line with it, and admission gives it to new ones.
      if (advised.isOutworn === true) {
        const sizes = writeAppliedSizes(workload.containers, inForce) ?? null;
        const kept = await annotate({ [rightsizingKeys.appliedSizes]: sizes });
        if (kept !== undefined) return kept;
      }
      const rejoining = toOneSize(advised);
      if (rejoining !== undefined) return (await annotate(rejoining.annotations)) ?? rejoining.result;
      acting.add(memory);
      return methods[choice.method]({ ...context, live: runningPods(advised.pods) });
    },
    isActing: (memory) => acting.has(memory),
  };
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
