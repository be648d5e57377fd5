/**
 * The order of the guards, in one place. The first objection is the one reported, so the order is that of explanation:
 * what was switched off, then what is not known, then what is going on, then what forbids this pod, then the time, then
 * the dear questions, and last the budget all workloads share. A new rule is a file (or a constant in one) and a line
 * here.
 */
import type { Rule } from './context.ts';
import { hasRoom, hasRoomToGrow, newPodsSteered, sideNotInBackoff } from './rules/destination.ts';
import { fallbackAllowed, fallbackInTurn, noneTerminatingOfSet, stillWaiting } from './rules/fallback.ts';
import { fresh } from './rules/freshness.ts';
import { leading, warmedUp } from './rules/leadership.ts';
import { floorKept, floorKeptForSize, knownSide, nodeStays } from './rules/node-state.ts';
import { pdbAllows } from './rules/pdb.ts';
import { noneTerminating, notProtected, notResizing, notSingle, othersReady, sameRevision } from './rules/pod-state.ts';
import { noSpotalis } from './rules/predecessor.ts';
import { replacementsMade } from './rules/replacements.ts';
import { calm, returnsPaced, spotOpen } from './rules/spot.ts';
import { engineOn, managed, mayWrite, webhookOn } from './rules/switched-on.ts';
import { cooledDown, nothingInFlight, windowOpen, withinBudget } from './rules/timing.ts';
import { generationObserved, noRollout, notDeleting, notPaused, notScaledToZero } from './rules/workload-state.ts';

export const rules: readonly Rule[] = [
  engineOn,
  managed,
  mayWrite,
  webhookOn,
  leading,
  fresh,
  noSpotalis,
  notDeleting,
  notScaledToZero,
  generationObserved,
  notPaused,
  noRollout,
  stillWaiting,
  noneTerminatingOfSet,
  calm,
  nothingInFlight,
  noneTerminating,
  othersReady,
  notSingle,
  notProtected,
  notResizing,
  nodeStays,
  knownSide,
  sameRevision,
  floorKept,
  floorKeptForSize,
  windowOpen,
  warmedUp,
  cooledDown,
  spotOpen,
  returnsPaced,
  pdbAllows,
  replacementsMade,
  newPodsSteered,
  sideNotInBackoff,
  fallbackAllowed,
  hasRoom,
  hasRoomToGrow,
  fallbackInTurn,
  withinBudget,
];
