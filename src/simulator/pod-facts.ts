/** What simulations need to know of a pod. */

import { placementKeys } from '../api/annotations.ts';
import { parseCapacity, parseSlot } from '../api/annotations-values.ts';
import type { Pod } from '../api/core.ts';
import type { Side } from '../model/records.ts';

export interface PodFacts {
  readonly uid: string;
  readonly name: string;
  readonly node: string | undefined;
  /** Of its node; undefined without one. */
  readonly side: Side | undefined;
  /** Neither terminating nor finished. */
  readonly isLive: boolean;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  /** As stamped on the pod; undefined where nobody steered it. */
  readonly slot: number | undefined;
  readonly capacity: Side | undefined;
  readonly isUnconfirmed: boolean;
  /** Temporary cover for a place on spot. */
  readonly isCover: boolean;
}

export interface PodStates {
  readonly isReady: (pod: Pod) => boolean;
  readonly isTerminating: (pod: Pod) => boolean;
  readonly isFinished: (pod: Pod) => boolean;
}

export function factsOfPod(pod: Pod, sideOfNode: (name: string) => Side | undefined, states: PodStates): PodFacts {
  const { metadata, spec } = pod;
  const annotations = metadata?.annotations;
  const node = spec?.nodeName === '' ? undefined : spec?.nodeName;
  const isTerminating = states.isTerminating(pod);
  return {
    uid: metadata?.uid ?? '',
    name: metadata?.name ?? '',
    node,
    side: node === undefined ? undefined : sideOfNode(node),
    isLive: !isTerminating && !states.isFinished(pod),
    isReady: states.isReady(pod),
    isTerminating,
    slot: parseSlot(annotations),
    capacity: parseCapacity(annotations),
    isUnconfirmed: annotations?.[placementKeys.unconfirmed] === 'true',
    isCover: annotations?.[placementKeys.fallback] === 'true',
  };
}
