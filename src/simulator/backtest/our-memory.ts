/** Our own engine as the memory replay drives it. */
import { recommendMemory } from '../../decide/rightsizing/recommend-memory.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { UsageProfile } from '../../model/usage-profile.ts';
import type { MemoryTrace } from './memory-trace.ts';
import type { MemoryStrategy } from './replay-memory.ts';
import { createExactWindow, defaultReplayed, type ReplayedPolicy } from './replayed-policy.ts';

/** One value for all replicas. */
export function createOurMemory(policy: ReplayedPolicy = defaultReplayed): MemoryStrategy {
  return createKnowing(policy);
}

/**
 * A value for each replica by its own use, as a policy with `sizePerReplica` has it: what all have until there is enough
 * history of its own, then its own.
 */
export function createOurMemoryPerReplica(policy: ReplayedPolicy = defaultReplayed): MemoryStrategy {
  const ofAll = createKnowing(policy);
  const replicas = new Map<number, Knowing>();
  const of = (replica: number): Knowing => {
    const own = replicas.get(replica) ?? createKnowing(policy);
    replicas.set(replica, own);
    return own;
  };
  return {
    observe(replica, usage, at) {
      ofAll.observe(replica, usage, at);
      of(replica).observe(replica, usage, at);
    },
    noteOom(replica, limit, at) {
      ofAll.noteOom(replica, limit, at);
      of(replica).noteOom(replica, limit, at);
    },
    choose: ofAll.choose,
    chooseOwn: (replica, current, at) => (of(replica).isKnown(at) ? of(replica).choose(current, at) : undefined),
  };
}

/** Whether the replicas of a trace are the same all the time. */
export function hasIdentity({ points }: MemoryTrace): boolean {
  const [first] = points;
  return first !== undefined && first.demand.length > 1 && first.replicas === undefined;
}

interface Knowing extends MemoryStrategy {
  /** There is enough history to lower anything by. */
  isKnown(at: EpochMillis): boolean;
}

function createKnowing({ rules, profile: options, windowMillis, updates }: ReplayedPolicy): Knowing {
  const profile = new UsageProfile(options);
  const window = createExactWindow(windowMillis);
  let lastChangeAt: EpochMillis | undefined;
  return {
    observe(_replica, usage, at) {
      profile.add({ at, memory: usage });
      window.add(usage, at);
    },
    noteOom: (_replica, limit, at) => profile.memory.noteOom(limit, at),
    isKnown(at) {
      const { memory } = profile;
      return (
        memory.knownMillis() >= rules.minHistoryMillis &&
        memory.samples() >= (rules.minSamples ?? 0) &&
        at - (memory.lastAt() ?? 0) <= rules.staleAfterMillis
      );
    },
    choose(current, at) {
      if (current !== undefined && updates?.isOpen(at) === false) return current;
      const exact = window.percentiles(at);
      const advice = recommendMemory({
        profile,
        cpu: { request: undefined, limit: undefined, lastChangeAt: undefined },
        memory: { request: current, limit: undefined, lastChangeAt },
        policy: rules,
        ...(exact !== undefined && { window: { cpu: undefined, memory: exact } }),
        now: at,
      });
      if (!advice.isDue || advice.request === undefined) return current ?? rules.memory.bounds.min;
      lastChangeAt = at;
      return advice.request;
    },
  };
}
