/**
 * Reads saved usage before collecting begins, saves it from time to time and at the end, and takes over what is
 * imported.
 */
import { setImmediate } from 'node:timers/promises';
import type { ProfileStore } from '../../act/save-profiles.ts';
import { isForbidden } from '../../api/kube-error.ts';
import { startDeadline } from '../../kube/deadline.ts';
import { type BackoffPolicy, backoffDelay } from '../../lib/backoff.ts';
import { type Clock, pause, sleep } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import type { Millis } from '../../lib/units.ts';
import type { SavedUsage } from '../../model/saved-usage.ts';
import type { UsageBook } from '../../model/usage-book.ts';

export interface KeepProfilesOptions {
  /** The ConfigMaps in the operator's own namespace. */
  readonly store: ProfileStore;
  readonly book: UsageBook;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Between two saves. Sources that know the past lose nothing in between; others at most this much. */
  readonly intervalMillis: Millis;
}

export interface ProfileKeeper {
  /**
   * Fills the book. Tries until it succeeds: a book that is saved without having been read would be the end of all
   * history.
   * @returns false when the signal aborted, or saved usage may not be read; then nothing is ever saved.
   */
  restore(signal: AbortSignal): Promise<boolean>;
  /** Saves until the signal aborts, and once more then. Resolves at once where {@link restore} did not succeed. */
  run(signal: AbortSignal): Promise<void>;
}

/** All of a workload at one instant: how far its source was read holds for all its containers. */
async function snapshot(book: UsageBook): Promise<SavedUsage[]> {
  const items: SavedUsage[] = [];
  let sinceYield = 0;
  for (const page of book.save()) {
    items.push(...page);
    sinceYield += page.length;
    if (sinceYield < CONTAINERS_PER_SLICE) continue;
    sinceYield = 0;
    await setImmediate();
  }
  return items;
}

/** A profile takes about 50 microseconds to write: a slice takes about as long as one request. */
const CONTAINERS_PER_SLICE = 40;
const retryPolicy: BackoffPolicy = { initialMillis: 1_000, factor: 2, maxMillis: 30_000, jitter: 0.25 };
/** The process is asked to end within half a minute. */
const LAST_SAVE_MILLIS: Millis = 5_000;

export function createProfileKeeper(options: KeepProfilesOptions): ProfileKeeper {
  const { store, book, clock, random, log, intervalMillis } = options;
  let isRestored = false;

  /** Takes over what `stowage profiles import` has left in ConfigMaps of its own. */
  const takeImports = async (signal: AbortSignal): Promise<void> => {
    const imported = await store.loadImports(signal);
    if (imported.length === 0) return;
    for (const problem of book.restore(imported)) log.warn({ problem }, 'A part of the imported usage is left out');
    log.info({ containers: imported.length }, 'Usage was imported');
    // Saved first: what is deleted before it is saved could be lost between the two.
    const { failed } = await store.save(await snapshot(book), signal);
    if (failed === 0) await store.dropImports(signal);
  };

  /**
   * One save. What hangs is given up after a time of its own, so that neither the next one nor the end of the process
   * waits for it.
   */
  const round = async (mostMillis: Millis, outer?: AbortSignal): Promise<void> => {
    const { signal, end } = startDeadline(clock, mostMillis, 'saving usage', outer);
    try {
      await takeImports(signal);
      const outcome = await store.save(await snapshot(book), signal);
      log.debug({ ...outcome, containers: book.size() }, 'Usage was saved');
    } catch (error) {
      if (outer?.aborted !== true) log.warn({ error }, 'Usage could not be saved; it will be with the next round');
    } finally {
      end();
    }
  };

  return {
    async restore(signal) {
      for (let failures = 1; !signal.aborted; failures++) {
        try {
          const saved = await store.load(signal);
          for (const problem of book.restore(saved)) log.warn({ problem }, 'A part of the saved usage is left out');
          log.info({ containers: saved.length }, 'Saved usage was read');
          isRestored = true;
          return true;
        } catch (error) {
          if (signal.aborted) return false;
          if (isForbidden(error)) {
            log.error(
              { error },
              'Saved usage may not be read: allow the operator get, list, create, patch and delete on ConfigMaps in its own namespace (the Role NAME-usage of the chart does); until then a restart begins anew',
            );
            return false;
          }
          log.warn({ error }, 'Saved usage could not be read; it is asked for again');
          await pause(clock, backoffDelay(retryPolicy, failures, random), signal);
        }
      }
      return false;
    },
    async run(signal) {
      if (!isRestored) return;
      while (!signal.aborted) {
        await sleep(clock, intervalMillis, signal).then(
          () => round(intervalMillis, signal),
          () => {},
        );
      }
      await round(LAST_SAVE_MILLIS);
    },
  };
}
