/** Plan, guard and admission together in model time: what a workload goes through until it is at rest. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeMove, type Move } from '../decide/placement/moves.ts';
import {
  admitSteered,
  createWorld,
  mix,
  nodeOf,
  plan,
  podFrom,
  runUnsteered,
  viewOf,
  type World,
} from '../decide/placement/testing/world.ts';
import { createSeededRandom, type Random } from '../lib/random.ts';
import { isLive } from '../model/owners.ts';
import { aDeployment, NOON } from '../model/testing/records.ts';
import type { InFlightEviction } from './context.ts';
import { inspect } from './guard.ts';
import { createDisruptionLog, type DisruptionLog } from './history.ts';

interface Run {
  readonly world: World;
  readonly log: DisruptionLog;
  readonly evictedAt: number[];
  readonly reasons: Set<string>;
  /** Most pods missing or unready at one time. */
  mostUnavailable: number;
  leastOnDemand: number;
}

interface Life {
  readonly random: Random;
  readonly seconds: number;
  /** Whether the webhook steers the replacement made at this second. */
  readonly steers?: (second: number) => boolean;
}

function live(world: World, life: Life): Run {
  const log = createDisruptionLog(world.settings.moveBackoffMillis);
  const run: Run = {
    world,
    log,
    evictedAt: [],
    reasons: new Set(),
    mostUnavailable: 0,
    leastOnDemand: Number.POSITIVE_INFINITY,
  };
  let inFlight: InFlightEviction[] = [];
  let move: Move | undefined;
  const goneAt = new Map<string, number>();
  const readyAt = new Map<string, number>();

  for (let second = 0; second < life.seconds; second++) {
    world.now = NOON + second * 1000;
    world.pods = world.pods.filter(({ uid }) => (goneAt.get(uid) ?? Number.POSITIVE_INFINITY) > second);
    world.pods = world.pods.map((pod) =>
      (readyAt.get(pod.uid) ?? Number.POSITIVE_INFINITY) <= second ? { ...pod, ready: true } : pod,
    );
    inFlight = inFlight.filter(({ podUid }) => world.pods.some(({ uid }) => uid === podUid));
    while (world.pods.filter(isLive).length < world.workload.replicas) {
      const isSteered = life.steers?.(second) ?? true;
      const made = isSteered ? podFrom(world, admitSteered(world)) : runUnsteered(world, 'spot');
      if (isSteered) world.pods.push(made);
      world.pods = world.pods.map((pod) =>
        pod.uid === made.uid ? { ...pod, ready: false, readyChangedAt: world.now } : pod,
      );
      readyAt.set(made.uid, second + 1 + Math.floor(life.random.next() * 8));
    }
    const view = viewOf(world);
    if (move !== undefined) {
      const outcome = judgeMove(view, world.sides, world.workload, move, { patienceMillis: 60_000, now: world.now });
      if (outcome === 'failed') log.recordFailedMove(move.workloadUid, move.to, world.now);
      if (outcome === 'landed') log.recordLandedMove(move.workloadUid, move.to);
      if (outcome !== 'pending') move = undefined;
    }
    const ready = world.pods.filter((pod) => isLive(pod) && pod.ready);
    run.mostUnavailable = Math.max(run.mostUnavailable, world.workload.replicas - ready.length);
    run.leastOnDemand = Math.min(
      run.leastOnDemand,
      ready.filter(({ nodeName }) => nodeName === nodeOf('on-demand')).length,
    );

    const { decisions, policy } = plan(world);
    for (const decision of decisions) {
      const { sides, settings, now } = world;
      const leadership = { leader: true, sinceMillis: NOON - 60_000 };
      const verdict = inspect(decision, { view, sides, settings, policy, history: log, inFlight, leadership, now });
      if (verdict.kind === 'blocked') run.reasons.add(verdict.block.reason);
      if (verdict.kind === 'blocked' || decision.kind !== 'evict') continue;
      const { uid } = decision.pod;
      run.evictedAt.push(second);
      log.recordDisruption(decision.workloadUid, now);
      inFlight.push({ workloadUid: decision.workloadUid, podUid: uid, since: now });
      move = { workloadUid: decision.workloadUid, podUid: uid, to: decision.to, at: now };
      // The view may show the pod untouched for another second.
      world.pods = world.pods.map((pod) => (pod.uid === uid ? { ...pod, deletingAt: now + 30_000 } : pod));
      goneAt.set(uid, second + 1 + Math.floor(life.random.next() * 5));
    }
  }
  return run;
}

