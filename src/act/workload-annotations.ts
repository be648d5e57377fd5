/** Writes annotations of rightsizing on a workload's own metadata; its template, and so its pods, stay as they are. */
import type { KubeApi } from '../api/kube-api.ts';
import { isForbidden, isNotFound } from '../api/kube-error.ts';
import { describeError } from '../lib/errors.ts';
import type { SizedWorkload } from '../model/sizing-records.ts';
import { templateTypes } from './retemplate.ts';
import { sizeManagers } from './size-managers.ts';

export type AnnotateOutcome =
  | { readonly result: 'written' | 'unchanged' }
  /** The workload is gone: nothing is left to do. */
  | { readonly result: 'gone' }
  | { readonly result: 'forbidden' | 'failed'; readonly message: string };

/** @param wanted the annotations to have; null takes one away. Never rejects. */
export type AnnotateWorkload = (
  workload: SizedWorkload,
  wanted: Readonly<Record<string, string | null>>,
  signal: AbortSignal,
) => Promise<AnnotateOutcome>;

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
      if (isNotFound(error)) return { result: 'gone' };
      return { result: isForbidden(error) ? 'forbidden' : 'failed', message: describeError(error) };
    }
  };
}

function changedAnnotations(
  present: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string | null>>,
): Record<string, string | null> {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => (present[key] ?? null) !== value));
}
