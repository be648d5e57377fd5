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
  /**
   * To be called when this replica begins to lead, with what is there. That is no word of anybody: who wrote it may be
   * gone for weeks. Their time begins now.
   */
  begin(records: Iterable<AllocationRecord>): void;
  /** A change of an allocation, by whomever. */
  note(before: AllocationRecord | undefined, after: AllocationRecord | undefined): void;
  /**
   * Where no agent has an allocation on the node it counts as alive. Only a word ends a silence, and not that nothing
   * could be heard for a while.
   */
  stateOf(node: string): AgentState;
  /**
   * Whether what its allocations ask for is of now: it was heard of since this replica leads, and where it had been gone
   * it had time to take back what it asked for before.
   */
  isUpToDate(node: string): boolean;
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

/** Of one node's agent. */
interface Heard {
  /** Of its node, as many as there are: with the last of them it has nobody to speak for any more. */
  readonly allocations: number;
  /** Its last word; before its first one, when this replica began to lead. */
  readonly at: EpochMillis;
  /** Since when its wishes count; undefined before its first word. */
  readonly upToDateFrom: EpochMillis | undefined;
  /** The worst since its last word. */
  readonly state: AgentState;
}

/**
 * An agent that begins anew measures for some ticks, and then writes so many allocations at each one; those it has not
 * come to say what was right before it was gone. Where silence is short it is a quarter of that, to be over before.
 */
const SETTLING: Millis = 10_000;

export function createAllocationAgents({ clock, isFresh, staleMillis }: AllocationAgentsOptions): AllocationAgents {
  const heard = new Map<string, Heard>();
  /** As {@link AllocationAgents.review} told it last. */
  const told = new Map<string, AgentState>();
  /** Since when changes would have been seen. */
  let listeningSince = clock.now();

  /** Silence is counted from the last word, but only while a word would have been heard. */
  const judge = ({ at, state }: Heard, stale = staleMillis()): AgentState => {
    const silence = clock.now() - Math.max(listeningSince, at);
    if (state === 'gone' || silence >= stale) return 'gone';
    return state === 'silent' || silence >= stale / 2 ? 'silent' : 'alive';
  };

  const hear = (node: string, more: number): void => {
    const known = heard.get(node);
    const at = clock.now();
    const wasGone = known !== undefined && judge(known) === 'gone';
    const upToDateFrom = wasGone ? at + Math.min(SETTLING, staleMillis() / 4) : (known?.upToDateFrom ?? at);
    const allocations = Math.max(1, (known?.allocations ?? 0) + more);
    heard.set(node, { allocations, at, upToDateFrom, state: 'alive' });
  };
  const lose = (node: string): void => {
    const known = heard.get(node);
    if (known !== undefined && known.allocations > 1) heard.set(node, { ...known, allocations: known.allocations - 1 });
    else forget(node);
  };
  const forget = (node: string): void => {
    heard.delete(node);
    told.delete(node);
  };

  return {
    begin(records) {
      heard.clear();
      told.clear();
      const at = clock.now();
      for (const record of records) {
        const node = agentOf(record);
        if (node === undefined) continue;
        const allocations = (heard.get(node)?.allocations ?? 0) + 1;
        heard.set(node, { allocations, at, upToDateFrom: undefined, state: 'alive' });
      }
    },
    note(before, after) {
      if (after !== undefined && !isWordOfAgent(before, after)) return;
      const [from, to] = [agentOf(before), agentOf(after)];
      if (to !== undefined) hear(to, from === to ? 0 : 1);
      if (from !== undefined && from !== to) lose(from);
    },
    stateOf(node) {
      const known = heard.get(node);
      return known === undefined ? 'alive' : judge(known);
    },
    isUpToDate(node) {
      const known = heard.get(node);
      return known === undefined || (known.upToDateFrom ?? Number.POSITIVE_INFINITY) <= clock.now();
    },
    review(isNode) {
      if (!isFresh()) listeningSince = clock.now();
      const stale = staleMillis();
      const changed: string[] = [];
      for (const [node, known] of heard) {
        const state = judge(known, stale);
        if (state === 'gone' && !isNode(node)) {
          forget(node);
          continue;
        }
        if (known.state !== state) heard.set(node, { ...known, state });
        if ((told.get(node) ?? 'alive') !== state) changed.push(node);
        told.set(node, state);
      }
      return changed;
    },
    counts(isNode) {
      const counts = { alive: 0, silent: 0, gone: 0 };
      for (const [node, known] of heard) if (isNode(node)) counts[judge(known)]++;
      return counts;
    },
  };
}

/**
 * The node whose agent wrote it. Agents of MBCAS write only what changes: their silence means nothing, and they do not
 * say when they wrote.
 */
function agentOf(record: AllocationRecord | undefined): string | undefined {
  const { nodeName, renewTime } = record?.spec ?? {};
  return renewTime === undefined ? undefined : nodeName;
}

/** A spec, which raises the generation, or a sign of life, which does not; a status is somebody else's. */
function isWordOfAgent(before: AllocationRecord | undefined, after: AllocationRecord): boolean {
  if (before?.uid !== after.uid || before.generation !== after.generation) return true;
  return after.renewed !== undefined && after.renewed !== before.renewed;
}
