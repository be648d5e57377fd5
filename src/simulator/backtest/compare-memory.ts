/** Replays generated memory traces under our engine and under VPA's arithmetic, next to the least that kills nothing. */
import { generateMemoryTraces } from './memory-trace.ts';
import { createOurMemory } from './our-memory.ts';
import { leastConstant, type MemoryFigures, type MemoryStrategy, poolMemory, replayMemory } from './replay-memory.ts';
import { createVpaMemory } from './rivals/vpa-memory.ts';

export interface MemoryComparison {
  readonly trace: string;
  readonly strategies: readonly (MemoryFigures & { readonly strategy: string })[];
}

const memoryStrategies: readonly { readonly name: string; readonly create: () => MemoryStrategy }[] = [
  { name: 'stowage', create: createOurMemory },
  { name: 'vpa-like', create: createVpaMemory },
];

/** One comparison for each scenario, pooled over as many traces of it as there are seeds. */
export function compareMemory(seeds: readonly number[]): MemoryComparison[] {
  const traces = Map.groupBy(seeds.flatMap(generateMemoryTraces), ({ name }) => name);
  return [...traces].map(([trace, same]) => ({
    trace,
    strategies: [
      ...memoryStrategies.map(({ name, create }) => ({
        strategy: name,
        ...poolMemory(same.map((one) => replayMemory(one, create()))),
      })),
      { strategy: 'least', ...poolMemory(same.map(leastConstant)) },
    ],
  }));
}
