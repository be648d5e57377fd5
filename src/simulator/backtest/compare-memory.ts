/** Replays generated memory traces under our engine and under VPA's arithmetic, next to the least that kills nothing. */
import { generateMemoryTraces } from './memory-trace.ts';
import { createOurMemory } from './our-memory.ts';
import { leastConstant, type MemoryFigures, type MemoryStrategy, poolMemory, replayMemory } from './replay-memory.ts';
import { createVpaMemory } from './rivals/vpa-memory.ts';

export interface MemoryComparison {
  readonly trace: string;
  readonly strategies: readonly (MemoryFigures & { readonly strategy: string })[];
  /** The slack of the one value for all replicas that would just have killed nothing, had it been known beforehand, 0..1. */
  readonly leastSlack: number;
}

interface NamedMemoryStrategy {
  readonly name: string;
  readonly create: () => MemoryStrategy;
}

const memoryStrategies: readonly NamedMemoryStrategy[] = [
  { name: 'stowage', create: createOurMemory },
  { name: 'vpa-like', create: createVpaMemory },
];

/** VPA's arithmetic fed with the hottest replica alone, as ours is: what it would need to kill no replica that is above the others. */
export const vpaByHottest: NamedMemoryStrategy = {
  name: 'vpa, hottest',
  create() {
    const vpa = createVpaMemory();
    return { ...vpa, observe: (_replica, usage, at) => vpa.observe(0, usage, at) };
  },
};

/** One comparison for each scenario, pooled over as many traces of it as there are seeds. */
export function compareMemory(seeds: readonly number[]): MemoryComparison[] {
  const traces = Map.groupBy(seeds.flatMap(generateMemoryTraces), ({ name }) => name);
  return [...traces].map(([trace, same]) => {
    const hasReplicas = same.some(({ points }) => (points[0]?.demand.length ?? 0) > 1);
    const compared = hasReplicas ? [...memoryStrategies, vpaByHottest] : memoryStrategies;
    return {
      trace,
      strategies: compared.map(({ name, create }) => ({
        strategy: name,
        ...poolMemory(same.map((one) => replayMemory(one, create()))),
      })),
      leastSlack: poolMemory(same.map(leastConstant)).slack,
    };
  });
}
