/** Asks for the recommendation of one workload, with everything it depends on. */

import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { type BesideContainers, besideContainers } from '../../decide/rightsizing/beside-containers.ts';
import { heldOfQuota, sharersOfQuota } from '../../decide/rightsizing/held-of-quota.ts';
import { noPromises, type QuotaPromises } from '../../decide/rightsizing/joint-fit.ts';
import type { LargestNode } from '../../decide/rightsizing/largest-node.ts';
import type { RightsizingPolicy } from '../../decide/rightsizing/policy.ts';
import { rulesOf } from '../../decide/rightsizing/policy-rules.ts';
import { recommendWorkload, type SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { wornSizes } from '../../decide/rightsizing/worn-sizes.ts';
import { pastTime } from '../../lib/past-time.ts';
import { parseTime } from '../../lib/rfc3339.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { readAppliedSizes, withAppliedSizes } from '../../model/applied-sizes.ts';
import { type Lessons, readLessons } from '../../model/learned-floors.ts';
import { isLive } from '../../model/owners.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import { stateOfPod } from '../../model/replica-sizes.ts';
import type { ContainerSpecRecord, SizedWorkload } from '../../model/sizing-records.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import type { UsageCollector } from '../../observe/usage/collector-port.ts';
import { adviseReplicas, floorsOf, type ReplicasAdvised, replicaStatesOf } from './advise-replicas.ts';
import type { ChangeTimes } from './change-times.ts';

export interface AdviseOptions {
  readonly view: SizingView;
  readonly usage: Pick<UsageCollector, 'profileOf' | 'windowOf'>;
  /** The allocation engine shares out the CPU of this pod. */
  readonly isAllocated: (pod: SizedPod) => boolean;
}

/** What is known about a workload, and what should become of it. */
export interface Advised {
  readonly workload: SizedWorkload;
  readonly pods: readonly SizedPod[];
  /**
   * When its pods were looked at. Questions and writes in between take time: how long something has lasted counts up to
   * then, as what came after it was not seen.
   */
  readonly at: EpochMillis;
  /** Containers with the sizes in force: the template's, or those applied to its pods. */
  readonly inForce: readonly ContainerSpecRecord[];
  /** The workload says that sizes are in force which none of its pods has any more. */
  readonly isOutworn?: boolean;
  readonly lessons: Lessons;
  readonly advice: readonly SizedAdvice[];
  /** Left out where all replicas have one size, and nobody asks for another. */
  readonly replicas?: ReplicasAdvised;
  /** Something is recommended for at least one resource of one container. */
  readonly hasUsage: boolean;
  /** Why usage cannot be read at present; left out or undefined: it can. */
  readonly unread?: string | undefined;
}

/** Of one workload at one look. */
export interface AdviceQuestion {
  readonly workload: SizedWorkload;
  readonly spec: PolicySpec;
  /** What this leader changed and when; where it knows nothing, the workload's own annotation counts. */
  readonly times: Pick<ChangeTimes, 'lastApplied' | 'lastChange' | 'ofReplica'>;
  /** At the last look the advice was being applied; what was in force before that may have been outlived. */
  readonly isActing: boolean;
  /** What the largest node offers its pods. */
  readonly largestNode: LargestNode;
  /** What other workloads of the namespace are yet to take of its quotas. */
  readonly promises: () => QuotaPromises;
  /** Why usage cannot be read at present; undefined: it can. */
  readonly unread: string | undefined;
  readonly now: EpochMillis;
}

/** Pure but for reading the view and the collected usage. */
export function advise(
  { view, usage, isAllocated }: AdviseOptions,
  { workload, spec, times, isActing, largestNode, promises, unread, now }: AdviceQuestion,
): Advised {
  const { annotations, namespace } = workload;
  const pods = view.podsOf(workload);
  // A new leader knows no more than the workload says: the last change, of whichever resource.
  const told = parseTime(annotations[rightsizingKeys.lastApplied]);
  // Where its clock was ahead, this leader has begun the pause anew.
  const lastApplied = pastTime(told, now) ?? (told === undefined ? undefined : times.lastApplied);
  const written = readAppliedSizes(annotations[rightsizingKeys.appliedSizes]);
  // Pods may be yet to get what was put in force a moment ago.
  const isOld = !isActing && now - (lastApplied ?? 0) >= SPREAD_MILLIS;
  const states = replicaStatesOf(workload, pods, isAllocated, isOld, now);
  const alike = states.size === 0 ? pods : pods.filter(({ pod }) => stateOfPod(states, workload, pod) === undefined);
  const applied = isOld ? wornSizes(written, alike, isAllocated) : written;
  const inForce = withAppliedSizes(workload.containers, applied);
  const lessons = readLessons(annotations[rightsizingKeys.learnedFloors], now);
  /** What is known of one container: its usage, what it has learned, when it was changed. */
  const knowledgeOf = (container: string) => ({
    profile: usage.profileOf(workload, container),
    window: usage.windowOf(workload, container),
    floors: floorsOf(lessons, container),
    lastChange: {
      cpu: times.lastChange({ container, resource: 'cpu' }),
      memory: times.lastChange({ container, resource: 'memory' }),
    },
  });
  const quotas = view.quotas(namespace);
  let toOthers: QuotaPromises | undefined;
  let beside: BesideContainers | undefined;
  const around = {
    limitRanges: view.limitRanges(namespace),
    quotas,
    hpas: view.hpas(namespace),
    largestNode: largestNode(pods),
    replicas: sharersOfQuota(workload.replicas, pods, alike),
    held: heldOfQuota(alike, inForce),
    beside: () => {
      beside ??= besideContainers(pods, inForce);
      return beside;
    },
    promises: () => {
      toOthers ??= quotas.length === 0 ? noPromises : promises();
      return toOthers;
    },
    like: pods.find(({ pod }) => isLive(pod))?.sizing,
  };
  const rulesFor = ({ reverts }: Pick<Lessons, 'reverts'>): RightsizingPolicy => slowedDown(rulesOf(spec), reverts);
  const advice = recommendWorkload({
    workload,
    containers: inForce,
    knowledgeOf,
    policy: rulesFor(lessons),
    around,
    isCpuAllocated: pods.some(isAllocated),
    unread,
    now,
  });
  const hasUsage = advice.some(({ cpu, memory: ram }) => cpu.target !== undefined || ram.target !== undefined);
  const isOutworn = applied.length < written.length;
  const common = { workload, spec, pods, inForce, states, times, lessons, rulesFor, around, usage, isAllocated };
  const replicas = adviseReplicas({ ...common, unread, now });
  return {
    workload,
    pods,
    at: now,
    inForce,
    isOutworn,
    lessons,
    advice,
    ...(replicas && { replicas }),
    hasUsage,
    unread,
  };
}

/** By new pods it may take long until the first of them has what is in force. */
const SPREAD_MILLIS: Millis = 3_600_000;
/** At most 32 times as long: a workload whose decreases always fail is still tried now and then. */
const MAX_DOUBLINGS = 5;
/** Doubling no pause at all would be none. */
const LEAST_PAUSE_MILLIS: Millis = 600_000;

/** After a decrease that had to be taken back the next one waits twice as long. Increases are never slowed down. */
function slowedDown(policy: RightsizingPolicy, reverts: number): RightsizingPolicy {
  if (reverts === 0) return policy;
  const slow = (millis: Millis): Millis => Math.max(millis, LEAST_PAUSE_MILLIS) * 2 ** Math.min(MAX_DOUBLINGS, reverts);
  const { cpu, memory } = policy;
  return {
    ...policy,
    cpu: { ...cpu, change: { ...cpu.change, cooldownDownMillis: slow(cpu.change.cooldownDownMillis) } },
    memory: { ...memory, change: { ...memory.change, cooldownDownMillis: slow(memory.change.cooldownDownMillis) } },
  };
}
