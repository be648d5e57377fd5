/**
 * The order of the size guards, in one place. The first objection is the one reported, so the order is that of
 * explanation: what is switched off or not known, then who else writes, then whether the pod and the change are
 * possible at all, then the time, then the room there is right now, and last what all changes of the cluster share. A
 * new rule is a constant in a file of `rules/` and a line here.
 */
import type { SizeRule } from './context.ts';
import {
  disruptionCalm,
  disruptionCooledDown,
  disruptionWarmedUp,
  disruptionWindowOpen,
  withinDisruptionBudget,
} from './rules/disruption.ts';
import { engineOn, fresh, leading, mayWrite, notOptedOut, warmedUp } from './rules/operator-state.ts';
import {
  cpuOfOneEngine,
  noEviction,
  noOtherResizer,
  noVpa,
  oneResizeAtATime,
  writersKnown,
} from './rules/other-writers.ts';
import {
  nodeAnswers,
  noPodLevelResources,
  notBestEffort,
  notStatic,
  notWindows,
  podRuns,
  supported,
} from './rules/pod-shape.ts';
import {
  restartNoRollout,
  restartNotProtected,
  restartNotSingle,
  restartOthersReady,
  restartsAllowed,
  restartWithinPdb,
} from './rules/restart.ts';
import { completeForQuota, fitsNode, notInfeasibleBefore, withinLimitRange, withinQuota } from './rules/room.ts';
import { limitAboveRequest, memoryAboveUse, qosKept } from './rules/size-change.ts';
import { kindWritten, newPodsCome, noRollout, notDeleting, recreateAllowed } from './rules/template.ts';
import {
  bornRight,
  cooledDown,
  notBackingOff,
  notIneffective,
  windowOpen,
  withinConcurrency,
  withinPace,
} from './rules/timing.ts';

export const sizeRules: readonly SizeRule[] = [
  engineOn,
  mayWrite,
  leading,
  fresh,
  notOptedOut,
  notDeleting,
  kindWritten,
  writersKnown,
  noVpa,
  noOtherResizer,
  cpuOfOneEngine,
  podRuns,
  nodeAnswers,
  notStatic,
  notWindows,
  noPodLevelResources,
  supported,
  notBestEffort,
  limitAboveRequest,
  qosKept,
  recreateAllowed,
  newPodsCome,
  restartsAllowed,
  notInfeasibleBefore,
  disruptionCalm,
  windowOpen,
  disruptionWindowOpen,
  warmedUp,
  disruptionWarmedUp,
  notIneffective,
  bornRight,
  notBackingOff,
  cooledDown,
  disruptionCooledDown,
  noRollout,
  restartNoRollout,
  noEviction,
  oneResizeAtATime,
  restartNotProtected,
  restartNotSingle,
  restartOthersReady,
  restartWithinPdb,
  memoryAboveUse,
  withinLimitRange,
  completeForQuota,
  withinQuota,
  fitsNode,
  withinConcurrency,
  withinPace,
  withinDisruptionBudget,
];
