/** Replicas that had sizes of their own return to one size for all, and what is told where they have one. */
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { goesItsOwnWay, type ReplicaTold, replicasText } from '../../decide/rightsizing/replica-text.ts';
import { type Saving, savingOf, sumSavings } from '../../decide/rightsizing/savings.ts';
import { renderReason } from '../../lib/reasons.ts';
import { writeAppliedSizes } from '../../model/applied-sizes.ts';
import { learnedTogether, writeLessons } from '../../model/learned-floors.ts';
import { isLive } from '../../model/owners.ts';
import { mostOfAll, noReplicas, stateOfPod, withReplicaSizes } from '../../model/replica-sizes.ts';
import type { Advised } from './advise.ts';
import type { Annotations } from './annotate.ts';
import { LOOK_AGAIN_MILLIS } from './apply-result.ts';
import { type ApplyResult, pending } from './result.ts';

export interface Rejoining {
  readonly annotations: Annotations;
  readonly result: ApplyResult;
}

/**
 * What is written when they may have sizes of their own no longer: the most of what any has is the size of all, so
 * nobody is lowered by it. Less that is still watched is not known to be enough, and will not be watched any more: what
 * they had before counts. From there on it is lowered as ever: one pod first, and not below what did harm to one of them.
 * @returns undefined where there is nothing to return from.
 */
export function toOneSize(advised: Advised): Rejoining | undefined {
  const { workload, replicas, lessons } = advised;
  if (replicas?.obstacle === undefined || workload.annotations[rightsizingKeys.replicaSizes] === undefined) {
    return undefined;
  }
  const had = new Map(
    [...replicas.states].flatMap(([replica, { before }]) =>
      before === undefined ? [] : [[replica, { sizes: before }] as const],
    ),
  );
  const all = mostOfAll(mostOfAll(sizeThatCounts(advised), replicas.states), had);
  const learned = learnedTogether([lessons, ...[...replicas.states.values()].map((state) => state.lessons)]);
  return {
    annotations: {
      [rightsizingKeys.replicaSizes]: null,
      [rightsizingKeys.appliedSizes]: writeAppliedSizes(workload.containers, all) ?? null,
      [rightsizingKeys.learnedFloors]: writeLessons(learned) ?? null,
    },
    result: pending('OneSizeForAll', renderReason('OneSizeForAll', { cause: replicas.obstacle }), LOOK_AGAIN_MILLIS),
  };
}

/** The size of all, unless every pod has its own: what nobody has was lowered for nobody, and is more than any needs. */
function sizeThatCounts(advised: Advised): Advised['inForce'] {
  const { inForce, replicas, pods, workload } = advised;
  const [first] = replicas?.states.values() ?? [];
  // A pod that is being replaced may have had the size of all.
  const areThere = pods.filter(({ pod }) => isLive(pod)).length >= workload.replicas;
  return first !== undefined && areThere && isWornByNobody(advised) ? withReplicaSizes(inForce, first) : inForce;
}

function isWornByNobody({ replicas, workload, pods }: Pick<Advised, 'replicas' | 'workload' | 'pods'>): boolean {
  const live = pods.filter(({ pod }) => isLive(pod));
  const { states = noReplicas } = replicas ?? {};
  return live.length > 0 && live.every(({ pod }) => stateOfPod(states, workload, pod) !== undefined);
}

/** Some replica has a size of its own, and may. */
export function hasOwnSizes({ replicas }: Advised): boolean {
  return replicas !== undefined && replicas.obstacle === undefined && replicas.states.size > 0;
}

/** Every pod has a size of its own: what is advised for all is for none of them. */
export function isForNobody(advised: Pick<Advised, 'replicas' | 'workload' | 'pods'>): boolean {
  return advised.replicas?.obstacle === undefined && isWornByNobody(advised);
}

/** Replicas with sizes of their own that cannot be changed in place are left as they are, whatever else is allowed. */
export function strandedReplicas(
  advised: Advised,
  method: 'InPlace' | 'Recreate' | 'Evict',
  inPlaceProblem: string | undefined,
): ApplyResult | undefined {
  if (method === 'InPlace' || !hasOwnSizes(advised)) return undefined;
  const cause = inPlaceProblem ?? 'the policy does not allow it';
  return { status: 'Skipped', reason: 'ReplicasNeedInPlace', message: renderReason('ReplicasNeedInPlace', { cause }) };
}

/** For the status: what replicas have each for itself, or why they have one size; undefined where nobody asks. */
export function replicasNote(advised: Advised, isAdvice: boolean): string | undefined {
  const obstacle = advised.replicas?.obstacle;
  if (obstacle !== undefined) return renderReason('OneSizeForAll', { cause: obstacle });
  const told = toldReplicas(advised);
  return told && replicasText(told, isAdvice, advised.workload.replicas);
}

/** Undefined where replicas have one size. */
export function toldReplicas({ replicas }: Advised): readonly ReplicaTold[] | undefined {
  if (replicas === undefined || replicas.obstacle !== undefined) return undefined;
  return replicas.replicas.map(({ replica, pod, state, isKnown, inForce, advice }) => ({
    replica,
    pod: pod.pod.name,
    state,
    isKnown,
    inForce,
    advice,
  }));
}

/** Replicas that go their own way save what their own advice says, all others what that of all says. */
export function savingOfAll(advised: Advised): Saving {
  const { workload, advice } = advised;
  const own = (toldReplicas(advised) ?? []).filter(goesItsOwnWay);
  const rest = savingOf(advice, Math.max(0, workload.replicas - own.length));
  return sumSavings([rest, ...own.map((each) => savingOf(each.advice, 1))]);
}
