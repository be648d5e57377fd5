/** References of records: what names them, without the rest. */
import type { WorkloadRef } from './cluster-view.ts';
import type { PodRecord } from './records.ts';

export function workloadRef({ kind, namespace, name }: WorkloadRef): WorkloadRef {
  return { kind, namespace, name };
}

/** By uid, as another pod of the name may follow. */
export function podRef({ namespace, name, uid }: Pick<PodRecord, 'namespace' | 'name' | 'uid'>) {
  return { namespace, name, uid };
}
