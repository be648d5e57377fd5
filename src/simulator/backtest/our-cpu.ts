/** Our own engine as the replays drive it: the profile and the recommendation the operator uses, with nothing left out. */
import { recommendCpu } from '../../decide/rightsizing/recommend-cpu.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { UsageProfile } from '../../model/usage-profile.ts';
import { createExactWindow, defaultReplayed, type ReplayedPolicy } from './replayed-policy.ts';
import type { Strategy } from './strategy.ts';

/** HPA, canary and taking back are left out: a recording does not answer to what is requested. */
export function createOurCpu({
  rules,
  profile: options,
  windowMillis,
  updates,
}: ReplayedPolicy = defaultReplayed): Strategy {
  const profile = new UsageProfile(options);
  const window = createExactWindow(windowMillis);
  let lastChangeAt: EpochMillis | undefined;
  return {
    observe(usage, at) {
      profile.add({ at, cpu: usage });
      window.add(usage, at);
    },
    choose(current, at) {
      if (current !== undefined && updates?.isOpen(at) === false) return current;
      const exact = window.percentiles(at);
      const advice = recommendCpu({
        profile,
        cpu: { request: current, limit: undefined, lastChangeAt },
        memory: { request: undefined, limit: undefined, lastChangeAt: undefined },
        policy: rules,
        ...(exact !== undefined && { window: { cpu: exact, memory: undefined } }),
        now: at,
      });
      if (!advice.isDue || advice.request === undefined) return current ?? rules.cpu.bounds.min;
      lastChangeAt = at;
      return advice.request;
    },
  };
}
