/** How a node's CPU is shared at present, told from the PodAllocations of its pods. */
import type { AllocationDecision } from '../../api/pod-allocation.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';

/**
 * The decision written last. The agent writes an object when its pod's share changes, and renews one of its node in turn: those of one
 * node are of different times, all by the clock of that node.
 */
export function latestDecision(records: Iterable<Pick<AllocationRecord, 'spec'>>): AllocationDecision | undefined {
  let latest: AllocationDecision | undefined;
  let writtenAt = '';
  for (const { spec } of records) {
    const { decision, renewTime = '' } = spec;
    if (decision === undefined || (latest !== undefined && renewTime <= writtenAt)) continue;
    latest = decision;
    writtenAt = renewTime;
  }
  return latest;
}
