/**
 * How many replicas are lowered at a time. Each is lowered by its own usage, but what is wrong with that (a source that
 * lies, a need that shows only under load) may be wrong with all of them: so one goes first, and is watched.
 */
import { pastTime } from '../../lib/past-time.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';

export interface ReplicaInPace {
  readonly replica: string;
  /** Since when its pod has less, and is watched for it; undefined: it is not. */
  readonly watchedSince: EpochMillis | undefined;
  /** When decreases of it did harm, of late. */
  readonly harmedAt: EpochMillis | undefined;
}

export type Pace =
  | { readonly kind: 'wait'; readonly for: 'watched' | 'harm'; readonly replica: string; readonly millis: Millis }
  /** So many may begin. */
  | { readonly kind: 'begin'; readonly atMost: number };

export interface PaceRules {
  readonly canaryMillis: Millis;
  /** After harm to one replica no other is lowered for this long, twice as long for each more. */
  readonly pauseMillis: Millis;
}

const MAX_DOUBLINGS = 5;

export function paceOf(
  replicas: readonly ReplicaInPace[],
  { canaryMillis, pauseMillis }: PaceRules,
  now: EpochMillis,
): Pace {
  const harmed = replicas.flatMap(({ replica, harmedAt: told }) => {
    const harmedAt = pastTime(told, now);
    return harmedAt === undefined ? [] : [{ replica, harmedAt }];
  });
  const last = harmed.toSorted((a, b) => b.harmedAt - a.harmedAt)[0];
  if (last !== undefined) {
    const until = last.harmedAt + pauseMillis * 2 ** Math.min(MAX_DOUBLINGS, harmed.length - 1);
    if (now < until) return { kind: 'wait', for: 'harm', replica: last.replica, millis: until - now };
  }
  const watched = replicas.flatMap(({ replica, watchedSince }) =>
    watchedSince === undefined ? [] : [{ replica, left: watchedSince + canaryMillis - now }],
  );
  const trying = watched.toSorted((a, b) => b.left - a.left)[0];
  if (trying !== undefined && trying.left > 0) {
    return { kind: 'wait', for: 'watched', replica: trying.replica, millis: trying.left };
  }
  // Some have done well with less for the whole time: the others may follow.
  return { kind: 'begin', atMost: watched.length > 0 ? Number.POSITIVE_INFINITY : 1 };
}
