/** Our own engine as the memory replay drives it. */
import { defaultPolicy, defaultProfileOptions } from '../../decide/rightsizing/policy.ts';
import { recommendMemory } from '../../decide/rightsizing/recommend-memory.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { UsageProfile } from '../../model/usage-profile.ts';
import type { MemoryStrategy } from './replay-memory.ts';

export function createOurMemory(): MemoryStrategy {
  const profile = new UsageProfile(defaultProfileOptions);
  let lastChangeAt: EpochMillis | undefined;
  return {
    observe: (_replica, usage, at) => profile.add({ at, memory: usage }),
    noteOom: (_replica, limit, at) => profile.memory.noteOom(limit, at),
    choose(current, at) {
      const advice = recommendMemory({
        profile,
        cpu: { request: undefined, limit: undefined, lastChangeAt: undefined },
        memory: { request: current, limit: undefined, lastChangeAt },
        policy: defaultPolicy,
        now: at,
      });
      if (!advice.isDue || advice.request === undefined) return current ?? defaultPolicy.memory.bounds.min;
      lastChangeAt = at;
      return advice.request;
    },
  };
}
