/** What is kept of one container: its profile, and beside it what the profile cannot hold. */
import type { Random } from '../lib/random.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { SavedUsage } from './saved-usage.ts';
import { isWithinStart, type ProfileOptions, UsageProfile } from './usage-profile.ts';
import { UsageRing } from './usage-ring.ts';
import type { ResourceInstants, UsageSeries } from './usage-series.ts';
import type { UsageWindow } from './usage-window.ts';

/**
 * Pods of which the last kill is remembered, so that none counts twice: their statuses tell of it for as long as they
 * live, and there may be thousands of them.
 */
const MAX_KILLED = 5_000;
/** Of these the latest are saved. What else is told still to the next process is told to it once more. */
const SAVED_KILLS = 32;
const noKills: readonly string[] = [];

export class UsageEntry {
  profile: UsageProfile;
  options: ProfileOptions;
  /** Made of the window's samples by whoever has them all. */
  window: UsageWindow | undefined;
  ring: UsageRing | undefined;
  /** When the workload last had this container; to the step of the book. */
  seenAt: EpochMillis;
  /** By pod, in the order in which they were told. Left out: none was. */
  #kills: Map<string, string> | undefined;

  /** @throws InvalidValueError when the saved profile cannot be read. */
  constructor(options: ProfileOptions, seenAt: EpochMillis, saved?: SavedUsage) {
    this.options = options;
    this.seenAt = seenAt;
    this.profile = new UsageProfile(options, saved?.profile);
    this.window = saved?.window;
    this.ring = saved?.ring && new UsageRing(saved.ring.windowMillis, saved.ring);
    if (saved !== undefined && saved.kills.length > 0)
      this.#kills = new Map(saved.kills.map((key) => [podOf(key), key]));
  }

  /**
   * Goes on under other options (kubernetes/autoscaler#9241, #10100: a policy that changes must find what was known).
   */
  retune(options: ProfileOptions): void {
    const { usualHalfLifeMillis, startupExclusionMillis } = this.options;
    if (
      usualHalfLifeMillis === options.usualHalfLifeMillis &&
      startupExclusionMillis === options.startupExclusionMillis
    ) {
      // One for all that have the same: of what was saved each has its own.
      this.options = options;
      return;
    }
    this.profile = this.profile.retuned(options);
    this.options = options;
  }

  /** Those to be saved. */
  kills(): readonly string[] {
    return this.#kills === undefined ? noKills : [...this.#kills.values()].slice(-SAVED_KILLS);
  }

  /** @param after of each resource, samples up to this instant are known already. */
  take(series: UsageSeries, after: ResourceInstants, startedAt: EpochMillis | undefined, random: Random): boolean {
    let isNew = false;
    const started = startedAt === undefined ? {} : { startedAt };
    for (const { at, value } of series.cpu) {
      if (at <= (after.cpu ?? Number.NEGATIVE_INFINITY)) continue;
      this.profile.add({ at, cpu: value, ...started });
      if (!isWithinStart(at, startedAt, this.options.startupExclusionMillis)) this.ring?.addCpu(value, at, random);
      isNew = true;
    }
    for (const { at, value } of series.memory) {
      if (at <= (after.memory ?? Number.NEGATIVE_INFINITY)) continue;
      this.profile.add({ at, memory: value, ...started });
      this.ring?.addMemory(value, at, random);
      isNew = true;
    }
    return isNew;
  }

  /**
   * @param key names the kill: pod, a slash, and time.
   * @param limit memory in force when it happened; 0 where nobody said any.
   * @returns false when it is known.
   */
  noteKill(key: string, limit: number, at: EpochMillis): boolean {
    const kills = this.#kills ?? new Map<string, string>();
    const pod = podOf(key);
    if (kills.get(pod) === key) return false;
    // The latest comes last.
    kills.delete(pod);
    this.#kills = kills.set(pod, key);
    const [oldest] = kills.keys();
    if (kills.size > MAX_KILLED && oldest !== undefined) kills.delete(oldest);
    // Without a limit the node itself ran out: what was used is all there is to go by.
    this.profile.memory.noteOom(Math.max(1, limit), at);
    return true;
  }
}

function podOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}
