/** Holds back changes that are not worth what they cost the pods: what begins, and what is told of the rest. */

import { awaitedDecrease } from '../../decide/rightsizing/restart-together.ts';
import { type Beginning, joinChanges, mayBegin, partsOf, without } from '../../decide/rightsizing/side-by-side.ts';
import type { SizedPart } from '../../decide/rightsizing/watched-change.ts';
import { notWorthRestart } from '../../decide/rightsizing/worth-a-restart.ts';
import { inWords } from '../../guard/objection.ts';
import type { Clock } from '../../lib/clock.ts';
import { percentText } from '../../lib/percent-text.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import { restartsOn } from '../../model/restart-on-resize.ts';
import type { ApplyContext } from './apply.ts';
import type { WorkloadMemory } from './memory.ts';
import { type ApplyResult, pending } from './result.ts';
import type { RightsizingSettings } from './settings.ts';

export interface Gated {
  readonly beginning: Beginning;
  /** Why the rest waits. */
  readonly held: ApplyResult | undefined;
}

export interface GatedNewPods extends Pick<Gated, 'held'> {
  /** One change of each container, raises and decreases together; empty: nothing begins. */
  readonly beginning: readonly SizeChange[];
}

/** What costs no restart is never held back. */
export interface RestartGate {
  /** Only containers that a resize restarts cost anything. */
  inPlace(context: ApplyContext, beginning: Beginning): Gated;
  /** What begins of `due` where every change means new pods: they have it all at once. */
  newPods(context: ApplyContext, due: readonly SizeChange[]): GatedNewPods;
}

export interface RestartGateOptions {
  readonly settings: () => Pick<RightsizingSettings, 'restart'>;
  readonly clock: Clock;
}

export function createRestartGate({ settings, clock }: RestartGateOptions): RestartGate {
  const awaitingSince = new WeakMap<WorkloadMemory, EpochMillis>();
  const pass = ({ advised, policy, memory }: ApplyContext, beginning: Beginning, isInPlace: boolean): Gated => {
    const asked = {
      advised,
      policy,
      lastChange: (part: SizedPart) => memory.times.lastChange(part),
      awaitingSince: awaitingSince.get(memory),
      now: clock.now(),
    };
    const gated = passGate(asked, beginning, settings(), isInPlace);
    if (gated.awaitingSince === undefined) awaitingSince.delete(memory);
    else awaitingSince.set(memory, gated.awaitingSince);
    return gated;
  };
  return {
    inPlace: (context, beginning) => pass(context, beginning, true),
    newPods(context, due) {
      const { advised, memory } = context;
      const { beginning, held } = pass(context, mayBegin(due, advised.inForce, memory.watches.ongoing, true), false);
      return { beginning: joinChanges([...beginning.raises, ...beginning.decreases]), held };
    },
  };
}

/** Of a workload, or of one of its replicas. */
export interface GateQuestion {
  readonly advised: Pick<ApplyContext['advised'], 'inForce' | 'advice'>;
  readonly policy: Pick<ApplyContext['policy'], 'spec'>;
  /** When a resource of one of its containers was last changed. */
  readonly lastChange: (part: SizedPart) => EpochMillis | undefined;
  /** Since when decreases that cost a restart wait for others to come with them; to be handed in again. */
  readonly awaitingSince: EpochMillis | undefined;
  readonly now: EpochMillis;
}

/** @param isInPlace only containers that a resize restarts cost anything; else everything means new pods. */
export function passGate(
  { advised: { inForce, advice }, policy, lastChange, awaitingSince, now }: GateQuestion,
  beginning: Beginning,
  { restart }: Pick<RightsizingSettings, 'restart'>,
  isInPlace: boolean,
): Gated & Pick<GateQuestion, 'awaitingSince'> {
  /** Containers whose policy for this resource is NotRequired are resized while they run. */
  const costsNothing = (part: SizedPart): boolean => isInPlace && !restartsOn(inForce, part);
  const dear = (changes: readonly SizeChange[]): readonly SizeChange[] =>
    without(changes, partsOf(changes).filter(costsNothing));
  const decreases = dear(beginning.decreases);
  const costly = { raises: dear(beginning.raises), decreases };
  const rest = { raises: beginning.raises, decreases: without(beginning.decreases, partsOf(decreases)) };
  const { maxStepDown } = policy.spec.updates;
  // What restarts nothing begins no pause.
  const times = inForce.flatMap(({ name: container }) =>
    (['cpu', 'memory'] as const)
      .filter((resource) => !costsNothing({ container, resource }))
      .flatMap((resource) => lastChange({ container, resource }) ?? []),
  );
  const lastChangeAt = times.length === 0 ? undefined : Math.max(...times);
  const asked = { beginning: costly, inForce, advice, maxStepDown, lastChangeAt, now };
  const not = notWorthRestart(asked, restart);
  if (not === undefined) {
    const isDear = (part: SizedPart): boolean => !costsNothing(part);
    const since = decreases.length === 0 ? undefined : awaitingSince;
    const awaited = awaitedDecrease({ beginning: costly, advice, isDear, since, now }, restart.cooldownMillis);
    if (awaited === undefined) return { beginning, held: undefined, awaitingSince: since };
    const { container, resource, readyAt } = awaited;
    const what = `${resource === 'cpu' ? 'CPU' : 'memory'} of container ${container}`;
    const message = renderReason('RestartTogether', { what, remaining: inWords(readyAt - now) });
    const held = pending('RestartTogether', message, readyAt - now);
    return { beginning: rest, held, awaitingSince: since ?? now };
  }
  if (not.reason === 'TooLittleToRestart') {
    const message = renderReason(not.reason, { share: percentText(not.share), needed: percentText(not.needed) });
    return { beginning: rest, held: { status: 'Applied', reason: not.reason, message }, awaitingSince };
  }
  const remaining = inWords(not.remainingMillis);
  if (not.reason === 'RaiseCutShort') {
    const raises = without(beginning.raises, partsOf(costly.raises));
    const message = renderReason(not.reason, { share: percentText(not.share, 1), remaining });
    const held = pending(not.reason, message, not.remainingMillis);
    return { beginning: { ...rest, raises }, held, awaitingSince };
  }
  const held = pending(not.reason, renderReason(not.reason, { remaining }), not.remainingMillis);
  return { beginning: rest, held, awaitingSince };
}
