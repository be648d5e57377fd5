/** Gives a workload back: nobody sizes it any more, so nothing of ours stays on it. Its pods keep what they have. */
import type { AnnotateWorkload } from '../act/workload-annotations.ts';
import type { SizedWorkload } from '../model/sizing-records.ts';
import { noAnnotations } from './rightsizing-annotate.ts';
import type { RightsizingMemory } from './rightsizing-memory.ts';

export interface HandBack {
  (workload: SizedWorkload, signal: AbortSignal): Promise<void>;
  /** Something of ours is on it. */
  isNeeded(workload: SizedWorkload): boolean;
}

export interface HandBackOptions {
  readonly annotate: AnnotateWorkload;
  readonly memory: RightsizingMemory;
}

export function createHandBack({ annotate, memory }: HandBackOptions): HandBack {
  const isNeeded = (workload: SizedWorkload): boolean => Object.keys(noAnnotations(workload)).length > 0;
  const handBack = async (workload: SizedWorkload, signal: AbortSignal): Promise<void> => {
    memory.forget(workload.uid);
    if (isNeeded(workload)) await annotate(workload, noAnnotations(workload), signal);
  };
  return Object.assign(handBack, { isNeeded });
}
