/** The times in the sizing part of a pod, all of its node's clock, as `seen-times.ts` dates them. */
import type { EpochMillis } from '../../lib/units.ts';
import { endedAt } from '../../model/recent-kill.ts';
import type { PodSizing, ResizeState } from '../../model/sizing-records.ts';
import { type StatusShape, sizingParts, startedSizing, startOf } from './compact-pod-sizing.ts';

/**
 * What the time told under this name is taken for. A name stands for one time of the pod.
 * @param had what the earlier record has for it.
 * @param due what a clock that is right would tell; left out: now.
 */
export type DateTime = (
  name: string,
  told: EpochMillis | undefined,
  had: EpochMillis | undefined,
  due?: EpochMillis,
) => EpochMillis | undefined;

/** @returns `sizing` itself where no time is another than the one told. */
export function dateSizing(sizing: PodSizing, before: PodSizing | undefined, date: DateTime): PodSizing {
  const parts = sizingParts(sizing);
  if (parts === undefined) return sizing;
  const had = before && sizingParts(before);
  const { common } = parts;
  const hadAt = (name: string): number => had?.common.shapes.findIndex((shape) => shape.name === name) ?? -1;
  const starts = common.shapes.map(({ name }, index): EpochMillis | undefined =>
    date(`${name} started`, startOf(parts, index), had && startOf(had, hadAt(name))),
  );
  const shapes = common.shapes.map((shape) => dateEnd(shape, had?.common.shapes[hadAt(shape.name)], date));
  const resize = dateResize(common.resize, had?.common.resize, date);
  const isAsTold = resize === common.resize && shapes.every((shape, index) => shape === common.shapes[index]);
  if (isAsTold && starts.every((start, index) => start === startOf(parts, index))) return sizing;
  return startedSizing(isAsTold ? parts : { ...parts, common: { ...common, shapes, resize } }, starts);
}

/** The time told stays beside it: by that a kill is known as the same. */
function dateEnd(shape: StatusShape, had: StatusShape | undefined, date: DateTime): StatusShape {
  const { lastTermination: end } = shape;
  const hadEnd = had?.lastTermination;
  const seenAt = date(`${shape.name} ended`, end?.finishedAt, hadEnd && endedAt(hadEnd));
  if (end === undefined || seenAt === undefined || seenAt === end.finishedAt) return shape;
  return { ...shape, lastTermination: { ...end, seenAt } };
}

function dateResize(resize: ResizeState, had: ResizeState | undefined, date: DateTime): ResizeState {
  const { pending, inProgress } = resize;
  const waits = date('waits', pending?.since, had?.pending?.since);
  const runs = date('runs', inProgress?.since, had?.inProgress?.since);
  if (waits === pending?.since && runs === inProgress?.since) return resize;
  return {
    pending: pending && { ...pending, since: waits },
    inProgress: inProgress && { ...inProgress, since: runs },
  };
}
