/**
 * Resizes that are not granted are taken back: while one is deferred, scheduler, quota and kubelet charge it as if it were
 * granted (k/k#135107), and an infeasible one can come true at a container's restart (k/k#126033).
 */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { SizeChange } from '../size-decision.ts';
import type { AllocationPod } from './allocation-pod.ts';

const PATIENCE: Millis = 15_000;

export interface Withdrawal {
  readonly changes: readonly SizeChange[];
  readonly why: string;
}

/** Back to what the kubelet has allocated; undefined: nothing to take back, or not yet. */
export function withdrawalOf(pod: AllocationPod, now: EpochMillis): Withdrawal | undefined {
  const { pending } = pod.resize;
  if (pending === undefined) return undefined;
  const isDue = pending.reason === 'Infeasible' || (pending.since !== undefined && now - pending.since > PATIENCE);
  if (!isDue) return undefined;
  const statuses = new Map(pod.statuses.map((status) => [status.name, status]));
  const changes = pod.containers.flatMap(({ name, size }): SizeChange[] => {
    const status = statuses.get(name);
    const cpuRequest = status?.allocated?.cpuRequest ?? status?.actual?.cpuRequest;
    const cpuLimit = status?.actual?.cpuLimit;
    const to = {
      ...(cpuRequest !== undefined && cpuRequest !== size.cpuRequest && { cpuRequest }),
      // A limit that was being added cannot be taken out again.
      ...(cpuLimit !== undefined && cpuLimit !== size.cpuLimit && { cpuLimit }),
    };
    return Object.keys(to).length === 0 ? [] : [{ container: name, to }];
  });
  return changes.length === 0 ? undefined : { changes, why: `${pending.reason}: ${pending.message}` };
}
