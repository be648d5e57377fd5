/**
 * The book of usage: what is remembered of every container of every workload. Keyed by kind, namespace, name and
 * container, so that neither a rollout nor a re-created workload starts anew; forgotten only when the workload, or
 * the container in it, was not seen for long.
 */
import { InvalidValueError } from '../lib/errors.ts';
import type { Random } from '../lib/random.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { type WorkloadRef, workloadKey } from './cluster-view.ts';
import { isReplicaRef } from './replica.ts';
import type { SavedUsage } from './saved-usage.ts';
import type { SizedWorkload } from './sizing-records.ts';
import { UsageEntry } from './usage-entry.ts';
import type { UsageProfile } from './usage-profile.ts';
import { UsageRing } from './usage-ring.ts';
import type { ResourceInstants, UsageSeries } from './usage-series.ts';
import type { UsageSettings } from './usage-settings.ts';
import type { UsageWindow } from './usage-window.ts';

/** When a workload was last seen is kept this coarse, or every save would change for it. */
const SEEN_STEP_MILLIS: Millis = 3_600_000;
/** Of a replica that is gone, a long weekend: nodes that an autoscaler makes never come back under their names. */
const REPLICA_RETENTION_MILLIS: Millis = 4 * 86_400_000;

/** One workload. */
interface BookPage {
  readonly ref: WorkloadRef;
  /** By container. */
  readonly entries: Map<string, UsageEntry>;
  readTo: ResourceInstants;
  seenAt: EpochMillis;
}

export interface UsageBookOptions {
  readonly random: Random;
  /** What was not seen for so long is forgotten: a workload, or a container that its workload no longer has. */
  readonly retentionMillis: Millis;
}

/** What was forgotten: all of a workload, or, with `container`, that one only. */
export interface ForgottenUsage {
  /** {@link workloadKey} */
  readonly workload: string;
  readonly container?: string;
}

/** What one reading brings: the series, and how far it went. */
export interface TakenUsage {
  readonly series: readonly UsageSeries[];
  readonly readTo: ResourceInstants;
  /** Per pod, what was already taken of it; where it has no entry, the page's own mark counts. */
  readonly takenOf?: (pod: string) => EpochMillis | undefined;
  readonly startedAt: (pod: string, container: string) => EpochMillis | undefined;
}

/**
 * Usage of all workloads, in memory. A page is opened by whoever sees the workload first, and outlives its pods and
 * rollouts; it goes when the workload was not seen for the retention.
 */
export class UsageBook {
  readonly #pages = new Map<string, BookPage>();
  readonly #options: UsageBookOptions;

  constructor(options: UsageBookOptions) {
    this.#options = options;
  }

  profileOf(ref: WorkloadRef, container: string): UsageProfile | undefined {
    return this.#entry(ref, container)?.profile;
  }

  windowOf(ref: WorkloadRef, container: string, now: EpochMillis): UsageWindow | undefined {
    const entry = this.#entry(ref, container);
    return entry?.ring === undefined ? entry?.window : entry.ring.window(now);
  }

  readTo(ref: WorkloadRef): ResourceInstants {
    return this.#pages.get(workloadKey(ref))?.readTo ?? {};
  }

  /** Opens the workload's page: its containers are known from now on, with the settings of its policy. */
  see(workload: SizedWorkload, settings: UsageSettings, now: EpochMillis): void {
    const page = this.#open(workload, now);
    for (const { name } of workload.containers) {
      const entry = page.entries.get(name);
      if (entry !== undefined) entry.seenAt = page.seenAt;
    }
    for (const entry of page.entries.values()) {
      entry.retune(settings.profile);
      // Nobody would read it anew: to a strategy that asks for it again, it would be of any age.
      if (!settings.needsWindow) entry.window = undefined;
    }
  }

