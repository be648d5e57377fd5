/** Spot comes, goes and is taken away at random: plan, guards, admission and the memory of spot together, in model time. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideAdmission } from '../decide/placement/admission.ts';
import { planWorkload } from '../decide/placement/converge.ts';
import { noticeStranded } from '../decide/placement/notice-stranded.ts';
import { createSpotMemory, type SpotMemory } from '../decide/placement/spot-memory.ts';
import {
  createWorld,
  inputFor,
  mix,
  nodeOf,
  podFrom,
  restampAll,
  scale,
  viewOf,
  type World,
} from '../decide/placement/testing/world.ts';
import { createSeededRandom, type Random } from '../lib/random.ts';
import { nodeClassProfile } from '../model/node-profiles.ts';
import { isLive } from '../model/owners.ts';
import type { PlacementSettings } from '../model/placement-settings.ts';
import type { PodRecord } from '../model/records.ts';
import { aDeployment, aStatefulSet, NOON } from '../model/testing/records.ts';
import type { InFlightEviction } from './context.ts';
import { inspect } from './guard.ts';
import { createDisruptionLog } from './history.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const STEP = 20 * SECOND;

interface Event {
  readonly kind: 'spot-away' | 'spot-back' | 'reclaim' | 'grow' | 'shrink';
  /** Since the event before. */
  readonly afterMinutes: number;
}

interface Story {
  readonly world: World;
  readonly events: readonly Event[];
  readonly random: Random;
  /** Time after the last event, with spot back. */
  readonly calmMinutes: number;
}

interface Told {
  /** Pods made or recreated as cover. */
  covers: number;
  fallbacks: number;
  /** When running pods were evicted. */
  readonly movesAt: number[];
  readonly returnsAt: number[];
  /** Pods that a scale-down took although others had higher slots: they were not running yet. */
  outOfOrder: number;
  /** Most live pods that were not ready when a ready one was moved. */
  mostUnready: number;
  /** Moves that left fewer on on-demand than the floor. */
  floorBroken: number;
}

