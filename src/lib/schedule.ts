/** Disruption windows: the times at which pods may be moved, as cron schedules with durations. */
import { CRON_ACCEPTED, type CronSchedule, parseCron } from './cron.ts';
import { DURATION_ACCEPTED, formatDuration, parseDuration } from './duration.ts';
import { InvalidValueError } from './errors.ts';
import { shortened } from './shortened.ts';
import type { EpochMillis, Millis } from './units.ts';

/** Times when pods may be moved. Time zones and daylight saving are those of its schedules (hazard H29). */
export interface DisruptionWindow {
  /** For people, e.g. `0 2 * * * for 4h`. */
  readonly text: string;
  /** Whether `instant` lies in one of the windows; the start is inclusive, the end exclusive. */
  isOpen(instant: EpochMillis): boolean;
  /**
   * The next instant at which {@link isOpen} changes: an opening when it is closed, the end of the last of the
   * overlapping or adjoining windows when it is open. Undefined when no closing is in sight, which is at least 4 days
   * or 200 adjoining windows ahead.
   */
  nextChange(instant: EpochMillis): EpochMillis | undefined;
}

/** One part of one of the two texts. */
export interface WindowProblem {
  readonly part: 'schedule' | 'duration';
  readonly value: string;
  readonly accepted: string;
}

/** A window that is not valid in any part is none at all: nothing is moved on its account. */
export type WindowResult =
  | { readonly ok: true; readonly window: DisruptionWindow }
  | { readonly ok: false; readonly problems: readonly WindowProblem[] };

/**
 * Both texts may be annotations of a quarter of a megabyte, and every part costs calendar arithmetic each time a window
 * opens or closes. As many as a policy may have.
 */
const MAX_PARTS = 20;
const MAX_LENGTH = 5_000;
const QUOTED_LENGTH = 100;

/** A longer window would never close between yearly occurrences. */
const MAX_WINDOW_MILLIS = 366 * 24 * 3_600_000;
/** How far and over how many adjoining windows a closing time is looked for. */
const FOLLOWED_MILLIS = 8 * 24 * 3_600_000;
const MAX_FOLLOWED = 400;

/**
 * Reads windows from their two texts, both with parts separated by `;`: cron schedules, and either one duration for all
 * or one each. The result lists every problem of both texts; of one that is too long, only that.
 */
export function parseWindow(schedule: string, duration: string): WindowResult {
  const problems: WindowProblem[] = [];
  const schedules = readParts(schedule, 'schedule', CRON_ACCEPTED, parseCron, problems);
  const durations = readParts(duration, 'duration', `${DURATION_ACCEPTED}, longer than zero`, parseLength, problems);
  if (problems.length > 0) return { ok: false, problems };
  if (durations.length !== 1 && durations.length !== schedules.length) {
    const accepted = `one duration for all, or one for each of the ${schedules.length} schedules`;
    return { ok: false, problems: [{ part: 'duration', value: duration, accepted }] };
  }
  const parts = schedules.map((cron, index): Part => ({ cron, millis: durations[index] ?? durations[0] ?? 0 }));
  return { ok: true, window: createWindow(parts) };
}

interface Part {
  readonly cron: CronSchedule;
  readonly millis: Millis;
}

function readParts<T>(
  text: string,
  part: WindowProblem['part'],
  acceptedWhenEmpty: string,
  read: (text: string) => T,
  problems: WindowProblem[],
): T[] {
  const pieces = text.length > MAX_LENGTH ? [] : text.split(';');
  if (pieces.length === 0 || pieces.length > MAX_PARTS) {
    const accepted = `at most ${MAX_PARTS} parts and ${MAX_LENGTH} characters`;
    problems.push({ part, value: shortened(text, QUOTED_LENGTH), accepted });
    return [];
  }
  return pieces.flatMap((piece) => {
    const trimmed = piece.trim();
    try {
      if (trimmed === '') throw new InvalidValueError(part, text, acceptedWhenEmpty);
      return [read(trimmed)];
    } catch (error) {
      if (!(error instanceof InvalidValueError)) throw error;
      problems.push({ part, value: error.value, accepted: error.accepted });
      return [];
    }
  });
}

