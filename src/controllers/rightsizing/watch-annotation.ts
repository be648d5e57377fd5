/** What is being watched, as it is kept on the workload for the next leader. */
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { runningPods } from '../../decide/rightsizing/pod-drift.ts';
import { isDecrease, resumeWatch } from '../../decide/rightsizing/watched-change.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { readAppliedSizes, withAppliedSizes } from '../../model/applied-sizes.ts';
import type { KeptAmount } from '../../model/kept-sizes.ts';
import { effectiveChanges, type SizeKey, sizeKeys, sizeOfContainer } from '../../model/pod-size.ts';
import { restartedContainer } from '../../model/restart-on-resize.ts';
import type { ContainerSize, SizedWorkload } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { type KeptChange, MAX_TOLD_PODS, readWatch, writeWatch } from '../../model/watched-changes.ts';
import { nothingSeen } from './throttling.ts';
import { isOwnRollout, type OngoingChange, type WatchState } from './watches.ts';

/** The text to keep; null where nothing is watched. More of something is taken back while its rollout hangs, and never after. */
export function watchesText({ ongoing, takenBack }: WatchState): string | null {
  const kept = ongoing.filter((each) => isDecrease(each) || isOwnRollout(each));
  return writeWatch({ changes: kept.map(keptOf), takenBack }) ?? null;
}

/** While nobody led for a day, too much else happened to put what is seen down to the change. */
const MAX_AGE_MILLIS: Millis = 86_400_000;

/**
 * What the last leader watched. A decrease is watched for its whole time anew, as the pods may have had it only since a
 * moment ago.
 */
export function readWatches(workload: SizedWorkload, pods: readonly SizedPod[], now: EpochMillis): WatchState {
  const { changes, takenBack } = readWatch(workload.annotations[rightsizingKeys.watchedChanges]);
  const live = runningPods(pods);
  const applied = readAppliedSizes(workload.annotations[rightsizingKeys.appliedSizes]);
  const inForce = withAppliedSizes(workload.containers, applied);
  const ongoing = changes.flatMap(
    ({ method, phase, startedAt, canary, sizes, pods: then }): readonly OngoingChange[] => {
      const resumed = resumeWatch({
        changes: sizes.map(({ container, amounts }) => ({ container, to: pick(amounts, ([, to]) => to) })),
        before: workload.containers.map((container) => {
          const own = sizes.find((each) => each.container === container.name);
          return own === undefined ? container : { ...container, size: sizeBefore(container.size, own.amounts) };
        }),
        // The clock of the last leader may have been ahead.
        startedAt: Math.min(startedAt, now),
        then,
        pods: live,
        isInPlace: method === 'InPlace',
      });
      // Whoever put other sizes in force since means what he wrote.
      const isOutlived = phase === 'spread' && effectiveChanges(inForce, resumed.changes).length > 0;
      if (isOutlived || now - startedAt > MAX_AGE_MILLIS) return [];
      // By a clock that was behind, its time would be over before it has shown anything.
      const first = canary && { ...canary, at: now };
      return [{ ...resumed, method, phase, canary: first, throttling: nothingSeen(), spreadingUntil: now }];
    },
  );
  return { ongoing, takenBack };
}

/** Old and new value of each size that changed; null for one that was not set. */
function keptOf(change: OngoingChange): KeptChange {
  const { method, phase, startedAt, canary, changes, before, restarts, unready, restarted } = change;
  const sizes = changes.map(({ container, to }) => {
    const old = sizeOfContainer(before, container) ?? {};
    const amounts: Partial<Record<SizeKey, KeptAmount>> = {};
    for (const key of sizeKeys) {
      const value = to[key];
      if (value !== undefined) amounts[key] = [old[key] ?? null, value];
    }
    return { container, amounts };
  });
  const counts = [...restarts].flatMap(([key, count]) => {
    const own = changes.find(({ container }) => container === key.slice(key.indexOf('/') + 1));
    if (own === undefined) return [];
    // Whoever reads it allows for the restart by the change itself.
    const allowed = method === 'InPlace' && restartedContainer(before, [own]) !== undefined ? 1 : 0;
    const least = Math.max(count, (restarted.get(key) ?? 0) - allowed);
    return least > 0 ? [[key, least] as const] : [];
  });
  const isTold = counts.length + unready.size <= MAX_TOLD_PODS;
  const pods = { restarts: new Map(counts), unready };
  return { method, phase, startedAt, canary, sizes, ...(isTold && { pods }) };
}

/** What the container had before the change, as far as the change says. */
function sizeBefore(size: ContainerSize, amounts: Readonly<Partial<Record<SizeKey, KeptAmount>>>): ContainerSize {
  const had: Partial<Record<SizeKey, number>> = { ...size };
  for (const key of sizeKeys) {
    const [from] = amounts[key] ?? [undefined];
    if (from === null) delete had[key];
    else if (from !== undefined) had[key] = from;
  }
  return had;
}

function pick(
  amounts: Readonly<Partial<Record<SizeKey, KeptAmount>>>,
  of: (amount: KeptAmount) => number,
): ContainerSize {
  const size: Partial<Record<SizeKey, number>> = {};
  for (const key of sizeKeys) {
    const amount = amounts[key];
    if (amount !== undefined) size[key] = of(amount);
  }
  return size;
}
