/**
 * What is to be known of each workload of a namespace, found out anew only of those that changed: for what is asked at
 * each look, of thousands of workloads. A namespace that nobody asks for costs nothing.
 */
import { workloadOfKey } from '../../model/cluster-view.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { ViewChange } from '../live-view.ts';

type WorkloadChange = Exclude<ViewChange, { readonly kind: 'capacity' }>;

interface WorkloadFacts<Fact> {
  /** By uid, without those of which there is nothing to tell. No copy: with the next change it may be out of date. */
  in(namespace: string): ReadonlyMap<string, Fact>;
  /** To be called at every change, after the view shows it. */
  note(change: WorkloadChange): void;
  /** Everything is found out anew when it is asked for next. */
  clear(): void;
}

interface Known<Fact> {
  readonly facts: Map<string, Fact>;
  /** Keys of workloads. */
  readonly changed: Set<string>;
}

/** @param factOf depends on nothing but the workload and its pods; undefined where there is nothing to tell. */
export function createWorkloadFacts<Fact>(
  view: Pick<SizingView, 'workloadsIn' | 'workload' | 'workloadByUid'>,
  factOf: (workload: SizedWorkload) => Fact | undefined,
): WorkloadFacts<Fact> {
  const byNamespace = new Map<string, Known<Fact>>();

  const find = ({ facts }: Known<Fact>, workload: SizedWorkload): void => {
    const fact = factOf(workload);
    if (fact === undefined) facts.delete(workload.uid);
    else facts.set(workload.uid, fact);
  };

  const begin = (namespace: string): Known<Fact> => {
    // Those that are gone are let go of when another comes.
    for (const other of byNamespace.keys()) if (view.workloadsIn(other).length === 0) byNamespace.delete(other);
    const known: Known<Fact> = { facts: new Map(), changed: new Set() };
    for (const workload of view.workloadsIn(namespace)) find(known, workload);
    byNamespace.set(namespace, known);
    return known;
  };

  return {
    in(namespace) {
      const known = byNamespace.get(namespace) ?? begin(namespace);
      for (const key of known.changed) {
        const workload = view.workload(workloadOfKey(key));
        // A Job of a CronJob has a name, and is no workload of its own.
        if (workload !== undefined && view.workloadByUid(workload.uid) !== undefined) find(known, workload);
      }
      known.changed.clear();
      return known.facts;
    },
    note(change) {
      if (byNamespace.size === 0) return;
      const known = byNamespace.get(workloadOfKey(change.key).namespace);
      if (known === undefined) return;
      if (change.kind === 'workload') {
        known.changed.add(change.key);
        return;
      }
      known.changed.delete(change.key);
      known.facts.delete(change.uid);
    },
    clear: () => byNamespace.clear(),
  };
}
