/** One simulated machine: what its kubelet remembers of it. */
import type { Node } from '../../api/core.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { type Amounts, add, amountsOf } from '../pod-requests.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { NodeSpec } from './node-object.ts';
import type { PodWorker } from './pod-worker.ts';

/** Lives on when the node is lost, without workers, until it is recovered or its Node object deleted. */
export interface Machine {
  readonly spec: NodeSpec;
  readonly index: number;
  /** When it was registered. */
  readonly sinceMillis: EpochMillis;
  nextPodIp: number;
  isAlive: boolean;
  allocatable: Amounts;
  readonly heartbeat: Heartbeat | undefined;
  /** By pod uid. */
  readonly workers: Map<string, PodWorker>;
}

/** @param index of the machine among all there were: it decides the pods' addresses. */
export function newMachine(
  spec: NodeSpec,
  index: number,
  node: Node,
  heartbeat: Heartbeat | undefined,
  sinceMillis: EpochMillis,
): Machine {
  const allocatable = amountsOf(node.status?.allocatable);
  return { spec, index, sinceMillis, nextPodIp: 2, isAlive: true, allocatable, heartbeat, workers: new Map() };
}

/** What all pods but one hold by the node's books. */
export function heldByOthers(machine: Machine, uid: string): Amounts {
  let total: Amounts = new Map();
  for (const [other, worker] of machine.workers) if (other !== uid) total = add(total, worker.held());
  return total;
}

/** Distinct for up to 65,536 nodes; addresses of ended pods come round after 250 starts. */
export function takePodIp(machine: Machine): string {
  const { index } = machine;
  const number = machine.nextPodIp++;
  return `10.${64 + ((index >> 8) & 0x7f)}.${index & 0xff}.${2 + ((number - 2) % 250)}`;
}
