/** What pods of a rollout show to be too little to start with, to be taken back as any decrease that did harm. */
import { starvedStart } from '../../decide/rightsizing/starved-start.ts';
import { watchChange } from '../../decide/rightsizing/watched-change.ts';
import type { ApplyContext } from './apply.ts';
import { inForceNow } from './canary.ts';
import type { HarmfulChange } from './change.ts';
import { nothingSeen } from './throttling.ts';

/** However long ago it was lowered: nobody may have started since. */
export function starvedStarts(context: ApplyContext): readonly HarmfulChange[] {
  const { advised, live } = context;
  const { workload, at } = advised;
  const { isRollingOut, containers } = workload;
  const starved = isRollingOut ? starvedStart(containers, inForceNow(context).inForce, live, at) : undefined;
  if (starved === undefined) return [];
  const watched = watchChange(starved.changes, containers, [], at);
  const change = {
    ...watched,
    method: 'InPlace',
    phase: 'spread',
    canary: undefined,
    throttling: nothingSeen(),
  } as const;
  return [{ change, harm: starved.harm }];
}
