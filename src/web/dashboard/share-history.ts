/**
 * Given and used CPU over time, pod by pod: what was given since when the journal remembers, what was used since
 * somebody looks.
 */
import type { JournalEntry } from '../../act/journal.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { FollowedShares } from './share-recorder.ts';
import { KEPT_MILLIS } from './share-track.ts';
import type { PodSharesTold, ShareHistoryTold } from './workload-answer.ts';

/**
 * @param journal of the workload: what its pods were given before anybody looked is known from the resizes that are
 * told there.
 * @returns undefined where no pod takes part in allocation. Repeated values are left out: each holds until the next.
 */
export function shareHistory(
  { since, pods, omitted }: FollowedShares,
  journal: readonly JournalEntry[],
  now: EpochMillis,
): ShareHistoryTold | undefined {
  if (pods.size === 0) return undefined;
  const oldest = now - KEPT_MILLIS;
  const resizes = journal.filter(({ kind, reason, lastAt }) => kind === 'done' && isResize(reason) && lastAt > oldest);
  return {
    since,
    omitted,
    pods: [...pods].map(([pod, track]): PodSharesTold => {
      const steps = track.steps().map((step) => ({ ...step, at: Math.max(step.at, oldest) }));
      const [first] = steps;
      const before = resizes.filter((entry) => entry.pod === pod && entry.lastAt < (first?.at ?? now));
      const given = [
        ...before.flatMap(({ lastAt, numbers }) => point(lastAt, numbers?.['requestAfter'])),
        ...steps.flatMap(({ at, given }) => point(at, given)),
      ];
      return {
        pod,
        given: withoutRepeats(given),
        used: withoutRepeats(steps.flatMap(({ at, used }) => point(at, used))),
        endedAt: track.endedAt,
      };
    }),
  };
}

const isResize = (reason: string): boolean => reason === 'CPUApplied' || reason === 'CPURestored';

type Point = readonly [at: number, millis: number];

const point = (at: EpochMillis, value: unknown): Point[] => (typeof value === 'number' ? [[at, value]] : []);

const withoutRepeats = (points: readonly Point[]): Point[] =>
  points.filter(([, value], index) => value !== points[index - 1]?.[1]);
