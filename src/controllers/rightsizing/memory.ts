/**
 * What the leader remembers of each workload between two looks, as far as several have to know it. What only one of them
 * has to know, it keeps itself, by the memory of the workload, so that it ends with that.
 */
import { AttemptResults } from './apply-result.ts';
import { ChangeTimes } from './change-times.ts';
import { TemplateWrite } from './template-write.ts';
import { Watches } from './watches.ts';
import { WrittenAnnotations } from './written-annotations.ts';

/**
 * Lost with the leader. What must outlive it is on the workload: what is applied and when, floors, and decreases that
 * are being watched; the first look reads it back.
 */
export class WorkloadMemory {
  readonly times = new ChangeTimes();
  readonly watches = new Watches();
  readonly template = new TemplateWrite();
  readonly annotations = new WrittenAnnotations();
  readonly attempts = new AttemptResults();
}

export interface RightsizingMemory {
  of(workloadUid: string): WorkloadMemory;
  /** The same, where there is one already. */
  known(workloadUid: string): WorkloadMemory | undefined;
  /** The workload is gone. @param key see `workloadKey`. */
  forget(workloadUid: string, key: string): void;
  /** Nobody sizes it any more. It is there: what was done to it goes on counting for whoever disrupts it next. */
  letGo(workloadUid: string): void;
}

/** @param onForget called with uid and key of each workload that is gone. */
export function createRightsizingMemory(
  onForget: (workloadUid: string, key: string) => void = () => {},
): RightsizingMemory {
  const byUid = new Map<string, WorkloadMemory>();
  return {
    of(workloadUid) {
      const memory = byUid.get(workloadUid) ?? new WorkloadMemory();
      byUid.set(workloadUid, memory);
      return memory;
    },
    known: (workloadUid) => byUid.get(workloadUid),
    forget(workloadUid, key) {
      byUid.delete(workloadUid);
      onForget(workloadUid, key);
    },
    letGo: (workloadUid) => void byUid.delete(workloadUid),
  };
}
