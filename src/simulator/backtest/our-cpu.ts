/** Our own engine as the replays drive it: the profile and the recommendation the operator uses, with nothing left out. */
import { defaultPolicy, defaultProfileOptions } from '../../decide/rightsizing/policy.ts';
import { recommendCpu } from '../../decide/rightsizing/recommend-cpu.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { UsageProfile } from '../../model/usage-profile.ts';
import type { Strategy } from './strategy.ts';

export function createOurCpu(): Strategy {
  const profile = new UsageProfile(defaultProfileOptions);
  let lastChangeAt: EpochMillis | undefined;
  return {
    observe: (usage, at) => profile.add({ at, cpu: usage }),
    choose(current, at) {
      const advice = recommendCpu({
        profile,
        cpu: { request: current, limit: undefined, lastChangeAt },
        memory: { request: undefined, limit: undefined, lastChangeAt: undefined },
        policy: defaultPolicy,
        now: at,
      });
      if (!advice.isDue || advice.request === undefined) return current ?? defaultPolicy.cpu.bounds.min;
      lastChangeAt = at;
      return advice.request;
    },
  };
}
