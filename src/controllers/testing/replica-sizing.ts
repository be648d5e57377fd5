/** Sizes per replica, with nothing around but what a test gives. */
import type { Clock } from '../../lib/clock.ts';
import { createSizeReplicas, type SizeReplicasOptions } from '../rightsizing/replicas.ts';

export interface ReplicaSizing {
  readonly clock: Clock;
  readonly resize: (...asked: Parameters<SizeReplicasOptions['actuator']['resize']>) => Promise<object>;
  /** The node of a replica lacked room a moment ago. Default: no. */
  readonly lacksRoom?: boolean;
  /** What did harm. Default: nothing. */
  readonly judge?: SizeReplicasOptions['changes']['judge'];
}

export function createReplicaSizing({ clock, resize, lacksRoom = false, judge = async () => [] }: ReplicaSizing) {
  return createSizeReplicas({
    actuator: { isResizing: () => false, lacksRoom: () => lacksRoom, keepsMemoryLimits: () => false, resize },
    changes: { judge },
    settings: () => ({ canaryMillis: 180_000, revertMillis: 1_800_000, restart: {} }),
    sizesNewPods: () => true,
    isAllocated: () => false,
    events: { onWorkload: () => {} },
    journal: { record: () => {} },
    metrics: { inc: () => {} },
    clock,
  } as unknown as SizeReplicasOptions);
}
