/** Asks for the recommendation of each replica by its own usage, where the policy wants replicas sized each for itself. */

import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { heldOfQuota, podYetToTake, type SizesPromised, yetToTake } from '../../decide/rightsizing/held-of-quota.ts';
import { noPromises, type PromisedUse } from '../../decide/rightsizing/joint-fit.ts';
import { runningPods } from '../../decide/rightsizing/pod-drift.ts';
import type { RightsizingPolicy } from '../../decide/rightsizing/policy.ts';
import type { LearnedFloors } from '../../decide/rightsizing/recommend.ts';
import {
  type ContainerKnowledge,
  recommendWorkload,
  type SizedAdvice,
  type WorkloadQuestion,
} from '../../decide/rightsizing/recommend-workload.ts';
import { isTrusted } from '../../decide/rightsizing/trusted-history.ts';
import { wearsSizes } from '../../decide/rightsizing/worn-sizes.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { givenBack } from '../../model/awaited-pods.ts';
import type { Lessons } from '../../model/learned-floors.ts';
import { isLive } from '../../model/owners.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import { byReplica, hasReplicaIdentity, mayHaveOwn, replicaOf, replicaRef } from '../../model/replica.ts';
import {
  type ReplicaState,
  type ReplicaStates,
  readReplicaSizes,
  thatFit,
  withReplicaSizes,
} from '../../model/replica-sizes.ts';
import { addUse, lessUse } from '../../model/size-bounds.ts';
import type { ContainerSpecRecord, SizedWorkload } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { UsageCollector } from '../../observe/usage/collector-port.ts';
import type { ChangeTimes } from './change-times.ts';

/** One replica that has a running pod, and may have a size of its own. */
export interface ReplicaAdvice {
  readonly replica: string;
  /** The pod that is resized; of two, of which one takes the place of the other, the newer. */
  readonly pod: SizedPod;
  /** Undefined: it has the size of all. */
  readonly state: ReplicaState | undefined;
  readonly inForce: readonly ContainerSpecRecord[];
  /** There is enough history of its own to go by. */
  readonly isKnown: boolean;
  readonly advice: readonly SizedAdvice[];
}

export interface ReplicasAdvised {
  /** Why all have one size, though the policy asks for a size per replica or some have one; undefined: they need not. */
  readonly obstacle: string | undefined;
  /** Sizes of their own that are in force, also of replicas that have no pod at present. */
  readonly states: ReplicaStates;
  readonly replicas: readonly ReplicaAdvice[];
}

/** What replicas have in common. */
export interface ReplicasQuestion {
  readonly workload: SizedWorkload;
  readonly spec: PolicySpec;
  readonly pods: readonly SizedPod[];
  /** Of which no size of its own has been written yet, all have these. */
  readonly inForce: readonly ContainerSpecRecord[];
  readonly states: ReplicaStates;
  /** When what of them was changed. */
  readonly times: Pick<ChangeTimes, 'ofReplica'>;
  /** What did harm while all had one size. */
  readonly lessons: Pick<Lessons, 'floors'>;
  readonly rulesFor: (lessons: Pick<Lessons, 'reverts'>) => RightsizingPolicy;
  readonly around: WorkloadQuestion['around'];
  readonly usage: Pick<UsageCollector, 'profileOf' | 'windowOf'>;
  readonly isAllocated: (pod: SizedPod) => boolean;
  readonly unread: string | undefined;
  readonly now: EpochMillis;
}

/**
 * The sizes of their own that replicas have by the workload's annotation.
 * @param isOld what was put in force long ago and is not worn by the replica's pod, is history.
 */
export function replicaStatesOf(
  workload: SizedWorkload,
  pods: readonly SizedPod[],
  isAllocated: (pod: SizedPod) => boolean,
  isOld: boolean,
  now: EpochMillis,
): ReplicaStates {
  const states = readReplicaSizes(workload.annotations[rightsizingKeys.replicaSizes], workload.containers, now);
  if (!isOld || states.size === 0) return states;
  const live = Map.groupBy(
    pods.filter(({ pod }) => isLive(pod)),
    ({ pod }) => replicaOf(workload, pod),
  );
  return new Map(
    [...states].filter(([replica, { sizes }]) => {
      const own = live.get(replica);
      return own === undefined || own.some((pod) => wearsSizes(pod, sizes, workload.containers, isAllocated(pod)));
    }),
  );
}

