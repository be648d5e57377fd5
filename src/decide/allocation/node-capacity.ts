/**
 * How much of a node's CPU its managed pods share: what is allocatable, less what others request and the system really
 * takes.
 */
import type { Millicores } from '../../lib/units.ts';
import { otherResizer } from '../../model/size-managers.ts';
import { type AllocationPod, chargedCpu } from './allocation-pod.ts';
import type { Clamp } from './clamp.ts';
import { optedOut } from './eligibility.ts';
import type { Absent, NodeFacts } from './node-input.ts';

/**
 * allocatable - requests of pods that take no part - overheads - max(margin, system use - reserved). Reserved is what the
 * kubelet was told to keep for the system; on a busy node it takes more, and what was shared out of that would not
 * exist.
 *
 * `nominal` is the same without regard to what the system takes: what requests may add up to. Lowering them all because
 * something outside of pods is busy would leave the pods less against it, not more.
 */
export function sharedCapacity(
  { allocatable, reserved, systemUse }: NodeFacts,
  managed: readonly AllocationPod[],
  absent: readonly Absent[],
  margin: number,
): { readonly capacity: Millicores; readonly nominal: Millicores; readonly clamps: readonly Clamp[] } {
  const others = absent.reduce((sum, each) => sum + chargeOf(each), 0);
  const overhead = managed.reduce((sum, pod) => sum + pod.overhead, 0);
  const kept = Math.ceil(margin * allocatable);
  const excess = Math.ceil(Math.max(0, (systemUse ?? 0) - reserved));
  const before = Math.max(0, allocatable - others - overhead - kept);
  const capacity = Math.max(0, allocatable - others - overhead - Math.max(kept, excess));
  const clamps: Clamp[] = capacity < before ? [{ reason: 'SystemUse', what: 'capacity', before, after: capacity }] : [];
  return { capacity, nominal: before, clamps };
}

/** Who opted out gets back what it came with, and waits for the room: unless somebody else sizes it, who has the say then. */
function chargeOf({ input: { pod, original }, reason }: Absent): Millicores {
  const charged = chargedCpu(pod);
  if (original === undefined || !optedOut.has(reason) || otherResizer(pod) !== undefined) return charged;
  return Math.max(charged, original.request + pod.overhead);
}
