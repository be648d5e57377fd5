/** Pods of other systems that run beside Stowage, kept as pods come and go: asked for each decision, there is nearly never one. */
import { type RunningPredecessor, runningPredecessor } from '../model/predecessors.ts';
import type { PodRecord } from '../model/records.ts';

export interface PredecessorIndex {
  apply(before: PodRecord | undefined, after: PodRecord | undefined): void;
  /** The same array until one begins or ends. */
  running(): readonly RunningPredecessor[];
}

/** @param ownNamespace of {@link runningPredecessor} */
export function createPredecessorIndex(ownNamespace?: string): PredecessorIndex {
  let running: readonly RunningPredecessor[] = [];
  return {
    apply(before, after) {
      const was = before === undefined ? undefined : runningPredecessor(before, ownNamespace);
      const is = after === undefined ? undefined : runningPredecessor(after, ownNamespace);
      if (was?.pod === is?.pod && was?.system === is?.system) return;
      const others = running.filter(({ pod }) => pod !== was?.pod);
      running = is === undefined ? others : [...others, is];
    },
    running: () => running,
  };
}
