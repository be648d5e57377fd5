/** Rollouts of a model Deployment controller, in which the order of events is drawn from a seed. */
import { describe, expect, test } from 'vitest';
import { createSeededRandom, type Random } from '../../lib/random.ts';
import type { PodRecord, Side } from '../../model/records.ts';
import { countsFor, floorCount, type SideCounts, type SlotRule } from './slots.ts';
import { admitSteered, fill, mix, nodeOf, pick, podFrom, remove, type World, worldOf } from './testing/world.ts';

interface Rollout {
  readonly world: World;
  readonly replicas: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  /** Pods of each side that find a place; undefined when there is always one. */
  readonly capacity: SideCounts | undefined;
  readonly random: Random;
}

interface Result {
  readonly isDone: boolean;
  /** Fewest ready pods on on-demand at any moment. */
  readonly leastOnDemand: number;
}

const MAX_STEPS = 2000;
/** So many draws in a row without an effect mean that nothing can happen any more. */
const MAX_IDLE = 200;

const isNew = ({ name }: PodRecord): boolean => name.includes('rev2');
const isReady = ({ ready }: PodRecord): boolean => ready;
const isOn =
  (side: Side) =>
  (pod: PodRecord): boolean =>
    pod.capacity === side;

function runRollout(rollout: Rollout): Result {
  const { world, replicas, random } = rollout;
  let leastOnDemand = Number.POSITIVE_INFINITY;
  for (let step = 0, idle = 0; step < MAX_STEPS && idle < MAX_IDLE && !isDone(rollout); step++) {
    const before = world.pods;
    pick(random, [createOne, startOne, removeOne])?.(rollout);
    leastOnDemand = Math.min(leastOnDemand, world.pods.filter(isReady).filter(isOn('on-demand')).length);
    idle = world.pods === before ? idle + 1 : 0;
  }
  return { isDone: isDone(rollout) && world.pods.length === replicas, leastOnDemand };
}

function isDone({ world, replicas }: Rollout): boolean {
  return world.pods.length === replicas && world.pods.every((pod) => isNew(pod) && pod.ready);
}

/** The new ReplicaSet makes a pod while the surge allows one. */
function createOne({ world, replicas, maxSurge }: Rollout): void {
  if (world.pods.filter(isNew).length >= replicas || world.pods.length >= replicas + maxSurge) return;
  const pod = podFrom(world, admitSteered(world, { revision: 'rev2' }), { revision: 'rev2' });
  world.pods = [...world.pods, { ...pod, ready: false, nodeName: undefined, phase: 'Pending' }];
}

/** One of the waiting pods is scheduled and becomes ready, if its side has a place. */
function startOne({ world, capacity, random }: Rollout): void {
  const waiting = pick(
    random,
    world.pods.filter((pod) => !pod.ready),
  );
  const side = waiting?.capacity;
  if (side === undefined) return;
  const limit = side === 'spot' ? capacity?.spot : capacity?.onDemand;
  if (limit !== undefined && world.pods.filter(isReady).filter(isOn(side)).length >= limit) return;
  world.pods = world.pods.map((pod) =>
    pod === waiting ? { ...pod, ready: true, nodeName: nodeOf(side), phase: 'Running' } : pod,
  );
}

/**
 * The old ReplicaSet loses a pod while enough are ready: an unready one first, then that of the lowest deletion cost.
 */
function removeOne({ world, replicas, maxUnavailable }: Rollout): void {
  const [old] = world.pods
    .filter((pod) => !isNew(pod))
    .sort((a, b) => Number(a.ready) - Number(b.ready) || a.deletionCost - b.deletionCost);
  if (old !== undefined && world.pods.filter(isReady).length - 1 >= replicas - maxUnavailable) remove(world, old);
}

interface Drawn extends Rollout {
  readonly rule: SlotRule;
}

function drawRollout(seed: number, options: { readonly hasSpareCapacity: boolean }): Drawn {
  const random = createSeededRandom(seed);
  const draw = (from: number, to: number): number => from + Math.floor(random.next() * (to - from + 1));
  const replicas = draw(1, 12);
  const percentage = draw(0, 100);
  const min = draw(0, 4);
  const maxUnavailable = draw(options.hasSpareCapacity ? 0 : 1, 3);
  const maxSurge = Math.max(draw(0, 4), maxUnavailable === 0 ? 1 : 0);
  const world = worldOf(replicas, percentage, min);
  fill(world);
  world.replicaSets = world.replicaSets.flatMap((set) => [
    set,
    { ...set, uid: `${set.uid}-2`, name: 'web-rev2', revision: 'rev2' },
  ]);
  const rule: SlotRule = {
    spotPercentage: percentage,
    minOnDemand: { kind: 'count', count: min },
    rounding: 'ceil',
    basis: 'total',
  };
  const capacity = options.hasSpareCapacity ? undefined : countsFor(rule, replicas);
  return { world, replicas, maxSurge, maxUnavailable, capacity, random, rule };
}

describe('rollouts', () => {
  test('case 37: hazard H9: bug 26: bug 37: 2,000 random ones end exactly at the target and keep the floor within maxUnavailable', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const drawn = drawRollout(seed, { hasSpareCapacity: true });
      const { isDone: ended, leastOnDemand } = runRollout(drawn);
      const { spot, onDemand } = countsFor(drawn.rule, drawn.replicas);
      expect(ended, `seed ${seed}`).toBe(true);
      expect(mix(drawn.world), `seed ${seed}`).toEqual([spot, onDemand]);
      expect(leastOnDemand, `seed ${seed}`).toBeGreaterThanOrEqual(
        floorCount(drawn.rule, drawn.replicas) - drawn.maxUnavailable,
      );
    }
  });

  test('bug 6: with no spare capacity on either side, 1,000 random ones do not get stuck where maxUnavailable is above 0', () => {
    for (let seed = 1; seed <= 1000; seed++) {
      const drawn = drawRollout(seed, { hasSpareCapacity: false });
      const { isDone: ended } = runRollout(drawn);
      const { spot, onDemand } = countsFor(drawn.rule, drawn.replicas);
      expect(ended, `seed ${seed}`).toBe(true);
      expect(mix(drawn.world), `seed ${seed}`).toEqual([spot, onDemand]);
    }
  });
});
