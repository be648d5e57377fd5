/**
 * The plan of one node for one tick, pure: who takes part, how much there is, what each wants and may have, the
 * bargain, what of it is written. Constraints enter before bargaining, so that what one may not have goes to the
 * others.
 */
import { ascending } from '../../lib/ascending.ts';
import type { Millicores } from '../../lib/units.ts';
import { bargain, creditsOf, quotaGroups } from './bargain.ts';
import type { Clamp } from './clamp.ts';
import type { Demand, DemandState } from './demand.ts';
import { exclusionOf } from './eligibility.ts';
import { fairnessOf } from './fairness.ts';
import { fieldOf, nextGreed, standingOf } from './greed.ts';
import { capacityUnderPressure, judgeNode } from './integrations/node-conditions.ts';
import { sharedCapacity } from './node-capacity.ts';
import type { Absent, GreedMemory, NodeInput, NodePlan, NodePod, PodMemory, PodPlan } from './node-input.ts';
import { purseOf } from './purse.ts';
import { relaxToFit } from './relax.ts';
import type { AllocationRules } from './rules.ts';
import { isInheritedPod, marksOf, type Seat, type Table, takeSeat } from './seat.ts';
import { sizeTarget } from './size-target.ts';
import { steadySum } from './steady-sum.ts';
import { type Change, filterWrites, recentWrites, type Verdict } from './write-filter.ts';

/** With less of its capacity in use a node has enough for all, whatever they might want. */
const BUSY = 0.9;

/**
 * One tick. The sum of the shares is at most what is there at every tick, also half way through the writes, as
 * decreases come first (P16); the same input twice writes nothing the second time (P17). O(n log n) in the pods.
 * @throws RangeError for figures that cannot be, such as a capacity that is no number.
 */
export function planNode(input: NodeInput): NodePlan {
  const { node, rules, now, memory } = input;
  const { managed, absent } = divide(input);
  const state = judgeNode(node.conditions, now);
  const table: Table = { node: state, rules, now };
  const seats = managed.map((each) => takeSeat(each, memory.get(each.pod.uid), table));
  const pods = managed.map(({ pod }) => pod);
  const shared = sharedCapacity(node, pods, absent, rules.margin);
  const claims = seats.reduce((sum, { box }) => sum + box.claim, 0);
  const { capacity, clamps } = capacityUnderPressure(shared.capacity, claims, state);
  const steady = steadySum(seats, { capacity, nominal: shared.nominal }, rules);
  const relaxed = relaxToFit(
    seats.map(({ pod: { uid }, weight, box, kept }) => ({ uid, weight, box, kept })),
    steady.sum,
  );
  const { solution, clamps: groupClamps } = bargain(input, seats, relaxed.mins, steady.sum);
  const isBusy = usedBy(seats) > BUSY * capacity || seats.some((seat) => isWaiting(seat, input));
  const isCongested = isBusy && usableBy(seats, memory) > capacity;
  const room = { allocatable: node.allocatable, scale: steady.sum > 0 ? Math.max(1, capacity / steady.sum) : 1 };
  const greeds = judgeGreed(input, seats, isCongested, room.scale);
  const served = seats.map((seat, index): Served => {
    const share = solution.shares[index] ?? seat.share;
    const greed = greeds[index] ?? calm;
    const { target, clamps: sizeClamps } = sizeTarget(seat, share, greed.isGreedy, room, rules);
    const bounds = seat.clamps.filter((clamp) => isBinding(clamp, share));
    const bargained = [...(relaxed.clamps[index] ?? []), ...(groupClamps[index] ?? [])];
    return { seat, share, greed, target, clamps: [...bounds, ...bargained, ...sizeClamps] };
  });
  const changes = served.map((each) => changeOf(each, input, state.isFrozen));
  const purse = purseOf(seats, absent, { sum: steady.sum, nominal: shared.nominal }, rules);
  const verdicts = filterWrites(changes, purse, rules.write, now, quotaGroups(input, seats));
  const credits = creditsOf(seats, solution);
  const plans = served.map((each, index) => planOf(each, verdicts[index] ?? nothing, credits.get(index), rules));
  return {
    node: node.name,
    capacity,
    steadySum: steady.sum,
    mode: solution.mode,
    shadowPrice: solution.shadowPrice,
    isOvercommitted: solution.overcommitted,
    pods: plans,
    writes: orderWrites(plans),
    unmanaged: absent.map(({ input: { pod }, reason }) => ({ uid: pod.uid, reason })),
    fairness: fairnessOf(plans.map(({ share, want, claim, weight }) => ({ share, want, disagreement: claim, weight }))),
    clamps: [...shared.clamps, ...clamps, ...steady.clamps],
    memory: remember(input, served, plans),
  };
}