/** Undefined where the policy does not ask for it, and nothing is left of a time when it did. */
export function adviseReplicas(question: ReplicasQuestion): ReplicasAdvised | undefined {
  const { workload, spec, pods } = question;
  const isWritten = workload.annotations[rightsizingKeys.replicaSizes] !== undefined;
  if (!spec.updates.sizePerReplica && !isWritten) return undefined;
  const may = haveRoom(question);
  const states = new Map([...question.states].filter(([replica]) => may.has(replica)));
  if (!spec.updates.sizePerReplica) {
    return { obstacle: 'the policy does not ask for a size per replica any more', states, replicas: [] };
  }
  if (!hasReplicaIdentity(workload.kind)) {
    return { obstacle: `replicas of a ${workload.kind} have no identity of their own`, states, replicas: [] };
  }
  const podsByReplica = new Map<string, SizedPod>();
  for (const each of runningPods(pods).toSorted((a, b) => a.pod.createdAt - b.pod.createdAt)) {
    const replica = replicaOf(workload, each.pod);
    if (replica !== undefined) podsByReplica.set(replica, each);
  }
  const aroundOf = aroundEach({ ...question, states });
  const replicas = [...podsByReplica].flatMap(([replica, pod]) =>
    may.has(replica) ? [adviseOne({ ...question, states, around: aroundOf(pod) }, replica, pod)] : [],
  );
  return { obstacle: undefined, states, replicas };
}

/**
 * Those for whose sizes there is room. Who has one and no pod comes before who has none: a pod that is replaced is gone
 * for a moment. Of those that are gone for good the latest stay longest: nodes are replaced one after the other.
 */
function haveRoom({ workload, pods, states, now }: ReplicasQuestion): ReadonlySet<string> {
  const live = pods.flatMap(({ pod }) => (isLive(pod) ? (replicaOf(workload, pod) ?? []) : []));
  const present = mayHaveOwn(live, states);
  const gone = [...states.keys()].filter((replica) => !present.includes(replica));
  const [known, others] = [present.filter((each) => states.has(each)), present.filter((each) => !states.has(each))];
  return new Set(thatFit(workload.containers, [...known, ...gone.toReversed(), ...others.toSorted(byReplica)], now));
}

/**
 * What surrounds one replica: of quotas, what all others are yet to take is not its own, those among them that have no
 * pod.
 */
function aroundEach(question: ReplicasQuestion): (pod: SizedPod) => WorkloadQuestion['around'] {
  const { workload, pods, inForce, states, around, isAllocated, now } = question;
  if (around.quotas.length === 0) return () => around;
  const sizes: SizesPromised = { workload, sizes: inForce, states, isAllocated, now };
  let ofAll: PromisedUse | undefined;
  const going = { isGoing: () => false, now };
  return (pod) => ({
    ...around,
    promises() {
      const { promised, returning } = around.promises?.() ?? noPromises;
      ofAll ??= yetToTake(sizes, pods);
      const ofOthers = { ...ofAll, growth: lessUse(ofAll.growth, podYetToTake(sizes, pod)) };
      return { promised: [...promised, ofOthers], returning: addUse(returning, givenBack(workload, pods, going)) };
    },
  });
}

function adviseOne(question: ReplicasQuestion, replica: string, pod: SizedPod): ReplicaAdvice {
  const { workload, states, times, usage, rulesFor, around, isAllocated, unread, now } = question;
  const state = states.get(replica);
  const inForce = withReplicaSizes(question.inForce, state);
  const ref = replicaRef(workload, replica);
  const lastChange = (container: string, resource: 'cpu' | 'memory'): EpochMillis | undefined =>
    state && times.ofReplica(replica, state.changedAt).lastChange({ container, resource });
  const knowledgeOf = (container: string): ContainerKnowledge => ({
    profile: usage.profileOf(ref, container),
    window: usage.windowOf(ref, container),
    floors: floorsOf(state?.lessons ?? question.lessons, container),
    lastChange: { cpu: lastChange(container, 'cpu'), memory: lastChange(container, 'memory') },
  });
  const policy = rulesFor(state?.lessons ?? { reverts: 0 });
  const advice = recommendWorkload({
    workload,
    containers: inForce,
    knowledgeOf,
    policy,
    around: { ...around, replicas: 1, held: heldOfQuota([pod], inForce) },
    isCpuAllocated: isAllocated(pod),
    unread,
    now,
  });
  const isKnown = workload.containers.every(({ name }) => isTrusted(knowledgeOf(name).profile, policy, now));
  return { replica, pod, state, inForce, isKnown, advice };
}

/** What decreases of this container have shown to be too little. */
export function floorsOf({ floors }: Pick<Lessons, 'floors'>, container: string): LearnedFloors {
  const of = (resource: 'cpu' | 'memory'): number | undefined =>
    floors.find((floor) => floor.container === container && floor.resource === resource)?.atLeast;
  return { cpu: of('cpu'), memory: of('memory') };
}
