/**
 * All workloads as rows, for lists and sums. Planning thousands takes a while, so it is done in slices between which the operator's own
 * work comes first, and once for all who ask; what came out is kept for ten times as long as it took. So watching costs a tenth of a
 * core at most, and nothing, memory included, once nobody watches.
 */
import { setImmediate } from 'node:timers/promises';
import type { WorkloadCost } from '../../decide/placement/cost.ts';
import type { Clock } from '../../lib/clock.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { type WorkloadRef, workloadKey } from '../../model/cluster-view.ts';
import type { WorkloadRow } from './answers.ts';

export interface ScannedWorkload {
  readonly row: WorkloadRow;
  /** Of a managed workload, where prices are configured. */
  readonly cost: WorkloadCost | undefined;
}

export interface Fleet {
  /** When it was looked at. */
  readonly at: EpochMillis;
  readonly workloads: readonly ScannedWorkload[];
}

export interface FleetScanOptions {
  /** Of every engine; the same workload may come twice. */
  readonly workloads: () => Iterable<WorkloadRef>;
  readonly look: (ref: WorkloadRef) => ScannedWorkload | undefined;
  readonly clock: Clock;
}

/** So many workloads are planned in one go. */
const SLICE = 25;
const KEEP_FACTOR = 10;
const LEAST_KEPT: Millis = 1_000;
const LONGEST_KEPT: Millis = 60_000;

export function createFleetScan({ workloads, look, clock }: FleetScanOptions): () => Promise<Fleet> {
  let kept: Promise<Fleet> | undefined;

  const scan = async (): Promise<Fleet> => {
    const at = clock.now();
    // A list of its own: the view goes on changing while others have their turn.
    const refs = new Map<string, WorkloadRef>();
    for (const { kind, namespace, name } of workloads()) {
      const ref = { kind, namespace, name };
      refs.set(workloadKey(ref), ref);
    }
    const found: ScannedWorkload[] = [];
    let looked = 0;
    for (const ref of refs.values()) {
      const each = look(ref);
      if (each !== undefined) found.push(each);
      if (++looked % SLICE === 0) await setImmediate();
    }
    return { at, workloads: found };
  };

  return () => {
    if (kept !== undefined) return kept;
    const began = clock.now();
    const made = scan();
    kept = made;
    const drop = (): void => {
      if (kept === made) kept = undefined;
    };
    made.then(() => {
      const took = clock.now() - began;
      clock.setTimer(Math.min(LONGEST_KEPT, Math.max(LEAST_KEPT, took * KEEP_FACTOR)), drop);
    }, drop);
    return made;
  };
}