function scattered(replicas: number, percentage: number, min: number, random: Random): World {
  const annotations = { 'spotalis.io/spot-percentage': `${percentage}`, 'spotalis.io/min-on-demand': `${min}` };
  const world = createWorld(aDeployment({ replicas, annotations }));
  world.now = NOON - 3_600_000;
  for (let index = 0; index < replicas; index++) runUnsteered(world, random.next() < 0.5 ? 'spot' : 'on-demand');
  return world;
}

describe('a life under guard', () => {
  const anyLife = fc.record({
    replicas: fc.integer({ min: 2, max: 8 }),
    percentage: fc.integer({ min: 0, max: 100 }),
    min: fc.integer({ min: 0, max: 3 }),
    seed: fc.nat(),
  });

  test('hazard H23: any scatter ends exact: one pod at a time, a cooldown apart, as many evictions as there was drift', () => {
    fc.assert(
      fc.property(anyLife, ({ replicas, percentage, min, seed }) => {
        const random = createSeededRandom(seed);
        const world = scattered(replicas, percentage, min, random);
        const { drift, target } = plan(world);
        const run = live(world, { random, seconds: 40 + replicas * 25 });
        expect(run.evictedAt).toHaveLength(drift);
        expect(mix(world)).toEqual([target?.spot, target?.onDemand]);
        expect(run.mostUnavailable).toBeLessThanOrEqual(1);
        run.evictedAt.forEach((second, index) => {
          const before = run.evictedAt[index - 1];
          if (before !== undefined) expect(second - before).toBeGreaterThanOrEqual(10);
        });
      }),
      { numRuns: 60 },
    );
  });

  test('a floor that is met is never given up on the way', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const random = createSeededRandom(seed);
        const world = scattered(6, 100, 2, random);
        world.pods = world.pods.map((pod) => ({ ...pod, nodeName: nodeOf('on-demand') }));
        expect(live(world, { random, seconds: 200 }).leastOnDemand).toBeGreaterThanOrEqual(2);
      }),
      { numRuns: 20 },
    );
  });

  test('hazard H31: with the webhook down, replacements land where they were; the side is left alone for minutes instead of evicting on', () => {
    const random = createSeededRandom(1);
    const world = scattered(6, 0, 6, random);
    world.pods = world.pods.map((pod) => ({ ...pod, nodeName: nodeOf('spot') }));
    const run = live(world, { random, seconds: 3600, steers: () => false });
    // 3, 6, 12, 24 minutes of back-off leave room for five tries within the hour.
    expect(run.evictedAt.length).toBeLessThanOrEqual(5);
    expect(run.reasons).toContain('SideInBackoff');
  });

  test('hazard H31: after an outage the repair is paced like any other', () => {
    const random = createSeededRandom(2);
    const world = scattered(6, 0, 6, random);
    world.pods = world.pods.map((pod) => ({ ...pod, nodeName: nodeOf('spot') }));
    const run = live(world, { random, seconds: 1200, steers: (second) => second > 60 });
    expect(mix(world)).toEqual([0, 6]);
    expect(run.mostUnavailable).toBe(1);
    expect(run.evictedAt.length).toBeLessThanOrEqual(8);
  });

  test('the same life twice is the same life', () => {
    const lives = [7, 7].map((seed) => {
      const random = createSeededRandom(seed);
      return live(scattered(6, 50, 1, random), { random, seconds: 150 }).evictedAt;
    });
    expect(lives[0]).toEqual(lives[1]);
  });
});
