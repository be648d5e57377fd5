/**
 * Resizes that are not granted are taken back: while one is deferred, scheduler, quota and kubelet charge it as if it
 * were granted (k/k#135107), and an infeasible one can come true at a container's restart (k/k#126033).
 */

import type { EpochMillis, Millis } from '../../lib/units.ts';
import { withdrawalChanges } from '../../model/granted-size.ts';
import type { SizeChange, SizeKey } from '../../model/pod-size.ts';
import type { AllocationPod } from './allocation-pod.ts';

const PATIENCE: Millis = 15_000;
/** Memory is never allocation's to write. */
const CPU_KEYS: readonly SizeKey[] = ['cpuRequest', 'cpuLimit'];

export interface Withdrawal {
  readonly changes: readonly SizeChange[];
  readonly why: string;
}

/** Back to what the kubelet has allocated; undefined: nothing to take back, or not yet. */
export function withdrawalOf(pod: AllocationPod, now: EpochMillis): Withdrawal | undefined {
  const { pending } = pod.resize;
  const { generation, observedGeneration = generation } = pod;
  // A condition about an older spec says nothing of what is asked for now.
  if (pending === undefined || observedGeneration < generation) return undefined;
  const isDue = pending.reason === 'Infeasible' || (pending.since !== undefined && now - pending.since > PATIENCE);
  if (!isDue) return undefined;
  const changes = withdrawalChanges(pod, CPU_KEYS);
  return changes.length === 0 ? undefined : { changes, why: `${pending.reason}: ${pending.message}` };
}
