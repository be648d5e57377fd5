/** Says why a workload is not changed: journal each time, event once per reason and hour where a person should know. */

import type { WorkloadOutcome } from '../../decide/rightsizing/workload-status.ts';
import { describeReason, type ReasonName, renderReason } from '../../lib/reasons.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { RightsizingParts } from './parts.ts';

export type SkipReporterOptions = Pick<RightsizingParts, 'events' | 'journal'>;

/** @param advice what to do about it; where it is left out, the usual one of the reason. */
export type ReportSkip = (workload: SizedWorkload, outcome: WorkloadOutcome, advice: string | undefined) => void;

export function createSkipReporter({ events, journal }: SkipReporterOptions): ReportSkip {
  return (workload, { status, reason = 'ProcessingFailed', message = reason }, advice) => {
    const kind = status === 'Error' ? 'failed' : 'blocked';
    if (kind === 'blocked') journal.record(workloadKey(workload), { kind, reason, message });
    const { kinds, eventType, advice: usual } = describeReason(reason);
    // The normal pace of work; an event for each would drown those that matter.
    if (eventType === 'Normal') return;
    const suggestion = advice ?? usual;
    if (kinds.includes('event')) {
      events.onWorkload(workload, { reason, message, suggestion, lasts: true });
      return;
    }
    if (reason === 'TemplateConflict') {
      const text = renderReason('SSAConflict', { ...workload, cause: message });
      events.onWorkload(workload, { reason: 'SSAConflict', message: text, suggestion, lasts: true });
      return;
    }
    const cause = `${reason}: ${message}`;
    events.onWorkload(workload, {
      reason: status === 'Error' ? 'UpdateFailed' : 'WorkloadSkipped',
      message: renderReason(status === 'Error' ? 'UpdateFailed' : 'WorkloadSkipped', { ...workload, cause }),
      suggestion,
      lasts: true,
      about: reason,
    });
  };
}

/** Something is not as it is advised, and that is not the normal pace of work. */
export function isKeptFromIt({ status, reason }: WorkloadOutcome): boolean {
  return status === 'Skipped' || status === 'Error' || (status !== 'Pending' && isWarning(reason));
}

/** Somebody should know. */
export function isWarning(reason: ReasonName | undefined): boolean {
  return reason !== undefined && describeReason(reason).eventType === 'Warning';
}