/** A seat after the bargain. */
interface Served {
  readonly seat: Seat;
  /** What it gets; `seat.share` is what it has. */
  readonly share: Millicores;
  readonly greed: GreedMemory;
  /** What the share comes to in requests and limits. */
  readonly target: PodPlan['target'];
  /** Everything that moved something, in the order in which it did. */
  readonly clamps: readonly Clamp[];
}

const calm: GreedMemory = { ticksAtShare: 0, isGreedy: false, calmTicks: 0 };
const nothing: Verdict = { isWritten: false, held: 'Settled', isForced: false, isFunding: false };

function planOf(
  { seat, share, greed, target, clamps }: Served,
  verdict: Verdict,
  credit: PodPlan['credit'],
  rules: AllocationRules,
): PodPlan {
  const { pod, current, box, want, weight, demand, marks } = seat;
  const isWritten = verdict.isWritten && rules.apply !== 'observe';
  return {
    uid: pod.uid,
    namespace: pod.namespace,
    name: pod.name,
    current,
    share,
    target,
    claim: box.claim,
    want,
    weight,
    demand,
    isGreedy: greed.isGreedy,
    isWritten,
    held: verdict.isWritten && !isWritten ? 'Observe' : verdict.held,
    isFunding: verdict.isFunding,
    isForced: verdict.isForced,
    coalition: marks.coalition,
    credit,
    clamps,
  };
}

/** A bound that the share does not touch has moved nothing. */
function isBinding({ what, after }: Clamp, share: Millicores): boolean {
  if (what === 'min') return share <= after;
  return what !== 'max' || share >= after;
}

function divide({ pods, rules }: NodeInput) {
  const managed: NodePod[] = [];
  const absent: Absent[] = [];
  for (const each of [...pods].sort((a, b) => ascending(a.pod.uid, b.pod.uid))) {
    const reason = exclusionOf(each.pod, marksOf(each), each.history ?? {}, rules);
    if (reason === undefined) managed.push(each);
    else absent.push({ input: each, reason });
  }
  return { managed, absent };
}

/** What pods could use together. Those that have a ceiling for their greed do no more harm than it allows. */
function usableBy(seats: readonly Seat[], memory: NodeInput['memory']): Millicores {
  return seats.reduce((sum, { pod, box, current }) => {
    const isHeld = memory.get(pod.uid)?.greed.isGreedy === true && current.limit !== undefined;
    return sum + (isHeld ? Math.min(box.max, current.limit) : box.max);
  }, 0);
}

/** Short of CPU without being held by a ceiling, tick after tick: the node does not deliver what it has on paper. */
function isWaiting({ pod, demand }: Seat, { memory, rules }: NodeInput): boolean {
  return demand?.cause === 'pressure' && isShort(demand, memory.get(pod.uid)?.demand, rules);
}

function usedBy(seats: readonly Seat[]): Millicores {
  return seats.reduce((sum, { input }) => sum + (input.measured?.usage ?? 0), 0);
}

/** A limit below the node that the pod did not come with: a ceiling that was set for greed. */
function hasCeiling({ current: { limit }, original }: Seat, { node, rules }: NodeInput): boolean {
  if (rules.apply === 'limits' || rules.ceilings !== 'greedy' || limit === undefined) return false;
  return limit < (original.limit ?? 0.9 * node.allocatable);
}

