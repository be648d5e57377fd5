/** The result of a simulation as plain data. */
import type { Sums } from './accounts.ts';
import type { Figures } from './figures.ts';
import type { Invariant } from './invariant-names.ts';
import type { Violation } from './ledger.ts';
import type { SimulatedPool } from './objects.ts';
import type { CheckedAssertion } from './scenario/assertions.ts';
import type { SimulationSeries } from './series.ts';

export interface PoolReport {
  readonly name: string;
  readonly class: 'spot' | 'on-demand';
  readonly instanceType: string;
  readonly nodeHours: number;
  readonly cost: number;
  /** What the same hours would have cost on on-demand. */
  readonly costOnDemand: number;
}

export interface SimulationReport {
  readonly scenario: string;
  readonly description: string;
  readonly seed: number;
  readonly figures: Figures;
  readonly pools: readonly PoolReport[];
  /** By reason, of the operator's events. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly asserts: readonly CheckedAssertion[];
  /** The first of them; {@link Figures.violations} counts all. */
  readonly violations: readonly Violation[];
  readonly checks: Readonly<Record<Invariant, number>>;
  /** What could not be done as written, one sentence each. */
  readonly problems: readonly string[];
  /** Where it was asked for. */
  readonly series?: SimulationSeries;
}

/** What was counted while the simulation ran. */
export interface Tally {
  readonly elapsedMillis: number;
  readonly podsPeak: number;
  readonly evictions: number;
  readonly evictionsBound: number;
  readonly fallbacks: number;
  readonly returns: number;
  readonly interruptions: number;
  readonly nodesLost: number;
  readonly rollouts: number;
  readonly scalings: number;
  readonly admissions: number;
  readonly unsteered: number;
  readonly events: number;
  readonly writes: number;
  readonly resizes: number;
  readonly retemplates: number;
  readonly oomKills: number;
}

const HOUR_MILLIS = 3_600_000;
const MINUTE_MILLIS = 60_000;

/** In the order of the pools; one that never had a node is there with zeros. @param nodeHours by name of the pool. */
export function poolReports(
  pools: readonly SimulatedPool[],
  nodeHours: ReadonlyMap<string, number>,
): readonly PoolReport[] {
  return pools.map((pool) => {
    const hours = nodeHours.get(pool.name) ?? 0;
    const { name, instanceType, pricePerHour, onDemandPerHour } = pool;
    return {
      name,
      class: pool.class,
      instanceType,
      nodeHours: hours,
      cost: hours * pricePerHour,
      costOnDemand: hours * onDemandPerHour,
    };
  });
}

/** @param broken how often each invariant was. */
export function figuresOf(
  tally: Tally,
  sums: Sums,
  pools: readonly PoolReport[],
  broken: Readonly<Record<Invariant, number>>,
): Figures {
  const hours = tally.elapsedMillis / HOUR_MILLIS;
  const cost = pools.reduce((sum, pool) => sum + pool.cost, 0);
  const costOnDemand = pools.reduce((sum, pool) => sum + pool.costOnDemand, 0);
  const percentOf = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole);
  const spotPercent = percentOf(sums.spot, sums.managedReplicas);
  const spotPossiblePercent = percentOf(sums.spotPossible, sums.managedReplicas);
  return {
    hours,
    podsMean: hours === 0 ? 0 : sums.replicas / tally.elapsedMillis,
    podsPeak: tally.podsPeak,
    cost,
    costOnDemand,
    savingPercent: percentOf(costOnDemand - cost, costOnDemand),
    spotPercent,
    spotPossiblePercent,
    spotGap: spotPossiblePercent - spotPercent,
    floorViolations: broken.floor,
    floorShortMinutes: sums.floorShort / MINUTE_MILLIS,
    pdbViolations: broken.budget,
    evictions: tally.evictions,
    evictionsBound: tally.evictionsBound,
    fallbacks: tally.fallbacks,
    returns: tally.returns,
    interruptions: tally.interruptions,
    nodesLost: tally.nodesLost,
    rollouts: tally.rollouts,
    scalings: tally.scalings,
    admissions: tally.admissions,
    admissionsFailed: broken.webhook,
    unsteered: tally.unsteered,
    waitingMinutes: sums.waiting / MINUTE_MILLIS,
    downMinutes: sums.down / MINUTE_MILLIS,
    eventsPerHour: hours === 0 ? 0 : tally.events / hours,
    writes: tally.writes,
    resizes: tally.resizes,
    retemplates: tally.retemplates,
    oomKills: tally.oomKills,
    violations: Object.values(broken).reduce((sum, each) => sum + each, 0),
    oscillations: broken.oscillation,
  };
}
