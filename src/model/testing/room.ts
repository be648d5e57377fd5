/** Rooms that are looked for in small clusters. */
import { findRoom, type Room, type RoomRequest } from '../find-room.ts';
import { nodeClassProfile } from '../node-profiles.ts';
import type { NodeRecord, PodRecord, VolumeClaimRecord } from '../records.ts';
import { createSides } from '../sides.ts';
import { createSnapshot } from '../snapshot.ts';
import { aNode, aTemplate } from './records.ts';

/** Default: one on-demand node without pods, and nobody who makes more. */
export interface Cluster {
  readonly nodes?: readonly NodeRecord[];
  readonly pods?: readonly PodRecord[];
  readonly volumeClaims?: readonly VolumeClaimRecord[];
  readonly provisionable?: boolean;
  readonly isPartial?: boolean;
}

/** @param request default: an ordinary pod that is to run on-demand. */
export function roomIn(cluster: Cluster, request: Partial<RoomRequest> = {}): Room {
  const { nodes = [aNode('o1', 'on-demand')], pods = [], volumeClaims = [], provisionable = false } = cluster;
  const view = createSnapshot({ nodes, pods, volumeClaims, isPartial: cluster.isPartial === true });
  const nodeClasses = nodeClassProfile(['karpenter'], {
    provisionable: { spot: provisionable, onDemand: provisionable },
  });
  const asked: RoomRequest = {
    namespace: 'shop',
    template: aTemplate(),
    side: 'on-demand',
    claims: [],
    siblingNodes: new Set(),
    ...request,
  };
  return findRoom(view, createSides(nodeClasses), asked);
}

/** An on-demand node in a zone, by the label `zone`. */
export function inZoneOf(zone: string, name = 'o'): NodeRecord {
  return aNode(name, 'on-demand', { labels: { 'karpenter.sh/capacity-type': 'on-demand', zone } });
}
