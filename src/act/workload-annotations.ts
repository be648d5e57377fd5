/** Writes annotations of rightsizing on a workload's own metadata; its template, and so its pods, stay as they are. */
import type { KubeApi } from '../api/kube-api.ts';
import { sizeManagers } from '../model/size-managers.ts';
import type { SizedWorkload } from '../model/sizing-records.ts';
import { templateTypes } from './retemplate.ts';
import { outcomeOfWriteError, type WriteOutcome } from './write-outcome.ts';

/** @param wanted the annotations to have; null takes one away. Never rejects. */
export type AnnotateWorkload = (
  workload: SizedWorkload,
  wanted: Readonly<Record<string, string | null>>,
  signal: AbortSignal,
) => Promise<WriteOutcome | { readonly result: 'unchanged' }>;

export function createAnnotateWorkload(api: KubeApi): AnnotateWorkload {
  return async (workload, wanted, signal) => {
    const type = templateTypes[workload.kind];
    const annotations = changedAnnotations(workload.annotations, wanted);
    // Kinds that are only advised are not written to in any way.
    if (type === undefined || Object.keys(annotations).length === 0) return { result: 'unchanged' };
    const { namespace, name, uid } = workload;
    try {
      // A merge patch of metadata alone: fields this version does not know stay, and `update` is not needed.
      const body = { metadata: { uid, annotations } };
      const options = { namespace, signal, fieldManager: sizeManagers.rightsizing, lane: 'control' } as const;
      await api.patch(type, name, { type: 'merge', body }, options);
      return { result: 'written' };
    } catch (error) {
      return outcomeOfWriteError(error);
    }
  };
}

function changedAnnotations(
  present: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string | null>>,
): Record<string, string | null> {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => (present[key] ?? null) !== value));
}
