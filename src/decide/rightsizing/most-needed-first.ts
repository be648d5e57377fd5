/** Whose memory is furthest below what it should be goes first: where only some can be changed, it is the next to be killed. */
import { type SizeChange, sizeOfContainer } from '../../model/pod-size.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';

/** How much more memory `changes` give to the container that gets most, as a share of what it has; 0: none gets any. */
export function memoryGrowth(containers: readonly ContainerSpecRecord[], changes: readonly SizeChange[]): number {
  const shares = changes.flatMap(({ container, to }) => {
    const had = sizeOfContainer(containers, container) ?? {};
    return (['memoryRequest', 'memoryLimit'] as const).map((key) => {
      const [before, after] = [had[key], to[key]];
      return before === undefined || after === undefined ? 0 : after / before - 1;
    });
  });
  return Math.max(0, ...shares);
}

/** All others keep their order. */
export function mostNeededFirst<Item>(items: readonly Item[], growthOf: (item: Item) => number): readonly Item[] {
  const ranked = items.map((item) => ({ item, growth: growthOf(item) }));
  return ranked.toSorted((a, b) => b.growth - a.growth).map(({ item }) => item);
}
