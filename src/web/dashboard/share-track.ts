/**
 * What one pod was given of its node's CPU and used of it, as steps in time. Bounded: where there are more changes than there is room
 * for, the older half is told more coarsely. Thousands of figures may be kept, so they lie in one list.
 */
import type { EpochMillis, Millicores, Millis } from '../../lib/units.ts';

/** From `at` on, until the next. */
export interface ShareStep {
  readonly at: EpochMillis;
  readonly given: Millicores;
  /** Undefined where nobody has said. */
  readonly used: Millicores | undefined;
}

export interface ShareTrack {
  /** Steps come in order of time; one that changes nothing is none. */
  add(step: ShareStep): void;
  /** The pod is gone. */
  end(at: EpochMillis): void;
  readonly endedAt: EpochMillis | undefined;
  /** Drops what was over before `oldest`. */
  forget(oldest: EpochMillis): void;
  steps(): ShareStep[];
}

/** Steps kept: 24 bytes each. */
const MAX_STEPS = 90;
const FIELDS = 3;

export function createShareTrack(): ShareTrack {
  /** Three figures a step: when, given, used; not a number where used is not known. */
  let figures: number[] = [];
  let endedAt: EpochMillis | undefined;
  const count = (): number => figures.length / FIELDS;
  const stepAt = (index: number): ShareStep => {
    const [at = 0, given = 0, used = Number.NaN] = figures.slice(index * FIELDS, (index + 1) * FIELDS);
    return { at, given, used: Number.isNaN(used) ? undefined : used };
  };
  return {
    add({ at, given, used }) {
      const last = count() === 0 ? undefined : stepAt(count() - 1);
      endedAt = undefined;
      if (last?.given === given && last.used === used) return;
      if (last?.at === at) figures.length -= FIELDS;
      figures.push(at, given, used ?? Number.NaN);
      if (count() > MAX_STEPS) figures = coarser(figures);
    },
    end(at) {
      endedAt ??= at;
    },
    get endedAt() {
      return endedAt;
    },
    forget(oldest) {
      // The last step of before is what holds at that instant.
      let over = 0;
      while (over + 1 < count() && stepAt(over + 1).at <= oldest) over++;
      if (over > 0) figures = figures.slice(over * FIELDS);
    },
    steps: () => Array.from({ length: count() }, (_, index) => stepAt(index)),
  };
}

/** Without every second step of the older half; the first stays, for it says since when something is known. */
function coarser(figures: readonly number[]): number[] {
  const half = figures.length / FIELDS / 2;
  return figures.filter((_, place) => {
    const step = Math.floor(place / FIELDS);
    return step >= half || step % 2 === 0;
  });
}

/** How far back is told. */
export const KEPT_MILLIS: Millis = 3_600_000;
