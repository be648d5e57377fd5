/**
 * The life of one workload while spot comes, goes and is taken away: plan, guards, admission and the memory of spot
 * together, in model time.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { decideAdmission } from '../../decide/placement/admission.ts';
import { planWorkload } from '../../decide/placement/converge.ts';
import { noticeStranded } from '../../decide/placement/notice-stranded.ts';
import { createSpotMemory, type SpotMemory } from '../../decide/placement/spot-memory.ts';
import {
  createWorld,
  inputFor,
  nodeOf,
  podFrom,
  restampAll,
  scale,
  viewOf,
  type World,
} from '../../decide/placement/testing/world.ts';
import type { Random } from '../../lib/random.ts';
import { nodeClassProfile } from '../../model/node-profiles.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import type { PodRecord } from '../../model/records.ts';
import { aDeployment, aStatefulSet, NOON } from '../../model/testing/records.ts';
import type { InFlightEviction } from '../context.ts';
import { inspect } from '../guard.ts';
import { createDisruptionLog } from '../history.ts';

const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
const STEP = 20 * SECOND;

export interface SpotEvent {
  readonly kind: 'spot-away' | 'spot-back' | 'reclaim' | 'grow' | 'shrink';
  /** Since the event before. */
  readonly afterMinutes: number;
}

export interface Story {
  readonly world: World;
  readonly events: readonly SpotEvent[];
  readonly random: Random;
  /** Time after the last event, with spot back. */
  readonly calmMinutes: number;
}

export interface Told {
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

/**
 * Lives through the events and the calm after them, in steps of 20 seconds. Fails where more than one pod were to end
 * at once.
 */
export function live({ world, events, random, calmMinutes }: Story): Told {
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

  const happen = ({ kind }: SpotEvent): void => {
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

export function aWorld(
  kind: 'Deployment' | 'StatefulSet',
  percentage: number,
  floor: number,
  changes: Partial<PlacementSettings> = {},
): World {
  const annotations = { 'spotalis.io/spot-percentage': `${percentage}`, 'spotalis.io/min-on-demand': `${floor}` };
  const make = kind === 'Deployment' ? aDeployment : aStatefulSet;
  return createWorld(make({ replicas: 4, annotations }), { nodeClasses: provisionable, ...changes });
}

export const anyEvents = fc.array(
  fc.record({
    kind: fc.constantFrom('spot-away', 'spot-away', 'spot-back', 'reclaim', 'grow', 'shrink'),
    afterMinutes: fc.integer({ min: 1, max: 25 }),
  }),
  { minLength: 1, maxLength: 10 },
);
