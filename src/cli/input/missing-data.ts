/** What a dump does not hold, and what that means for the result: silence would look like "all is well". */
import type { ClusterInput, InputKind } from './cluster-input.ts';

export interface MissingData {
  readonly data: InputKind;
  /** What the result cannot say, or takes for granted, without it. */
  readonly meaning: string;
}

/** Prints a dump that holds everything `stowage plan` looks at. */
export const DUMP_COMMAND =
  'kubectl get namespaces,nodes,pods,replicasets,deployments,statefulsets,pdb,pvc,pv --all-namespaces -o yaml';

/**
 * The kinds of which `input` has not one object, where that matters.
 * @param unreadable kinds a live API server refused to list; absent from a live cluster otherwise means "there are none".
 */
export function findMissingData(
  input: ClusterInput,
  origin: 'files' | 'cluster',
  unreadable: readonly InputKind[] = [],
): MissingData[] {
  const isAbsent = (kind: InputKind): boolean =>
    origin === 'cluster' ? unreadable.includes(kind) : (input.counts[kind] ?? 0) === 0;
  const missing: MissingData[] = [];
  const when = (condition: boolean, data: InputKind, meaning: string): void => {
    if (condition && isAbsent(data)) missing.push({ data, meaning });
  };
  const has = (kind: InputKind): boolean => (input.counts[kind] ?? 0) > 0;
  const hasPods = has('pods');
  when(
    true,
    'namespaces',
    'no namespace is known to be labelled spotalis.io/enabled: "true", so no workload counts as managed',
  );
  when(true, 'pods', 'nothing runs yet: shown is the split that admission would give new pods');
  when(
    true,
    'nodes',
    hasPods ? 'where pods run is unknown: no pod counts as misplaced' : 'it is unknown whether either side has room',
  );
  when(
    hasPods && has('deployments'),
    'replicasets',
    'pods cannot be traced to their Deployment, which then looks as if it had none',
  );
  when(hasPods, 'poddisruptionbudgets', 'it is taken that there are none; a real eviction may be refused by one');
  when(
    hasPods && input.records.pods?.some((pod) => pod.claims.length > 0) === true,
    'persistentvolumeclaims',
    'volumes may tie pods to a zone without it showing',
  );
  when(has('persistentvolumeclaims'), 'persistentvolumes', 'volumes may tie pods to a zone without it showing');
  return missing;
}
