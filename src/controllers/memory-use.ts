/** How much memory containers use, for the guard that keeps limits above it. */

import { rightsizingKeys } from '../api/annotations-rightsizing.ts';
import { recentPeak } from '../decide/rightsizing/memory-target.ts';
import type { SizeGuardContext } from '../guard/size/context.ts';
import type { Clock } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';
import { replicaOf, replicaRef } from '../model/replica.ts';
import { readReplicaSizes } from '../model/replica-sizes.ts';
import type { SizingView } from '../model/sizing-view.ts';
import type { UsageCollector } from '../observe/usage/collector-port.ts';

export interface MemoryUseOptions {
  readonly view: Pick<SizingView, 'pod' | 'workloadOf'>;
  readonly usage: Pick<UsageCollector, 'profileOf' | 'stateOf'>;
  readonly clock: Clock;
}

/** How far back a peak of memory counts where a limit is to be lowered. */
const RECENT_MILLIS: Millis = 12 * 3_600_000;

/**
 * By the hottest replica: the one that decides whether a limit is too low. A replica that has a size of its own is judged
 * by its own use, which is what it is sized by.
 */
export function createMemoryUse({ view, usage, clock }: MemoryUseOptions): SizeGuardContext['memoryOf'] {
  return ({ namespace, name }, container) => {
    const pod = view.pod(namespace, name)?.pod;
    const workload = pod && view.workloadOf(pod);
    if (pod === undefined || workload === undefined) return undefined;
    const replica = replicaOf(workload, pod);
    const text = workload.annotations[rightsizingKeys.replicaSizes];
    const hasOwn = replica !== undefined && readReplicaSizes(text, workload.containers).has(replica);
    const profile = usage.profileOf(hasOwn ? replicaRef(workload, replica) : workload, container);
    if (profile === undefined) return undefined;
    // While nothing is read, what was read says nothing of now: a leak goes on meanwhile.
    const { problem, missing } = usage.stateOf(workload);
    const isMissing = missing.some((each) => each.container === container && each.resource === 'memory');
    if (problem !== undefined || isMissing) return undefined;
    const peak = recentPeak(profile.memory.peaks(), RECENT_MILLIS, clock.now());
    return { now: undefined, peak: peak === 0 ? undefined : peak };
  };
}
