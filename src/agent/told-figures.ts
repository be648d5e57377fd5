/**
 * Whether the figures in an allocation still say how things are. Those move all the time, and writing them raises the
 * generation, so that the operator has to write as well: only what people would read otherwise is worth it.
 */
import type { AllocationDecision } from '../api/pod-allocation.ts';
import { tryParseMillicores } from '../lib/quantity.ts';
import type { Millicores } from '../lib/units.ts';

/** What is kept of the figures on the server. */
export interface ToldFigures {
  /** How full the node is, and the rules that moved a bound or the share. */
  readonly rules: string;
  readonly usage: Millicores | undefined;
}

/** Use has to differ by both. */
const [LEAST_DIFFERENCE, LEAST_PART] = [50, 0.25];

/** What people would read of these figures. */
export function toldFigures({ mode, clamps = [], cpuUsage }: AllocationDecision = {}): ToldFigures {
  return {
    rules: [mode, ...clamps.map(({ reason }) => reason)].join(' '),
    usage: tryParseMillicores(cpuUsage),
  };
}

/**
 * Whether `now` says something else than what people were told. A use that cannot be measured at the moment is no news.
 */
export function isOutdated(told: ToldFigures, now: ToldFigures): boolean {
  if (told.rules !== now.rules) return true;
  if (now.usage === undefined) return false;
  if (told.usage === undefined) return true;
  const difference = Math.abs(now.usage - told.usage);
  return difference >= LEAST_DIFFERENCE && difference >= LEAST_PART * told.usage;
}