function parseLength(text: string): Millis {
  const millis = parseDuration(text);
  if (millis > 0 && millis <= MAX_WINDOW_MILLIS) return millis;
  throw new InvalidValueError(
    'duration',
    text,
    `a duration longer than 0s and at most ${formatDuration(MAX_WINDOW_MILLIS)}`,
  );
}

/** A stretch of time through which the windows stay open, or stay closed. */
interface Stretch {
  readonly from: EpochMillis;
  readonly until: EpochMillis;
  readonly open: boolean;
  /** Whether `until` is where the state changes, or only as far as was looked. */
  readonly ends: 'here' | 'later' | 'unknown';
}

function createWindow(parts: readonly Part[]): DisruptionWindow {
  // Remembering the last stretch makes asking every few seconds cheap.
  let known: Stretch | undefined;
  const knownAt = (instant: EpochMillis): Stretch | undefined =>
    known !== undefined && instant >= known.from && instant < known.until ? known : undefined;
  return {
    text: parts.map(({ cron, millis }) => `${cron.text} for ${formatDuration(millis)}`).join('; '),
    isOpen(instant) {
      known = knownAt(instant) ?? glance(parts, instant);
      return known.open;
    },
    nextChange(instant) {
      known = knownAt(instant) ?? glance(parts, instant);
      // Looking anew only from half-way on keeps windows that never close cheap.
      const isHalfWay = instant - known.from > (known.until - known.from) / 2;
      if (known.open && known.ends === 'unknown' && isHalfWay) known = glance(parts, instant);
      if (known.ends === 'later') known = follow(parts, known);
      return known.ends === 'here' ? known.until : undefined;
    },
  };
}

function glance(parts: readonly Part[], instant: EpochMillis): Stretch {
  const closing = closingTime(parts, instant);
  if (closing !== undefined) return { from: instant, until: closing, open: true, ends: 'later' };
  const openings = parts.flatMap(({ cron }) => cron.nextAfter(instant) ?? []);
  // Without any opening this is infinity: closed for good.
  return { from: instant, until: Math.min(...openings), open: false, ends: openings.length > 0 ? 'here' : 'unknown' };
}

/** Extends an open stretch over the windows that overlap or adjoin it. */
function follow(parts: readonly Part[], { from, until }: Stretch): Stretch {
  let end = until;
  for (let windows = 0; windows < MAX_FOLLOWED && end - from < FOLLOWED_MILLIS; windows++) {
    const next = closingTime(parts, end);
    if (next === undefined) return { from, until: end, open: true, ends: 'here' };
    end = next;
  }
  return { from, until: end, open: true, ends: 'unknown' };
}

/** The latest end among the windows open at `instant`, undefined when none is. */
function closingTime(parts: readonly Part[], instant: EpochMillis): EpochMillis | undefined {
  const ends = parts.flatMap(({ cron, millis }) => {
    const start = cron.latestAt(instant);
    return start !== undefined && start + millis > instant ? [start + millis] : [];
  });
  return ends.length === 0 ? undefined : Math.max(...ends);
}

/**
 * A {@link parseWindow} that remembers its results, for callers that read the same few texts for many workloads. It
 * forgets all of them when they have more than `limit` parts together.
 */
export function createWindowParser(limit = 1000): typeof parseWindow {
  const remembered = new Map<string, WindowResult>();
  let parts = 0;
  return (schedule, duration) => {
    if (schedule.length + duration.length > 2 * MAX_LENGTH) return parseWindow(schedule, duration);
    const key = `${schedule}\n${duration}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const own = Math.min(MAX_PARTS, schedule.split(';').length);
    if (parts + own > limit) {
      remembered.clear();
      parts = 0;
    }
    parts += own;
    const result = parseWindow(schedule, duration);
    remembered.set(key, result);
    return result;
  };
}
