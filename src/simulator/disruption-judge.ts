/**
 * Holds disruptions to their time and their purpose: windows, pauses, and that each brings the mix nearer to its aim.
 */
import { placementKeys } from '../api/annotations.ts';
import type { KubeObject } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { Caches } from '../cluster/caches.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { type DisruptionWindow, parseWindow } from '../lib/schedule.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { Side } from '../model/records.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import type { Ledger } from './ledger.ts';
import type { PodFacts } from './pod-facts.ts';
import type { ClockErrors } from './world.ts';

export interface DisruptionJudgeOptions {
  readonly caches: Caches;
  readonly config: Config;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly clockErrors: () => ClockErrors;
}

export interface DisruptionJudge {
  /**
   * The operator is about to evict a pod that has a node.
   * @param mayBeForSize pods of the workload may be evicted for their size
   * @returns whether nothing else explains it
   */
  beforeEviction(facts: WorkloadFacts, pod: PodFacts, mayBeForSize: boolean): boolean;
  /** Pods of the workload are replaced for a size, all of them. @param isTurnedBack those of a rollout under way, as they were */
  onRollout(facts: WorkloadFacts, isTurnedBack: boolean): void;
  /** A pod of the workload was evicted. @param at when that, or that its answer is lost, was known to who asked */
  disrupted(facts: WorkloadFacts, at: EpochMillis): void;
  /** The workload is about to change: up to now it was like this. */
  beforeChange(facts: WorkloadFacts): void;
  /** Replicas of the operator may have this configuration from now on. */
  onConfig(config: Config): void;
}

/** Watches may be late, and a request under way is not called back. */
const GRACE_MILLIS: Millis = 60_000;
/** A decision becomes a request within this time. */
const MOMENT_MILLIS: Millis = 1000;

export function createDisruptionJudge(options: DisruptionJudgeOptions): DisruptionJudge {
  const { caches, config, clock, clockErrors } = options;
  const { check } = options.ledger;
  const last = new Map<string, EpochMillis>();
  /** When a side last had more pods than it should, by uid of the workload and side. */
  const excess = new Map<string, EpochMillis>();
  let least: Millis = Number.POSITIVE_INFINITY;

  const objectOf = ({ kind, key }: WorkloadFacts): KubeObject | undefined =>
    kind === 'Deployment' ? caches.of(resources.deployments).get(key) : caches.of(resources.statefulSets).get(key);

  const checkTime = (facts: WorkloadFacts, what: string): void => {
    const [namespace = ''] = facts.key.split('/');
    const places = [objectOf(facts), caches.of(resources.namespaces).get(namespace)];
    const text = (key: string, otherwise: string): string =>
      places.map((place) => place?.metadata?.annotations?.[key]).find((value) => value !== undefined) ?? otherwise;
    const schedule = text(placementKeys.disruptionSchedule, config.operator.disruptionWindow.schedule);
    const duration = text(placementKeys.disruptionDuration, config.operator.disruptionWindow.duration);
    const now = clock.now();
    if (schedule !== '' || duration !== '') {
      const parsed = parseWindow(schedule, duration);
      const slack = clockErrors().presentMillis + MOMENT_MILLIS;
      const isOpen = parsed.ok && opensBetween(parsed.window, now - slack, now + slack);
      check('window', isOpen, () => `${facts.key}: ${what} outside ${schedule} for ${duration}`);
    }
    const before = last.get(facts.uid);
    const pause = before === undefined ? Number.POSITIVE_INFINITY : now - before;
    check('cooldown', pause >= least, () => `${facts.key}: ${what} ${pause} ms after the last one, at least ${least}`);
  };

  const key = (facts: WorkloadFacts, side: Side): string => `${facts.uid} ${side}`;

  const countsOn = (facts: WorkloadFacts, side: Side): { readonly count: number; readonly wanted: number } => {
    let count = 0;
    for (const each of facts.pods.values()) if (each.isLive && (each.side ?? each.capacity) === side) count++;
    return { count, wanted: side === 'spot' ? facts.targetSpot : facts.replicas - facts.targetSpot };
  };
  const hasExcess = (facts: WorkloadFacts, side: Side): boolean => {
    const { count, wanted } = countsOn(facts, side);
    const since = clock.now() - (excess.get(key(facts, side)) ?? Number.NEGATIVE_INFINITY);
    return count > wanted || since <= GRACE_MILLIS;
  };

  const judge: DisruptionJudge = {
    beforeEviction(facts, { name, side }, mayBeForSize) {
      checkTime(facts, `${name} evicted`);
      if (facts.rule === undefined || side === undefined) return mayBeForSize;
      const isMove = hasExcess(facts, side);
      if (mayBeForSize) return !isMove;
      check('aim', isMove, () => {
        const { count, wanted } = countsOn(facts, side);
        return `${facts.key}: ${name} evicted from ${side}, which has ${count} and should have ${wanted}`;
      });
      return false;
    },
    onRollout(facts, isTurnedBack) {
      if (!isTurnedBack) checkTime(facts, 'rollout of a size');
      last.set(facts.uid, clock.now());
    },
    disrupted: ({ uid }, at) => void last.set(uid, Math.max(at, last.get(uid) ?? at)),
    beforeChange(facts) {
      const { counts, targetSpot, replicas } = facts;
      if (counts.spot > targetSpot) excess.set(key(facts, 'spot'), clock.now());
      if (counts.onDemand > replicas - targetSpot) excess.set(key(facts, 'on-demand'), clock.now());
    },
    onConfig({ controllers }) {
      least = Math.min(least, controllers.workloadTiming.cooldownPeriod);
    },
  };
  judge.onConfig(config);
  return judge;
}

function opensBetween(window: DisruptionWindow, from: EpochMillis, until: EpochMillis): boolean {
  return window.isOpen(from) || (window.nextChange(from) ?? Number.POSITIVE_INFINITY) <= until;
}