/** @param scale what there is to use, by what is written as requests: a share of requests is this much CPU. */
function judgeGreed(input: NodeInput, seats: readonly Seat[], isCongested: boolean, scale: number): GreedMemory[] {
  const { memory, rules } = input;
  const contenderOf = ({ pod, weight }: Seat) => ({
    weight,
    ticksAtShare: memory.get(pod.uid)?.greed.ticksAtShare ?? 0,
  });
  const field = fieldOf(seats.map(contenderOf));
  return seats.map((seat) => {
    const standing = standingOf(contenderOf(seat), field);
    const { measured } = seat.input;
    const { isBatch, isLatencySensitive } = seat.marks;
    const { share, current, isComingUp } = seat;
    return nextGreed(
      memory.get(seat.pod.uid)?.greed,
      {
        measured,
        share: scale * share,
        limit: current.limit,
        standing,
        hasCeiling: hasCeiling(seat, input),
        isCongested,
        isBatch,
        // A ceiling that it did not bear does not come back at once.
        isLatencySensitive: isLatencySensitive || seat.probes.rollback !== undefined,
        isComingUp,
      },
      rules.greedy,
    );
  });
}

function changeOf({ seat, greed, target }: Served, { rules, memory }: NodeInput, isFrozen: boolean): Change {
  const { pod, current, share, want, demand, hints } = seat;
  const shareAfter = rules.apply === 'limits' ? (target.limit ?? target.request) : target.request;
  const usage = seat.input.measured?.usage ?? 0;
  return {
    uid: pod.uid,
    before: current,
    after: target,
    share: { before: share, after: shareAfter },
    want,
    isShort:
      share < (seat.probes.rollback?.to ?? 0) ||
      (!greed.isGreedy && demand !== undefined && isShort(demand, memory.get(pod.uid)?.demand, rules)),
    isAtShare: usage >= rules.greedy.atShare * share,
    hasRoom:
      usage < rules.write.raiseAbove * share &&
      share >= Math.max(seat.box.claim, seat.original.request) &&
      // A figure of the application, or a boost, knows more than what is used now.
      want <= (demand?.want ?? want),
    isGreedy: greed.isGreedy,
    isBinding: rules.apply === 'limits' || target.limitPolicy !== 'Keep',
    bandFactor: hints.bandFactor,
    writes: memory.get(pod.uid)?.writes ?? [],
    blocked: isFrozen ? 'Frozen' : seat.input.measured === undefined ? 'Unmeasured' : undefined,
  };
}

/**
 * Throttling counts at once where the load has changed; of a load that is known, and for pressure, it counts when it
 * lasts.
 */
function isShort(
  { shortage, cause, state: { level } }: Demand,
  before: DemandState | undefined,
  {
    demand: {
      level: { knownAfterTicks },
    },
  }: AllocationRules,
): boolean {
  const isNew = cause === 'throttled' && level.samples < knownAfterTicks;
  return shortage > 0 && (isNew || (before?.shortage ?? 0) > 0);
}

/** Decreases first: what they free pays for the rest. */
function orderWrites(plans: readonly PodPlan[]): PodPlan[] {
  const growth = ({ target, current }: PodPlan): number => target.request - current.request;
  return plans.filter(({ isWritten }) => isWritten).sort((a, b) => growth(a) - growth(b));
}

function remember(
  { memory, now }: NodeInput,
  served: readonly Served[],
  plans: readonly PodPlan[],
): ReadonlyMap<string, PodMemory> {
  const written = new Set(plans.flatMap(({ uid, isWritten }) => (isWritten ? [uid] : [])));
  return new Map(
    served.map(({ seat: { input, pod, demand, probes }, greed }): [string, PodMemory] => {
      const before = memory.get(pod.uid);
      const isInherited = isInheritedPod(input, before);
      const recent = recentWrites(before?.writes ?? [], now);
      const writes = written.has(pod.uid) ? [...recent, now] : recent;
      return [pod.uid, { isInherited, demand: demand?.state ?? before?.demand, probes, greed, writes }];
    }),
  );
}
