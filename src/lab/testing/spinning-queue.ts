/** Work that never ends. */
import type { JobQueue } from '../cfs/cfs-machine.ts';

export const spinningQueue: JobQueue = {
  take: () => ({ remainingMillis: Number.MAX_SAFE_INTEGER }),
  finished: () => {},
};
