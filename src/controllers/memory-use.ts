/** How much memory containers use, for the guard that keeps limits above it. */
import { recentPeak } from '../decide/rightsizing/memory-target.ts';
import type { SizeGuardContext } from '../guard/size/context.ts';
import type { Clock } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';
import type { SizingView } from '../model/sizing-view.ts';
import type { UsageCollector } from '../observe/usage/collector-port.ts';

export interface MemoryUseOptions {
  readonly view: Pick<SizingView, 'pod' | 'workloadOf'>;
  readonly usage: Pick<UsageCollector, 'profileOf' | 'stateOf'>;
  readonly clock: Clock;
}

/** How far back a peak of memory counts where a limit is to be lowered. */
const RECENT_MILLIS: Millis = 12 * 3_600_000;

/** By the hottest replica: the one that decides whether a limit is too low. */
export function createMemoryUse({ view, usage, clock }: MemoryUseOptions): SizeGuardContext['memoryOf'] {
  return ({ namespace, name }, container) => {
    const pod = view.pod(namespace, name)?.pod;
    const workload = pod && view.workloadOf(pod);
    const profile = workload && usage.profileOf(workload, container);
    if (workload === undefined || profile === undefined) return undefined;
    // While nothing is read, what was read says nothing of now: a leak goes on meanwhile.
    const { problem, missing } = usage.stateOf(workload);
    const isMissing = missing.some((each) => each.container === container && each.resource === 'memory');
    if (problem !== undefined || isMissing) return undefined;
    const peak = recentPeak(profile.memory.peaks(), RECENT_MILLIS, clock.now());
    return { now: undefined, peak: peak === 0 ? undefined : peak };
  };
}
