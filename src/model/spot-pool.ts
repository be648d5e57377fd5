/** Spot pools: machines of one kind in one zone, which the cloud takes back together, so they are counted together. */
import type { NodeRecord } from './records.ts';

export interface SpotPool {
  /** Identity: `eu-central-1a/m5`. */
  readonly key: string;
  /** Undefined where the node has no zone label. */
  readonly zone: string | undefined;
  /** Of the family; undefined where the node has no instance type. */
  readonly instanceType: string | undefined;
}

export const ZONE_LABEL = 'topology.kubernetes.io/zone';
export const INSTANCE_TYPE_LABEL = 'node.kubernetes.io/instance-type';

/**
 * The pool of a node, by the well-known labels of zone and instance type. Interruptions of one type in one zone come
 * within minutes of each other. A node without either label is in the pool of all such nodes.
 */
export function poolOf(node: Pick<NodeRecord, 'labels'>): SpotPool {
  const zone = node.labels[ZONE_LABEL];
  const instanceType = node.labels[INSTANCE_TYPE_LABEL];
  const family = instanceType === undefined ? undefined : familyOf(instanceType);
  return { key: `${zone ?? '-'}/${family ?? '-'}`, zone, instanceType };
}

/**
 * `m5` of AWS's `m5.xlarge`, `n2` of Google's `n2-standard-4`; Azure's `Standard_D4s_v5` without its size:
 * `Standard_Ds_v5`.
 */
export function familyOf(instanceType: string): string {
  const azure = /^(Standard_[A-Z]+)\d+(.*)$/.exec(instanceType);
  if (azure !== null) return `${azure[1]}${azure[2]}`;
  return instanceType.split(/[.-]/, 1)[0] ?? instanceType;
}
