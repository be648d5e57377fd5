/** Waits for the caches to show what just happened to a workload, for a moment at most. */
import type { Clock } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';
import type { LiveView } from '../observe/live-view.ts';

/**
 * Resolves at the next change that concerns the workload, or after `millis`, whichever is first; it does not tell
 * which. Never rejects.
 */
export type CatchUp = (workloadKey: string, millis: Millis) => Promise<void>;

export function createCatchUp(view: Pick<LiveView, 'onChange'>, clock: Clock): CatchUp {
  const waiting = new Map<string, Set<() => void>>();
  view.onChange((change) => {
    if (change.kind === 'capacity') return;
    for (const resolve of waiting.get(change.key) ?? []) resolve();
  });
  return (workloadKey, millis) =>
    new Promise((resolve) => {
      const waiters = waiting.get(workloadKey) ?? new Set();
      waiting.set(workloadKey, waiters);
      const done = (): void => {
        timer.cancel();
        waiters.delete(done);
        if (waiters.size === 0) waiting.delete(workloadKey);
        resolve();
      };
      const timer = clock.setTimer(millis, done);
      waiters.add(done);
    });
}
