/** Holds placement to letting alone what it does not manage: pods of such workloads are given no place. */
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { FleetListener } from './fleet-watch.ts';
import type { Ledger } from './ledger.ts';

export type UntouchedJudge = Required<Pick<FleetListener, 'onWorkload' | 'onPodAdded'>>;

/** Replicas have seen by then that a workload is no longer managed. */
const UNMANAGED_MILLIS: Millis = 60_000;

export function createUntouchedJudge(clock: Pick<Clock, 'now'>, { check }: Pick<Ledger, 'check'>): UntouchedJudge {
  /** By uid; those that never were managed are so since ever. */
  const unmanagedSince = new Map<string, EpochMillis>();
  return {
    onWorkload({ uid, rule }, before) {
      if (rule !== undefined) unmanagedSince.delete(uid);
      else if (!unmanagedSince.has(uid))
        unmanagedSince.set(uid, before === undefined ? Number.NEGATIVE_INFINITY : clock.now());
    },
    onPodAdded({ uid, key, rule }, { name, slot }) {
      if (rule !== undefined) return;
      const isLong = clock.now() - (unmanagedSince.get(uid) ?? clock.now()) > UNMANAGED_MILLIS;
      check('untouched', slot === undefined || !isLong, () => `${key}: ${name} has a place`);
    },
  };
}