function live({ world, events, random, calmMinutes }: Story): Told {
  const { settings, sides } = world;
  const spot: SpotMemory = createSpotMemory({
    random,
    backoff: () => ({ initialMillis: 3 * MINUTE, factor: 2, maxMillis: 60 * MINUTE, jitter: 0.25 }),
    probeLimitMillis: () => settings.fallback.afterMillis + 2 * MINUTE,
  });
  const history = createDisruptionLog(settings.moveBackoffMillis);
  const told: Told = {
    covers: 0,
    fallbacks: 0,
    movesAt: [],
    returnsAt: [],
    outOfOrder: 0,
    mostUnready: 0,
    floorBroken: 0,
  };
  let isSpotThere = true;
  let inFlight: InFlightEviction[] = [];
  const placeAt = new Map<string, number>();
  const goneAt = new Map<string, number>();

  const happen = ({ kind }: Event): void => {
    if (kind === 'spot-away') isSpotThere = false;
    if (kind === 'spot-back') isSpotThere = true;
    if (kind === 'reclaim') world.pods = world.pods.filter(({ nodeName }) => nodeName !== nodeOf('spot'));
    const { replicas } = world.workload;
    if (kind === 'grow') scale(world, Math.min(10, replicas + 2));
    if (kind === 'shrink') scale(world, Math.max(2, replicas - 2));
  };
  const nameFor = (): string | undefined => {
    if (world.workload.rollout.type !== 'StatefulSet') return undefined;
    const taken = new Set(world.pods.map(({ name }) => name));
    return Array.from({ length: 20 }, (_, ordinal) => `db-${ordinal}`).find((name) => !taken.has(name));
  };
  const make = (): void => {
    const name = nameFor();
    const decision = decideAdmission({ ...inputFor(world, name === undefined ? {} : { pod: { name } }), spot });
    if (decision.kind !== 'steered') throw new Error(decision.message);
    const fallback = decision.stamps['spotalis.io/fallback'] === 'true';
    if (fallback) told.covers++;
    const pod = podFrom(world, decision, {
      fallback,
      nodeName: undefined,
      phase: 'Pending',
      ready: false,
      unschedulableSince: world.now,
      ...(name !== undefined && { name, uid: `${name}-${world.requests}` }),
    });
    world.pods.push(pod);
    world.ledger.podSeen(pod.admissionId ?? '');
  };
  const isComplete = (): boolean => {
    // OrderedReady: the next ordinal is made when all before it are ready.
    if (world.workload.rollout.type === 'StatefulSet' && world.pods.some((pod) => !pod.ready)) return true;
    return world.pods.length >= world.workload.replicas;
  };
  const controllersWork = (): void => {
    const excess = world.pods.length - world.workload.replicas;
    if (excess > 0) {
      const rank = (pod: PodRecord): number => (pod.nodeName === undefined ? 1000 : 0) - pod.deletionCost;
      const ordinal = (pod: PodRecord): number => Number(pod.name.split('-')[1]);
      const isSet = world.workload.rollout.type === 'StatefulSet';
      const doomed = world.pods
        .toSorted((a, b) => (isSet ? ordinal(b) - ordinal(a) : rank(b) - rank(a)))
        .slice(0, excess);
      told.outOfOrder += doomed.filter((pod) => pod.nodeName === undefined).length;
      world.pods = world.pods.filter((pod) => !doomed.includes(pod));
    }
    while (!isComplete()) make();
  };
  /** The scheduler and the autoscaler behind it. */
  const place = (): void => {
    world.pods = world.pods.map((pod) => {
      if (pod.nodeName !== undefined || (pod.capacity === 'spot' && !isSpotThere)) return pod;
      const at = placeAt.get(pod.uid) ?? world.now + STEP * Math.floor(random.next() * 9);
      placeAt.set(pod.uid, at);
      if (at > world.now) return pod;
      if (pod.capacity === 'spot') spot.recordLanded(world.workload.uid, world.now);
      const nodeName = nodeOf(pod.capacity ?? 'spot');
      return {
        ...pod,
        nodeName,
        phase: 'Running',
        ready: true,
        readyChangedAt: world.now,
        unschedulableSince: undefined,
      };
    });
  };
  const operate = (): void => {
    const view = viewOf(world);
    const { workload, now } = world;
    noticeStranded(spot, { view, sides, settings, workload, now });
    const policy = world.readPolicy(view, workload);
    const plan = planWorkload({ view, sides, workload, settings, policy, spot, now });
    const leadership = { leader: true, sinceMillis: NOON - 60 * MINUTE };
    const waitingCovers = world.pods.filter((pod) => pod.fallback && pod.nodeName === undefined).length;
    expect(plan.decisions.filter(({ kind }) => kind !== 'restamp').length).toBeLessThanOrEqual(1);
    for (const decision of plan.decisions) {
      const context = { view, sides, settings, policy, history, inFlight, leadership, spot, waitingCovers, now };
      const verdict = inspect(decision, context);
      if (verdict.kind === 'blocked') continue;
      const { uid } = decision.pod;
      if (decision.kind === 'fallback') {
        world.pods = world.pods.filter((pod) => pod.uid !== uid);
        told.fallbacks++;
      } else if (decision.kind === 'evict') {
        if (decision.to === 'spot') spot.startProbe(workload.uid, now);
        if (decision.isReturn === true) {
          history.recordReturn(workload.uid, now);
          told.returnsAt.push(now);
        }
        history.recordDisruption(workload.uid, now);
        inFlight.push({ workloadUid: workload.uid, podUid: uid, since: now });
        const others = world.pods.filter((pod) => pod.uid !== uid);
        if (world.pods.find((pod) => pod.uid === uid)?.ready === true) {
          told.movesAt.push(now);
          told.mostUnready = Math.max(told.mostUnready, workload.replicas - others.filter(({ ready }) => ready).length);
          const onDemand = others.filter(({ nodeName }) => nodeName === nodeOf('on-demand')).length;
          if (decision.to === 'spot' && onDemand < plan.floor) told.floorBroken++;
        }
        world.pods = world.pods.map((pod) => (pod.uid === uid ? { ...pod, deletingAt: now + 30 * SECOND } : pod));
        goneAt.set(uid, now + STEP);
      }
    }
    if (plan.decisions.some(({ kind }) => kind === 'restamp') && !settings.readOnly) restampAll(world);
  };

  const queue = [...events, { kind: 'spot-back', afterMinutes: 1 } as const];
  let nextAt = world.now;
  for (const event of queue) {
    nextAt += event.afterMinutes * MINUTE;
    for (; world.now < nextAt; world.now += STEP) step();
    happen(event);
  }
  for (const end = world.now + calmMinutes * MINUTE; world.now < end; world.now += STEP) step();
  return told;

  function step(): void {
    world.pods = world.pods.filter(({ uid }) => (goneAt.get(uid) ?? Number.POSITIVE_INFINITY) > world.now);
    inFlight = inFlight.filter(({ podUid }) => world.pods.some(({ uid }) => uid === podUid));
    controllersWork();
    place();
    operate();
  }
}

const provisionable = nodeClassProfile(['karpenter']);

function aWorld(
  kind: 'Deployment' | 'StatefulSet',
  percentage: number,
  floor: number,
  changes: Partial<PlacementSettings> = {},
): World {
  const annotations = { 'spotalis.io/spot-percentage': `${percentage}`, 'spotalis.io/min-on-demand': `${floor}` };
  const make = kind === 'Deployment' ? aDeployment : aStatefulSet;
  return createWorld(make({ replicas: 4, annotations }), { nodeClasses: provisionable, ...changes });
}

