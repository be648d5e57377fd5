/**
 * Which node agents are alive, told from their PodAllocations changing, by this process's own clock: the clock of a
 * node may be wrong. While the API server is out of reach nobody is heard, which says nothing about agents.
 */
import type { Clock } from '../../lib/clock.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';

/** `silent`: nothing changes on its account any more; `gone`: what it gave is taken back. */
export type AgentState = 'alive' | 'silent' | 'gone';

/** Of the leader. On other replicas nobody listens, and every agent counts as alive. */
export interface AllocationAgents {
  /** A change of an allocation, by whomever. */
  note(before: AllocationRecord | undefined, after: AllocationRecord | undefined): void;
  /** A node never heard of is alive: its time begins with the first question. */
  stateOf(node: string): AgentState;
  /**
   * To be called every second. Agents that are gone with their nodes are forgotten: of a cluster whose nodes come and
   * go they would become more and more.
   * @param isNode whether there is a node of this name; asked of agents that are gone only.
   * @returns the nodes whose state has changed since the last call.
   */
  review(isNode: (name: string) => boolean): readonly string[];
  /** Nodes by state, those never heard of left out, and those that are gone themselves. */
  counts(isNode: (name: string) => boolean): Readonly<Record<AgentState, number>>;
}

export interface AllocationAgentsOptions {
  readonly clock: Clock;
  /** Changes would be seen. */
  readonly isFresh: () => boolean;
  readonly staleMillis: () => Millis;
}

export function createAllocationAgents({ clock, isFresh, staleMillis }: AllocationAgentsOptions): AllocationAgents {
  const heardAt = new Map<string, EpochMillis>();
  const states = new Map<string, AgentState>();
  /** Since when changes would have been seen. */
  let listeningSince = clock.now();

  /** Silence is counted from the last word, but only while a word would have been heard. */
  const judge = (node: string, stale = staleMillis()): AgentState => {
    const silence = clock.now() - Math.max(listeningSince, heardAt.get(node) ?? listeningSince);
    if (silence >= stale) return 'gone';
    return silence >= stale / 2 ? 'silent' : 'alive';
  };

  return {
    note(before, after) {
      if (after === undefined || !isWordOfAgent(before, after)) return;
      const { nodeName, renewTime } = after.spec;
      // Agents of MBCAS write only what changes: their silence means nothing, and they do not say when they wrote.
      if (nodeName !== undefined && renewTime !== undefined) heardAt.set(nodeName, clock.now());
    },
    stateOf: (node) => (heardAt.has(node) ? judge(node) : 'alive'),
    review(isNode) {
      if (!isFresh()) listeningSince = clock.now();
      const stale = staleMillis();
      const changed: string[] = [];
      for (const node of heardAt.keys()) {
        const state = judge(node, stale);
        if (state === 'gone' && !isNode(node)) {
          heardAt.delete(node);
          states.delete(node);
          continue;
        }
        if ((states.get(node) ?? 'alive') !== state) changed.push(node);
        states.set(node, state);
      }
      return changed;
    },
    counts(isNode) {
      const counts = { alive: 0, silent: 0, gone: 0 };
      for (const node of heardAt.keys()) if (isNode(node)) counts[judge(node)]++;
      return counts;
    },
  };
}

/** A spec, which raises the generation, or a sign of life, which does not; a status is somebody else's. */
function isWordOfAgent(before: AllocationRecord | undefined, after: AllocationRecord): boolean {
  if (before?.uid !== after.uid || before.generation !== after.generation) return true;
  return after.renewed !== undefined && after.renewed !== before.renewed;
}
