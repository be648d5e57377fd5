/** Facts about a fleet, made for tests. */
import { type SlotRule, sideOfSlot, spotCount } from '../../decide/placement/slots.ts';
import type { WorkloadFacts } from '../fleet-watch.ts';
import type { PodFacts } from '../pod-facts.ts';

export interface FleetFields {
  readonly replicas: number;
  readonly spotPercentage: number;
  readonly rounding?: SlotRule['rounding'];
  /** Pods, the first ones, that are not ready. */
  readonly notReady?: number;
}

/** The workload `shop/web` with uid `web`, every pod where its slot is. */
export function aFleet({ replicas, spotPercentage, rounding = 'ceil', notReady = 0 }: FleetFields): WorkloadFacts {
  const rule: SlotRule = { spotPercentage, minOnDemand: { kind: 'count', count: 0 }, rounding, basis: 'total' };
  const targetSpot = spotCount(rule, replicas);
  const pods = Array.from({ length: replicas }, (_, index) => {
    const side = sideOfSlot(rule, index + 1);
    return aPodOf(`p${index + 1}`, { slot: index + 1, capacity: side, side, isReady: index >= notReady });
  });
  return {
    key: 'shop/web',
    kind: 'Deployment',
    uid: 'web',
    generation: 1,
    isPaused: false,
    replicas,
    rule,
    targetSpot,
    floor: 0,
    pods: new Map(pods.map((pod) => [pod.uid, pod])),
    counts: {
      live: replicas,
      ready: replicas - notReady,
      readyOnDemand: pods.filter(({ side, isReady }) => side === 'on-demand' && isReady).length,
      spot: targetSpot,
      onDemand: replicas - targetSpot,
    },
  };
}

export function aPodOf(uid: string, fields: Partial<PodFacts>): PodFacts {
  return {
    uid,
    name: uid,
    node: 'node',
    side: 'spot',
    isLive: true,
    isReady: true,
    isTerminating: false,
    slot: 1,
    capacity: 'spot',
    isUnconfirmed: false,
    isCover: false,
    ...fields,
  };
}
