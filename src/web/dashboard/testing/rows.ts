/** Rows of the dashboard's table for tests. */
import type { WorkloadRow } from '../answers.ts';
import type { Fleet } from '../fleet-scan.ts';

export function row(fields: Partial<WorkloadRow> = {}): WorkloadRow {
  return {
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    state: 'balanced',
    replicas: 2,
    ready: 2,
    pending: 0,
    actual: { spot: 1, onDemand: 1, unknown: 0 },
    drift: 0,
    ...fields,
  };
}

export function fleetOf(...rows: readonly WorkloadRow[]): Fleet {
  return { at: 1000, workloads: rows.map((each) => ({ row: each, cost: undefined })) };
}
