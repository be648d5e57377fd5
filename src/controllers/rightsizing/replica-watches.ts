/** Decreases of replicas that are being watched, each for itself, and which replicas have no pod. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { OngoingChange } from './watches.ts';

export class ReplicaWatches {
  readonly #ongoing = new Map<string, OngoingChange>();
  readonly #absentSince = new Map<string, EpochMillis>();

  get ongoing(): ReadonlyMap<string, OngoingChange> {
    return this.#ongoing;
  }

  /** @param change as it is watched from now on; undefined: not at all. */
  set(replica: string, change: OngoingChange | undefined): void {
    if (change === undefined) this.#ongoing.delete(replica);
    else this.#ongoing.set(replica, change);
  }

  /** @param known those that have sizes of their own. */
  keepOnly(known: Pick<ReadonlyMap<string, unknown>, 'has'>): void {
    for (const each of [this.#ongoing, this.#absentSince])
      for (const replica of each.keys()) if (!known.has(replica)) each.delete(replica);
  }

  notePresent(replica: string): void {
    this.#absentSince.delete(replica);
  }

  /** @returns for how long by now. */
  noteAbsent(replica: string, now: EpochMillis): Millis {
    const since = this.#absentSince.get(replica) ?? now;
    this.#absentSince.set(replica, since);
    return now - since;
  }
}
