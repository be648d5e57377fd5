/** Replays memory traces under our engine and under the arithmetic of others, next to the least that kills nothing. */
import type { Millis } from '../../lib/units.ts';
import { generateMemoryTraces, type MemoryTrace } from './memory-trace.ts';
import { createOurMemory, createOurMemoryPerReplica, hasIdentity } from './our-memory.ts';
import {
  leastConstant,
  type MemoryFigures,
  type MemoryStrategy,
  type MemorySums,
  poolMemory,
  replayMemory,
} from './replay-memory.ts';
import { createKrrMemory } from './rivals/krr-memory.ts';
import { createVpaMemory } from './rivals/vpa-memory.ts';

/** All strategies over one trace, or over several as if they were one. */
export interface MemoryComparison {
  readonly trace: string;
  readonly strategies: readonly (MemoryFigures & { readonly strategy: string })[];
  /**
   * The slack of the one value for all replicas that would just have killed nothing, had it been known beforehand,
   * 0..1.
   */
  readonly leastSlack: number;
}

export interface NamedMemoryStrategy {
  readonly name: string;
  /** A fresh one for each trace; undefined: it has nothing to say of this one. */
  readonly create: (trace: MemoryTrace) => MemoryStrategy | undefined;
  /**
   * The least time between two changes, where the strategy has rules of its own; undefined: as for the others. A kill
   * is answered at once by everybody.
   */
  readonly cooldownMillis?: Millis | undefined;
}

const ours: NamedMemoryStrategy = { name: 'stowage', create: () => createOurMemory() };
/** What a single value cannot do, where replicas are the same all the time. */
const oursPerReplica: NamedMemoryStrategy = {
  name: 'stowage, per replica',
  create: (trace) => (hasIdentity(trace) ? createOurMemoryPerReplica() : undefined),
};
const vpa: NamedMemoryStrategy = { name: 'vpa-like', create: createVpaMemory };
const krr: NamedMemoryStrategy = { name: 'krr-like', create: createKrrMemory };
const asIs: NamedMemoryStrategy = {
  name: 'as is',
  create: ({ requested }) =>
    requested === undefined ? undefined : { observe() {}, noteOom() {}, choose: () => requested },
};

/**
 * VPA's arithmetic fed with the hottest replica alone, as ours is: what it would need to kill no replica that is above
 * the others.
 */
const vpaByHottest: NamedMemoryStrategy = {
  name: 'vpa, hottest',
  create() {
    const strategy = createVpaMemory();
    return {
      ...strategy,
      observe: (_replica, usage, at) => strategy.observe(0, usage, at),
      // Else each replica that was killed would have a window, and so a sample, beside the hottest one's.
      noteOom: (_replica, limit, at) => strategy.noteOom(0, limit, at),
    };
  },
};

/**
 * Ours, then `more` (policies), then the others; ours for each replica, and VPA by the hottest, only where there may be
 * several.
 */
export function memoryStrategies(more: readonly NamedMemoryStrategy[], hasReplicas: boolean): NamedMemoryStrategy[] {
  const [forEach, byHottest] = hasReplicas ? [[oursPerReplica], [vpaByHottest]] : [[], []];
  return [ours, ...forEach, ...more, vpa, ...byHottest, krr, asIs];
}

/** Takes traces one after the other, so that thousands of them need the memory of one. */
export interface MemoryComparing {
  /** @returns the comparison of this trace alone. */
  add(trace: MemoryTrace): MemoryComparison;
  /** Of all that were added, as if they were one. */
  pooled(name: string): MemoryComparison;
}

/** @param strategies in the order of the rows; those that have nothing to say of a trace are left out of it. */
export function createMemoryComparing(strategies: readonly NamedMemoryStrategy[]): MemoryComparing {
  const compared = strategies.map((strategy) => ({ strategy, sums: [] as MemorySums[] }));
  const least: MemorySums[] = [];
  return {
    add(trace) {
      const own = leastConstant(trace);
      least.push(own);
      const figures = compared.flatMap(({ strategy, sums }) => {
        const created = strategy.create(trace);
        if (created === undefined) return [];
        const sum = replayMemory(trace, created, strategy.cooldownMillis);
        sums.push(sum);
        return [{ strategy: strategy.name, ...poolMemory([sum]) }];
      });
      return { trace: trace.name, strategies: figures, leastSlack: poolMemory([own]).slack };
    },
    pooled: (trace) => ({
      trace,
      strategies: compared
        .filter(({ sums }) => sums.length > 0)
        .map(({ strategy, sums }) => ({ strategy: strategy.name, ...poolMemory(sums) })),
      leastSlack: poolMemory(least).slack,
    }),
  };
}

/**
 * One comparison for each scenario, pooled over as many traces of it as there are seeds.
 * @param more strategies beside ours and VPA's.
 */
export function compareMemory(seeds: readonly number[], more: readonly NamedMemoryStrategy[] = []): MemoryComparison[] {
  const traces = Map.groupBy(seeds.flatMap(generateMemoryTraces), ({ name }) => name);
  return [...traces].map(([name, same]) => {
    const hasReplicas = same.some(({ points }) => (points[0]?.demand.length ?? 0) > 1);
    const comparing = createMemoryComparing(memoryStrategies(more, hasReplicas));
    for (const trace of same) comparing.add(trace);
    return comparing.pooled(name);
  });
}
