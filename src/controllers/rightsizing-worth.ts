/** Holds back decreases that are not worth what they cost the pods: what begins, and what is told of the rest. */
import { type Beginning, partsOf, withoutParts } from '../decide/rightsizing/side-by-side.ts';
import type { SizedPart } from '../decide/rightsizing/watched-change.ts';
import { notWorthRestart } from '../decide/rightsizing/worth-a-restart.ts';
import { formatDuration } from '../lib/duration.ts';
import { renderReason } from '../lib/reasons.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { SizeChange } from '../model/pod-size.ts';
import type { ApplyContext } from './rightsizing-apply.ts';
import type { ApplyResult } from './rightsizing-result.ts';
import type { RightsizingSettings } from './rightsizing-settings.ts';

export interface Worth {
  readonly beginning: Beginning;
  /** Why the rest waits. */
  readonly held: ApplyResult | undefined;
}

/** @param isInPlace only containers that a resize restarts cost anything; else everything means new pods. */
export function worthBeginning(
  { advised: { inForce }, memory, policy }: ApplyContext,
  beginning: Beginning,
  { restart }: Pick<RightsizingSettings, 'restart'>,
  now: EpochMillis,
  isInPlace = false,
): Worth {
  const costsNothing = ({ container, resource }: SizedPart): boolean => {
    const spec = inForce.find(({ name }) => name === container);
    return isInPlace && (resource === 'cpu' ? spec?.cpuRestart : spec?.memoryRestart) !== 'RestartContainer';
  };
  const dear = (changes: readonly SizeChange[]): readonly SizeChange[] =>
    without(changes, partsOf(changes).filter(costsNothing));
  const decreases = dear(beginning.decreases);
  const not = notWorthRestart(
    {
      beginning: { raises: dear(beginning.raises), decreases },
      inForce,
      maxStepDown: policy.spec.updates.maxStepDown,
      lastChangeAt: memory.lastApplied,
      now,
    },
    restart,
  );
  if (not === undefined) return { beginning, held: undefined };
  const rest = { raises: beginning.raises, decreases: without(beginning.decreases, partsOf(decreases)) };
  if (not.reason === 'TooLittleToRestart') {
    const message = renderReason(not.reason, { share: percent(not.share), needed: percent(not.needed) });
    return { beginning: rest, held: { status: 'Applied', reason: not.reason, message } };
  }
  const { reason, remainingMillis } = not;
  const remaining = formatDuration(Math.ceil(remainingMillis / 1000) * 1000);
  const message = renderReason(reason, { remaining });
  return { beginning: rest, held: { status: 'Pending', reason, message, againAfterMillis: remainingMillis } };
}

function without(changes: readonly SizeChange[], parts: readonly SizedPart[]): readonly SizeChange[] {
  return withoutParts([{ changes }], parts).flatMap((left) => left.changes);
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