const anyEvents = fc.array(
  fc.record({
    kind: fc.constantFrom('spot-away', 'spot-away', 'spot-back', 'reclaim', 'grow', 'shrink'),
    afterMinutes: fc.integer({ min: 1, max: 25 }),
  }),
  { minLength: 1, maxLength: 10 },
);

describe('a life with spot that comes and goes', () => {
  const anyLife = fc.record({
    kind: fc.constantFrom('Deployment' as const, 'StatefulSet' as const),
    percentage: fc.integer({ min: 0, max: 100 }),
    floor: fc.nat({ max: 3 }),
    returnPerWindow: fc.constantFrom(1, 2, 10),
    events: anyEvents,
    seed: fc.nat(),
  });

  test('hazard H6, bug 8, bug 16: ends exact; never more moves than covers, one pod at a time, the floor is not moved away', () => {
    fc.assert(
      fc.property(anyLife, ({ kind, percentage, floor, returnPerWindow, events, seed }) => {
        const fallback = { afterMillis: 5 * MINUTE, returnPerWindow, maxConcurrent: 50, maxPercent: 100 };
        const world = aWorld(kind, percentage, floor, { fallback });
        const told = live({ world, events, random: createSeededRandom(seed), calmMinutes: 13 * 60 });
        const view = viewOf(world);
        const { sides, settings, workload, now } = world;
        const plan = planWorkload({ view, sides, workload, settings, policy: world.readPolicy(view, workload), now });
        expect(mix(world)).toEqual([plan.target?.spot, plan.target?.onDemand]);
        expect(world.pods.every((pod) => isLive(pod) && pod.ready)).toBe(true);
        expect(told.movesAt.length).toBeLessThanOrEqual(told.covers + told.outOfOrder);
        expect(told.mostUnready).toBeLessThanOrEqual(1);
        expect(told.floorBroken).toBe(0);
        // At rest means at rest: the last hours brought nothing.
        expect(told.movesAt.filter((at) => at > now - 60 * MINUTE)).toEqual([]);
        for (const [index, at] of told.returnsAt.entries()) {
          const before = told.returnsAt[index - returnPerWindow];
          if (before !== undefined) expect(at - before).toBeGreaterThanOrEqual(60 * MINUTE);
        }
      }),
      { numRuns: 25 },
    );
  });

  test('in read-only mode nothing is moved and nothing recreated', () => {
    fc.assert(
      fc.property(anyEvents, fc.nat(), (events, seed) => {
        const world = aWorld('Deployment', 60, 1);
        live({ world, events: [], random: createSeededRandom(seed), calmMinutes: 5 });
        const readOnly: World = { ...world, settings: { ...world.settings, readOnly: true } };
        // Admission leaves pods unsteered in read-only mode, so only what is there already is at stake.
        const away = events.filter(({ kind }) => kind === 'spot-away' || kind === 'spot-back');
        readOnly.pods = readOnly.pods.map((pod) =>
          pod.capacity === 'spot'
            ? { ...pod, nodeName: undefined, phase: 'Pending', ready: false, unschedulableSince: readOnly.now }
            : pod,
        );
        const told = live({
          world: readOnly,
          events: [{ kind: 'spot-away', afterMinutes: 0 }, ...away.filter(({ kind }) => kind === 'spot-away')],
          random: createSeededRandom(seed),
          calmMinutes: 30,
        });
        expect(told.fallbacks).toBe(0);
        expect(told.movesAt).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });

  test('hazard H6: spot that flaps for a day moves pods a handful of times', () => {
    const events = Array.from({ length: 72 }, (_, index): Event[] => [
      { kind: 'spot-away', afterMinutes: 10 },
      { kind: index % 3 === 0 ? 'reclaim' : 'spot-away', afterMinutes: 1 },
      { kind: 'spot-back', afterMinutes: 9 },
    ]).flat();
    const fallback = { afterMillis: 5 * MINUTE, returnPerWindow: 10, maxConcurrent: 50, maxPercent: 100 };
    const world = aWorld('Deployment', 75, 1, { fallback });
    const told = live({ world, events, random: createSeededRandom(3), calmMinutes: 12 * 60 });
    expect(mix(world)).toEqual([3, 1]);
    expect(told.movesAt.length).toBeLessThanOrEqual(told.covers);
    // A day has 72 rounds; three pods there and back in each would be 216 moves.
    expect(told.movesAt.length).toBeLessThanOrEqual(72);
  });

  test('the same life twice is the same life', () => {
    const lives = [5, 5].map((seed) => {
      const world = aWorld('Deployment', 75, 1);
      const events: Event[] = [
        { kind: 'spot-away', afterMinutes: 5 },
        { kind: 'reclaim', afterMinutes: 1 },
        { kind: 'spot-back', afterMinutes: 20 },
      ];
      return live({ world, events, random: createSeededRandom(seed), calmMinutes: 300 }).movesAt;
    });
    expect(lives[0]).toEqual(lives[1]);
    expect(lives[0]?.length).toBeGreaterThan(0);
  });
});
