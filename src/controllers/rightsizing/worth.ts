/** Holds back decreases that are not worth what they cost the pods: what begins, and what is told of the rest. */

import { awaitedDecrease } from '../../decide/rightsizing/restart-together.ts';
import { type Beginning, joinChanges, mayBegin, partsOf, without } from '../../decide/rightsizing/side-by-side.ts';
import type { SizedPart } from '../../decide/rightsizing/watched-change.ts';
import { notWorthRestart } from '../../decide/rightsizing/worth-a-restart.ts';
import { inWords } from '../../guard/objection.ts';
import { percentText } from '../../lib/percent-text.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import type { ApplyContext } from './apply.ts';
import type { WorkloadMemory } from './memory.ts';
import { type ApplyResult, pending } from './result.ts';
import type { RightsizingSettings } from './settings.ts';

export interface Worth {
  readonly beginning: Beginning;
  /** Why the rest waits. */
  readonly held: ApplyResult | undefined;
}

/** Of a workload, or of one of its replicas. */
export interface WorthQuestion {
  readonly advised: Pick<ApplyContext['advised'], 'inForce' | 'advice'>;
  readonly memory: Pick<WorkloadMemory, 'lastApplied' | 'awaitingSince'>;
  readonly policy: Pick<ApplyContext['policy'], 'spec'>;
}

/**
 * Raises that cost a restart begin too; what costs none is never held back. Keeps `memory.awaitingSince`.
 * @param isInPlace only containers that a resize restarts cost anything; else everything means new pods.
 */
export function worthBeginning(
  { advised: { inForce, advice }, memory, policy }: WorthQuestion,
  beginning: Beginning,
  { restart }: Pick<RightsizingSettings, 'restart'>,
  now: EpochMillis,
  isInPlace = false,
): Worth {
  /** Containers whose policy for this resource is NotRequired are resized while they run. */
  const costsNothing = ({ container, resource }: SizedPart): boolean => {
    const spec = inForce.find(({ name }) => name === container);
    return isInPlace && (resource === 'cpu' ? spec?.cpuRestart : spec?.memoryRestart) !== 'RestartContainer';
  };
  const dear = (changes: readonly SizeChange[]): readonly SizeChange[] =>
    without(changes, partsOf(changes).filter(costsNothing));
  const decreases = dear(beginning.decreases);
  const costly = { raises: dear(beginning.raises), decreases };
  const rest = { raises: beginning.raises, decreases: without(beginning.decreases, partsOf(decreases)) };
  const not = notWorthRestart(
    {
      beginning: costly,
      inForce,
      maxStepDown: policy.spec.updates.maxStepDown,
      lastChangeAt: memory.lastApplied,
      now,
    },
    restart,
  );
  if (not === undefined) {
    const isDear = (part: SizedPart): boolean => !costsNothing(part);
    const since = decreases.length === 0 ? undefined : memory.awaitingSince;
    const awaited = awaitedDecrease({ beginning: costly, advice, isDear, since, now }, restart.cooldownMillis);
    memory.awaitingSince = awaited === undefined ? since : (since ?? now);
    if (awaited === undefined) return { beginning, held: undefined };
    const { container, resource, readyAt } = awaited;
    const what = `${resource === 'cpu' ? 'CPU' : 'memory'} of container ${container}`;
    const message = renderReason('RestartTogether', { what, remaining: inWords(readyAt - now) });
    return { beginning: rest, held: pending('RestartTogether', message, readyAt - now) };
  }
  if (not.reason === 'TooLittleToRestart') {
    const message = renderReason(not.reason, { share: percentText(not.share), needed: percentText(not.needed) });
    return { beginning: rest, held: { status: 'Applied', reason: not.reason, message } };
  }
  const message = renderReason(not.reason, { remaining: inWords(not.remainingMillis) });
  return { beginning: rest, held: pending(not.reason, message, not.remainingMillis) };
}

export interface WorthNewPods extends Pick<Worth, 'held'> {
  /** One change of each container, raises and decreases together; empty: nothing begins. */
  readonly beginning: readonly SizeChange[];
}

/** What begins of `due` where every change means new pods: they have it all at once. */
export function worthNewPods(
  context: ApplyContext,
  due: readonly SizeChange[],
  settings: Pick<RightsizingSettings, 'restart'>,
  now: EpochMillis,
): WorthNewPods {
  const may = mayBegin(due, context.advised.inForce, context.memory.ongoing, true);
  const { beginning, held } = worthBeginning(context, may, settings, now);
  return { beginning: joinChanges([...beginning.raises, ...beginning.decreases]), held };
}
