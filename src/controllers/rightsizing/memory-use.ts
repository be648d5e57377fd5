/** How much memory containers use, for the guard that keeps limits above it. */

import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { recentPeak } from '../../decide/rightsizing/memory-target.ts';
import type { SizeGuardContext } from '../../guard/size/context.ts';
import type { Clock } from '../../lib/clock.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { replicaOf, replicaRef } from '../../model/replica.ts';
import { type ReplicaStates, readReplicaSizes } from '../../model/replica-sizes.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { PodTimes, UsageCollector } from '../../observe/usage/collector-port.ts';

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
  /** Of hundreds of replicas that are lowered at one look, each asks for the same text. */
  const read = new WeakMap<SizedWorkload, ReplicaStates>();
  const statesOf = (workload: SizedWorkload): ReplicaStates => {
    const text = workload.annotations[rightsizingKeys.replicaSizes];
    const states = read.get(workload) ?? readReplicaSizes(text, workload.containers);
    read.set(workload, states);
    return states;
  };
  return ({ namespace, name }, container) => {
    const sized = view.pod(namespace, name);
    const workload = sized && view.workloadOf(sized.pod);
    if (sized === undefined || workload === undefined) return undefined;
    const { pod, sizing } = sized;
    const replica = replicaOf(workload, pod);
    const hasOwn = replica !== undefined && statesOf(workload).has(replica);
    const profile = usage.profileOf(hasOwn ? replicaRef(workload, replica) : workload, container);
    if (profile === undefined) return undefined;
    // While nothing is read, what was read says nothing of now: a leak goes on meanwhile.
    const { problem, missing, measured } = usage.stateOf(workload);
    const isMissing = missing.some((each) => each.container === container && each.resource === 'memory');
    if (problem !== undefined || isMissing) return undefined;
    // What the others use says nothing of one that nobody has measured since it started: it may be the hottest.
    const startedAt = sizing.statuses.find((status) => status.name === container)?.startedAt;
    if (measuredAt(measured, name) <= (startedAt ?? 0)) return undefined;
    const peak = recentPeak(profile.memory.peaks(), RECENT_MILLIS, clock.now());
    return { now: undefined, peak: peak === 0 ? undefined : peak };
  };
}

/** 0 where the latest answer told nothing of the pod. */
function measuredAt(measured: PodTimes | undefined, pod: string): EpochMillis {
  return measured?.times[measured.pods.indexOf(pod)] ?? 0;
}
