/** Carries out changes of size in each of the ways there are, and follows what is under way. */
import type { Resize } from '../../act/resize.ts';
import type { Retemplate } from '../../act/retemplate.ts';
import type { SizeGuardContext } from '../../guard/size/context.ts';
import type { SizeLog } from '../../guard/size/size-history.ts';
import { pause } from '../../lib/clock.ts';
import type { Millis } from '../../lib/units.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import { adoptSizeDisruptions } from '../adopt-disruptions.ts';
import type { ResizesInFlight } from '../resizes-in-flight.ts';
import { createGuardedEviction, type GuardedEviction } from './guarded-eviction.ts';
import { createGuardedResize, type GuardedResize } from './guarded-resize.ts';
import { createGuardedRetemplate, type GuardedRetemplate } from './guarded-retemplate.ts';
import { createMemoryUse } from './memory-use.ts';
import type { RightsizingParts } from './parts.ts';
import { createResizeLessons, type ResizeLessons } from './resize-lessons.ts';
import { reviewRollouts } from './review-rollouts.ts';

export interface SizeActuator
  extends GuardedResize,
    GuardedEviction,
    GuardedRetemplate,
    Pick<ResizeLessons, 'needsNewPods' | 'keepsMemoryLimits' | 'keepsDying' | 'lacksRoom'> {
  /** Takes over what the last leader had under way and follows all resizes, once a second, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface SizeActuatorOptions
  extends Pick<RightsizingParts, 'usage' | 'settings' | 'leadership' | 'disruptions' | 'isAllocated' | 'otherResizes'>,
    Pick<RightsizingParts, 'servesResize' | 'journal' | 'metrics' | 'clock' | 'log'> {
  readonly view: SizingView;
  readonly history: SizeLog;
  readonly inFlight: ResizesInFlight;
  readonly resize: Resize;
  readonly retemplate: Retemplate;
  /** Called when a resize ended: its workload is worth a look. */
  readonly onEnd: (workload: WorkloadRef) => void;
}

/**
 * What the guards are asked with.
 * @param spec undefined for what takes a resize back: that waits for nothing.
 * @param workloadUid whose state of disruption counts too.
 */
export type SizeContext = (spec: PolicySpec | undefined, workloadUid?: string) => SizeGuardContext;

/** A node answers within seconds; a second more is not noticed. */
const REVIEW_MILLIS: Millis = 1_000;
/** How often what is gone is forgotten. Not at each deletion: pods of a rollout go by the thousand. */
const FORGET_MILLIS: Millis = 600_000;
/** The recommendation keeps the policy's cooldown; this only keeps a pod from being changed twice in one breath. */
const MIN_SPACING_MILLIS: Millis = 10_000;

export function createSizeActuator(options: SizeActuatorOptions): SizeActuator {
  const { view, settings, leadership, disruptions, history, inFlight, clock, log } = options;
  const memoryOf = createMemoryUse(options);
  const contextFor: SizeContext = (spec, workloadUid) => ({
    view,
    settings: settings().size,
    policy: {
      window: spec?.updates.window,
      cooldownMillis: Math.min(spec?.updates.cooldownMillis ?? 0, MIN_SPACING_MILLIS),
      allowRecreate: spec?.updates.allowRecreate === true,
    },
    leadership: leadership(),
    history,
    resizes: [...inFlight.list(), ...options.otherResizes()],
    evictions: disruptions.list(),
    disruption:
      workloadUid === undefined ? undefined : disruptions.stateOf(workloadUid, view.workloadByUid(workloadUid)),
    memoryOf,
    isAllocated: options.isAllocated,
    servesResize: options.servesResize(),
    now: clock.now(),
  });
  const lessons = createResizeLessons(options);
  const guarded = { ...options, contextFor, lessons };
  const { adopt, review, ...resizes } = createGuardedResize(guarded);

  const takeOver = (): void => {
    const taken = { ...adopt(), otherDisruptions: adoptSizeDisruptions(view, disruptions, clock.now()) };
    if (Object.values(taken).some((count) => count > 0))
      log.info(taken, 'What the last leader had under way was taken over');
  };

  return {
    ...resizes,
    ...createGuardedEviction(guarded),
    ...createGuardedRetemplate(guarded),
    needsNewPods: lessons.needsNewPods,
    keepsMemoryLimits: lessons.keepsMemoryLimits,
    keepsDying: lessons.keepsDying,
    lacksRoom: lessons.lacksRoom,
    async run(signal) {
      takeOver();
      let forgetAt = clock.now() + FORGET_MILLIS;
      while (!signal.aborted) {
        if (clock.now() >= forgetAt) {
          lessons.forgetGone();
          forgetAt = clock.now() + FORGET_MILLIS;
        }
        // Before the resizes: a place that comes free here may be taken in the same second.
        reviewRollouts(disruptions, view, clock.now());
        await review(signal);
        await pause(clock, REVIEW_MILLIS, signal);
      }
    },
  };
}
