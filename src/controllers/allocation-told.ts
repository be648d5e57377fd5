/**
 * Events about pods with an allocation beyond what is done to them: who is left out for good, and what somebody should
 * mend.
 */
import type { AllocationEvents } from '../act/allocation-events.ts';
import { affinityFactor } from '../decide/allocation/integrations/node-affinity.ts';
import { readMarks } from '../decide/allocation/marks.ts';
import { renderReason } from '../lib/reasons.ts';
import { isOwnManager } from '../model/size-managers.ts';
import type { AllocatedPod } from './allocation-facts.ts';
import { type AllocationOutcome, isExclusion } from './allocation-outcome.ts';

/** Told once an hour at most, see {@link AllocationEvents.lasting}. */
export function tellLasting(events: AllocationEvents, known: AllocatedPod, outcome: AllocationOutcome): void {
  tellExclusion(events, known, outcome);
  const { pod, facts } = known;
  const { problems } = readMarks(pod.marks);
  if (problems.length > 0) {
    const cause = problems.join('; ');
    events.lasting(pod, 'CPUAnnotationIgnored', renderReason('CPUAnnotationIgnored', { pod: pod.name, cause }), cause);
  }
  const { affinity, node } = facts;
  if (affinity === undefined || node === undefined || !affinityFactor(affinity, node).isRequiredBroken) return;
  events.lasting(pod, 'CPUAffinityBroken', renderReason('CPUAffinityBroken', { pod: pod.name, node: node.name }));
}

/** That a pod is starting or ending is no news. */
function tellExclusion(events: AllocationEvents, { pod, found }: AllocatedPod, outcome: AllocationOutcome): void {
  if (outcome.kind !== 'held' || !isExclusion(outcome.reason)) return;
  if (outcome.reason === 'NotRunning' || outcome.reason === 'Terminating') return;
  const { name } = pod;
  if (outcome.reason === 'ForeignWriter') {
    const manager = found.sizing.sizeManagers.filter((each) => !isOwnManager(each)).join(', ');
    events.lasting(pod, 'CPUYielded', renderReason('CPUYielded', { pod: name, manager }));
    return;
  }
  const message = renderReason('CPUSkipped', { pod: name, cause: outcome.reason });
  events.lasting(pod, 'CPUSkipped', message, outcome.reason);
}
