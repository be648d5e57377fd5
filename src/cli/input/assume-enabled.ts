/** `--assume-enabled`: the same cluster as if both labels were set, to see what would happen before changing anything. */
import type { Labels } from '../../model/records.ts';
import type { SnapshotRecords } from '../../model/snapshot.ts';
import { enabledNamespace } from './as-seen.ts';

export interface AssumedAnnotations {
  readonly spotPercentage: string | undefined;
  readonly minOnDemand: string | undefined;
}

/** Copies `records` with every namespace and workload enabled and the given annotations set on every workload. */
export function assumeEnabled(
  records: SnapshotRecords,
  { spotPercentage, minOnDemand }: AssumedAnnotations,
): SnapshotRecords {
  const workloads = records.workloads ?? [];
  const annotations: Labels = {
    ...(spotPercentage !== undefined && { 'spotalis.io/spot-percentage': spotPercentage }),
    ...(minOnDemand !== undefined && { 'spotalis.io/min-on-demand': minOnDemand }),
  };
  const known = new Map((records.namespaces ?? []).map((namespace) => [namespace.name, namespace]));
  const names = new Set([...known.keys(), ...workloads.map((workload) => workload.namespace)]);
  return {
    ...records,
    namespaces: [...names].map((name) => ({ ...(known.get(name) ?? enabledNamespace(name)), enabled: true })),
    workloads: workloads.map((workload) => ({
      ...workload,
      enabled: true,
      annotations: { ...workload.annotations, ...annotations },
    })),
  };
}
