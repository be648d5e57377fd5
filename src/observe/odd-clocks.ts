/**
 * Which clocks are off, by the times they tell of changes that have just been seen. What is told late looks the same,
 * once; a clock is off by about the same minutes later, too.
 */
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';

/** Whoever dates what pods tell. */
export interface Teller {
  readonly kind: 'node' | 'scheduler' | 'api-server';
  /** For people, unique among all kinds. */
  readonly name: string;
}

export interface OddClocks {
  /** A change was dated by a clock that is so far ahead; negative: it is behind, or what it dates is told late. */
  noteOdd(teller: Teller, aheadMillis: Millis): void;
  /** One was dated by a clock that agrees with this process's. */
  noteRight(teller: Teller): void;
  /** Clocks that are off, as far as was told lately. */
  counts(): Readonly<Record<Teller['kind'], number>>;
}

/** Changes come within seconds, and clocks are kept within less: as much as adr/0027 takes for a correction. */
export const MOST_APART_MILLIS: Millis = 30_000;
/** What was held up comes all at once; so much later it would be another matter. */
const AGAIN_MILLIS: Millis = 300_000;
/** Little happens on some nodes, and others are gone. */
const KEPT_MILLIS: Millis = 6 * 3_600_000;
const LOG_MILLIS: Millis = 3_600_000;

interface OddClock {
  readonly kind: Teller['kind'];
  readonly aheadMillis: Millis;
  /** It has been off by about as much since then. */
  readonly since: EpochMillis;
  readonly seenAt: EpochMillis;
}

/** Tells of each of them in the log once an hour: an API server that was out of reach has many tell late at once. */
export function createOddClocks(log: Logger, clock: Clock): OddClocks {
  /** By the names of their tellers; what was not seen for longest comes first. */
  const odd = new Map<string, OddClock>();
  const loggedAt = new Map<string, EpochMillis>();

  const forgetOld = (now: EpochMillis): void => {
    for (const [name, { seenAt }] of odd) {
      if (now - seenAt < KEPT_MILLIS) break;
      odd.delete(name);
    }
  };
  const tellOnce = (name: string, aheadMillis: Millis, now: EpochMillis): void => {
    for (const [known, at] of loggedAt) if (Math.abs(now - at) >= LOG_MILLIS) loggedAt.delete(known);
    if (loggedAt.has(name)) return;
    loggedAt.set(name, now);
    log.warn(
      { teller: name, aheadSeconds: Math.round(aheadMillis / 1000) },
      'A change is dated by a clock other than this one, or is told late; it counts from when it is seen. Compare the clocks',
    );
  };

  return {
    noteOdd({ kind, name }, aheadMillis) {
      const now = clock.now();
      tellOnce(name, aheadMillis, now);
      const known = odd.get(name);
      const isSame = known !== undefined && Math.abs(known.aheadMillis - aheadMillis) <= MOST_APART_MILLIS;
      odd.delete(name);
      odd.set(name, { kind, aheadMillis, since: isSame ? known.since : now, seenAt: now });
      forgetOld(now);
    },
    noteRight: ({ name }) => void odd.delete(name),
    counts() {
      forgetOld(clock.now());
      const counts = { node: 0, scheduler: 0, 'api-server': 0 };
      for (const { kind, since, seenAt } of odd.values()) if (seenAt - since >= AGAIN_MILLIS) counts[kind]++;
      return counts;
    },
  };
}
