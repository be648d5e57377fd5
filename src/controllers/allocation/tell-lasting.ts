/**
 * Events about pods with an allocation beyond what is done to them: who is left out for good, and what somebody should
 * mend.
 */
import type { Events } from '../../act/events.ts';
import { affinityFactor } from '../../decide/allocation/integrations/node-affinity.ts';
import { readMarks } from '../../decide/allocation/marks.ts';
import { renderReason } from '../../lib/reasons.ts';
import { isOwnManager } from '../../model/size-managers.ts';
import type { AllocatedPod } from './facts.ts';
import { type AllocationOutcome, isExclusion } from './outcome.ts';

/** Told once an hour at most, see `lasts`. */
export function tellLasting(events: Pick<Events, 'onPod'>, known: AllocatedPod, outcome: AllocationOutcome): void {
  tellExclusion(events, known, outcome);
  const { pod, facts } = known;
  const { problems } = readMarks(pod.marks);
  if (problems.length > 0) {
    const cause = problems.join('; ');
    const message = renderReason('CPUAnnotationIgnored', { pod: pod.name, cause });
    events.onPod(pod, { reason: 'CPUAnnotationIgnored', message, lasts: true, about: cause });
  }
  const { affinity, node } = facts;
  if (affinity === undefined || node === undefined || !affinityFactor(affinity, node).isRequiredBroken) return;
  const message = renderReason('CPUAffinityBroken', { pod: pod.name, node: node.name });
  events.onPod(pod, { reason: 'CPUAffinityBroken', message, lasts: true });
}

/** That a pod is starting or ending is no news. */
function tellExclusion(events: Pick<Events, 'onPod'>, { pod, found }: AllocatedPod, outcome: AllocationOutcome): void {
  if (outcome.kind !== 'held' || !isExclusion(outcome.reason)) return;
  if (outcome.reason === 'NotRunning' || outcome.reason === 'Terminating') return;
  const { name } = pod;
  const isYielded = outcome.reason === 'ForeignWriter';
  const manager = found.sizing.sizeManagers.filter((each) => !isOwnManager(each)).join(', ');
  if (isYielded && manager !== '') {
    events.onPod(pod, {
      reason: 'CPUYielded',
      message: renderReason('CPUYielded', { pod: name, manager }),
      lasts: true,
    });
    return;
  }
  const cause = isYielded ? 'MBCAS runs beside Stowage' : outcome.reason;
  const message = renderReason('CPUSkipped', { pod: name, cause });
  events.onPod(pod, { reason: 'CPUSkipped', message, lasts: true, about: outcome.reason });
}
