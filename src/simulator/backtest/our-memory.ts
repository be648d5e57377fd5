/** Our own engine as the memory replay drives it. */
import { recommendMemory } from '../../decide/rightsizing/recommend-memory.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { UsageProfile } from '../../model/usage-profile.ts';
import type { MemoryStrategy } from './replay-memory.ts';
import { createExactWindow, defaultReplayed, type ReplayedPolicy } from './replayed-policy.ts';

export function createOurMemory({
  rules,
  profile: options,
  windowMillis,
  updates,
}: ReplayedPolicy = defaultReplayed): MemoryStrategy {
  const profile = new UsageProfile(options);
  const window = createExactWindow(windowMillis);
  let lastChangeAt: EpochMillis | undefined;
  return {
    observe(_replica, usage, at) {
      profile.add({ at, memory: usage });
      window.add(usage, at);
    },
    noteOom: (_replica, limit, at) => profile.memory.noteOom(limit, at),
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