  /** @returns whether anything was new. */
  take(ref: WorkloadRef, settings: UsageSettings, taken: TakenUsage, now: EpochMillis): boolean {
    const page = this.#open(ref, now);
    let isNew = false;
    const known = notAfter(page.readTo, now);
    for (const series of taken.series) {
      const entry = entryOf(page, series.container, settings);
      if (
        settings.needsWindow &&
        taken.takenOf !== undefined &&
        entry.ring?.windowMillis !== settings.rollingWindowMillis
      )
        entry.ring = new UsageRing(settings.rollingWindowMillis);
      const of = taken.takenOf?.(series.pod);
      const after = of === undefined ? known : { cpu: of, memory: of };
      if (entry.take(series, after, taken.startedAt(series.pod, series.container), this.#options.random)) {
        // Containers that others inject into pods are in no template: they are seen by what they use.
        entry.seenAt = page.seenAt;
        isNew = true;
      }
    }
    page.readTo = later(known, notAfter(taken.readTo, now));
    return isNew;
  }

  /** Replaces the exact window of a container. */
  setWindow(ref: WorkloadRef, container: string, window: UsageWindow | undefined): void {
    const entry = this.#entry(ref, container);
    if (entry === undefined) return;
    entry.window = window;
    entry.ring = undefined;
  }

  /** @returns false when the kill is known already. */
  noteKill(
    ref: WorkloadRef,
    container: string,
    settings: UsageSettings,
    kill: { readonly key: string; readonly limit: number; readonly at: EpochMillis },
  ): boolean {
    const page = this.#open(ref, kill.at);
    const entry = entryOf(page, container, settings);
    // Also of a known kill: a pod tells of it, so forgetting it now would count it once more.
    entry.seenAt = page.seenAt;
    return entry.noteKill(kill.key, kill.limit, kill.at);
  }

  /** Drops what was not seen for longer than the retention: workloads, and containers of those that are left. */
  forget(now: EpochMillis): ForgottenUsage[] {
    const isOld = ({ seenAt }: { readonly seenAt: EpochMillis }): boolean =>
      now - seenAt > this.#options.retentionMillis;
    const forgotten: ForgottenUsage[] = [];
    for (const [workload, page] of this.#pages) {
      const isReplicaGone = isReplicaRef(page.ref) && now - page.seenAt > REPLICA_RETENTION_MILLIS;
      if (isReplicaGone || isOld(page)) {
        this.#pages.delete(workload);
        forgotten.push({ workload });
        continue;
      }
      for (const [container, entry] of page.entries) {
        if (!isOld(entry)) continue;
        page.entries.delete(container);
        forgotten.push({ workload, container });
      }
    }
    return forgotten;
  }

  /** Containers remembered. */
  size(): number {
    let containers = 0;
    for (const page of this.#pages.values()) containers += page.entries.size;
    return containers;
  }

  /** A workload at a time, with all its containers. The book may change between two of them. */
  *save(): Generator<readonly SavedUsage[]> {
    for (const { ref, entries, readTo } of this.#pages.values()) {
      yield [...entries].map(([container, entry]) => ({
        workload: ref,
        container,
        profile: entry.profile.save(),
        options: entry.options,
        readTo,
        seenAt: entry.seenAt,
        kills: entry.kills(),
        ...(entry.window === undefined ? {} : { window: entry.window }),
        ...(entry.ring === undefined ? {} : { ring: entry.ring.save() }),
      }));
    }
  }

  /**
   * Takes over saved usage, in place of what is known of the same container.
   * @returns what could not be read, a sentence each; the rest is taken.
   */
  restore(saved: Iterable<SavedUsage>): string[] {
    const problems: string[] = [];
    for (const item of saved) {
      try {
        const entry = new UsageEntry(item.options, item.seenAt, item);
        const page = this.#open(item.workload, item.seenAt);
        page.entries.set(item.container, entry);
        page.readTo = later(page.readTo, item.readTo);
      } catch (error) {
        if (!(error instanceof InvalidValueError)) throw error;
        problems.push(`${workloadKey(item.workload)}, container ${item.container}: ${error.message}`);
      }
    }
    return problems;
  }

  #entry(ref: WorkloadRef, container: string): UsageEntry | undefined {
    return this.#pages.get(workloadKey(ref))?.entries.get(container);
  }

  #open(ref: WorkloadRef, at: EpochMillis): BookPage {
    const key = workloadKey(ref);
    const seenAt = Math.floor(at / SEEN_STEP_MILLIS) * SEEN_STEP_MILLIS;
    const known = this.#pages.get(key);
    if (known !== undefined) {
      known.seenAt = Math.max(known.seenAt, seenAt);
      return known;
    }
    const { kind, namespace, name } = ref;
    const page: BookPage = { ref: { kind, namespace, name }, entries: new Map(), readTo: {}, seenAt };
    this.#pages.set(key, page);
    return page;
  }
}

function entryOf(page: BookPage, container: string, settings: UsageSettings): UsageEntry {
  const known = page.entries.get(container);
  if (known !== undefined) return known;
  const entry = new UsageEntry(settings.profile, page.seenAt);
  page.entries.set(container, entry);
  return entry;
}

/** A mark of the future, by a clock that was wrong, would keep out all that is used until then. */
function notAfter({ cpu, memory }: ResourceInstants, now: EpochMillis): ResourceInstants {
  return {
    ...(cpu !== undefined && { cpu: Math.min(cpu, now) }),
    ...(memory !== undefined && { memory: Math.min(memory, now) }),
  };
}

function later(one: ResourceInstants, other: ResourceInstants): ResourceInstants {
  const cpu = Math.max(one.cpu ?? Number.NEGATIVE_INFINITY, other.cpu ?? Number.NEGATIVE_INFINITY);
  const memory = Math.max(one.memory ?? Number.NEGATIVE_INFINITY, other.memory ?? Number.NEGATIVE_INFINITY);
  return { ...(Number.isFinite(cpu) && { cpu }), ...(Number.isFinite(memory) && { memory }) };
}
