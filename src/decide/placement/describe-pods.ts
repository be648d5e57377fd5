/** Each pod of a workload as a plan shows it: its slot, its side, and one sentence about it. */

import { isLive, type RevisionPods } from '../../model/owners.ts';
import type { NodeClass, PodRecord } from '../../model/records.ts';
import { podRef } from '../../model/refs.ts';
import { actualSide, assignSlots, occupantsOf, type Placed } from './assignment.ts';
import type { PlanInput, PlannedPod, PodPlan, PodState } from './plan.ts';

/** The pods of one revision. Without a policy in force nobody holds a slot. */
export function describePods(input: PlanInput, revision: RevisionPods): PlannedPod[] {
  const placedByUid = new Map<string, Placed>();
  const { view, sides, workload, policy } = input;
  if (policy.state === 'managed') {
    const occupants = occupantsOf(view, sides, workload, revision.pods);
    const fixed = workload.rollout.type === 'StatefulSet';
    const { placed } = assignSlots(policy.rule, workload.replicas, occupants, { fixed });
    for (const each of placed) placedByUid.set(each.id, each);
  }
  return revision.pods.map((pod) => ({ pod, plan: describePod(input, revision, pod, placedByUid.get(pod.uid)) }));
}

function describePod(input: PlanInput, revision: RevisionPods, pod: PodRecord, placed: Placed | undefined): PodPlan {
  const side = placed?.side ?? actualSide(input.view, input.sides, pod);
  const state = stateOf(pod, placed, side, input.workload.replicas);
  return {
    ref: podRef(pod),
    revision: revision.revision,
    slot: placed?.held,
    stampedSlot: pod.slot,
    wantedSide: placed?.wanted,
    actualSide: side,
    node: pod.nodeName,
    ready: pod.ready,
    state,
    note: noteOf(state, pod, placed, side),
  };
}

/** The order of the questions is what makes the states exclusive: the first that applies is the pod's. */
function stateOf(pod: PodRecord, placed: Placed | undefined, side: NodeClass, replicas: number): PodState {
  if (pod.deletingAt !== undefined) return 'terminating';
  if (!isLive(pod)) return 'ended';
  if (side === 'unknown') return 'unknown';
  if (placed === undefined) return 'settled';
  if (placed.held > replicas) return 'surplus';
  return placed.wanted === side ? 'settled' : 'wrong-side';
}

function noteOf(state: PodState, pod: PodRecord, placed: Placed | undefined, side: NodeClass): string {
  switch (state) {
    case 'terminating':
      return 'terminating: holds no slot';
    case 'ended':
      return `${pod.phase.toLowerCase()}: holds no slot`;
    case 'unknown':
      return pod.nodeName === undefined
        ? 'not scheduled, and nothing says on which side it will run'
        : `node ${pod.nodeName} is of no known class: counts for neither side`;
    case 'surplus':
      return `one more than the replicas asked for, on ${side}`;
    case 'wrong-side':
      if (pod.fallback)
        return `${pod.nodeName === undefined ? 'waits for a place' : 'runs'} on ${side} as temporary cover for its slot on spot`;
      return `runs on ${side}, its slot is ${placed?.wanted ?? 'unknown'}`;
    case 'settled':
      if (placed === undefined) return `runs on ${side}`;
      if (pod.nodeName === undefined) return `waits for a place on ${side}`;
      return pod.slot === placed.held
        ? `runs on ${side}, as its slot asks`
        : `runs on ${side}, counted as slot ${placed.held}`;
  }
}
