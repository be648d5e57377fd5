/** Whether a workload's pods can be resized in place: asked of what is seen, not derived from a version. */
import { runningPods } from '../../decide/rightsizing/pod-drift.ts';
import { resizeSupport } from '../../model/resize-support.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import type { SizeActuator } from './actuator.ts';

export interface InPlaceProblemOptions {
  readonly view: SizingView;
  readonly servesResize: () => boolean | undefined;
  readonly actuator: Pick<SizeActuator, 'needsNewPods' | 'keepsMemoryLimits' | 'keepsDying'>;
}

export interface InPlaceQuestion {
  readonly workload: SizedWorkload;
  /**
   * Replicas are sized each for itself: what was refused to one says nothing of the others, and the guards remember it
   * of that one.
   */
  readonly hasOwnSizes: boolean;
  /** The policy allows new pods otherwise; without, what pods lack is put in force for those to come. */
  readonly mayRecreate: boolean;
}

/** @returns why they cannot; undefined where they can, or where nothing speaks against it yet. */
export type InPlaceProblem = (question: InPlaceQuestion) => string | undefined;

export function createInPlaceProblem({ view, servesResize, actuator }: InPlaceProblemOptions): InPlaceProblem {
  return ({ workload, hasOwnSizes, mayRecreate }) => {
    if (servesResize() === false) return 'the API server does not serve pods/resize';
    const known = hasOwnSizes ? undefined : actuator.needsNewPods(workload.uid);
    // Without new pods the rest is still worth having, and so is more once more for who is killed for want of it.
    const isWorthIt = actuator.keepsMemoryLimits(workload.uid) || actuator.keepsDying(workload.uid);
    if (known !== undefined && (mayRecreate || !isWorthIt)) return known;
    const live = runningPods(view.podsOf(workload));
    const answers = live.map((pod) => resizeSupport(pod, view.node(pod.pod.nodeName ?? ''), servesResize()));
    // In a rollout what they lack is put in force for those to come (adr/0033).
    if (mayRecreate && !workload.isRollingOut && live.length > 0 && live.every(isCrashLooping)) return NONE_RUNS;
    const unsupported = answers.find(({ kind }) => kind === 'unsupported');
    // As long as some pod can, those are resized; the guard holds the others.
    if (unsupported === undefined || answers.some(({ kind }) => kind === 'supported')) return undefined;
    return unsupported.kind === 'unsupported' ? unsupported.detail : undefined;
  };
}

export const NONE_RUNS = 'its containers end again and again, and none runs now';

/** Whether its kubelet can resize is seen only of containers that run (resizeSupport). */
function isCrashLooping({ sizing }: SizedPod): boolean {
  return (
    sizing.statuses.length > 0 && sizing.statuses.every(({ running, restartCount }) => !running && restartCount > 0)
  );
}
