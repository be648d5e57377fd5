/** Pods that end before they could be asked: more is put in force for those to come (adr/0033). */
import type { Beginning } from '../../decide/rightsizing/side-by-side.ts';
import { objectToClosed } from '../../guard/rules/timing.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { ApplyContext } from './apply.ts';
import type { ApplyResult } from './result.ts';

export interface Attempt {
  /** What is put in force; undefined: nothing. */
  readonly made: Beginning | undefined;
  readonly kept: ApplyResult | undefined;
}

export function raiseForNewPods({ policy }: ApplyContext, { raises }: Beginning, now: EpochMillis): Attempt {
  if (raises.length === 0) return { made: undefined, kept: undefined };
  const closed = objectToClosed(policy.spec.updates.window, now, 'OutsideUpdateWindow');
  if (closed !== undefined) return { made: undefined, kept: { ...closed, status: 'Pending' } };
  return { made: { raises, decreases: [] }, kept: undefined };
}
