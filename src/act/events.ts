/** Events on workloads: reasons and texts from the table, block reasons at most once an hour each. */

import type { EventNotice } from '../kube/event-object.ts';
import type { Clock } from '../lib/clock.ts';
import { describeReason, type ReasonName } from '../lib/reasons.ts';
import type { WorkloadRecord } from '../model/records.ts';
import { createToldHourly } from './told-hourly.ts';

/** Where notices go: the recorder of kube/, or a list in tests. */
export interface EventSink {
  record(notice: EventNotice): void;
}

export interface WorkloadEvents {
  /** Something done or seen. Repeats with the same message become one series. */
  record(workload: WorkloadRecord, reason: ReasonName, message: string, advice?: string): void;
  /**
   * A state that lasts (a block, a conflict): told once per workload, reason and hour, whatever the message says
   * meanwhile.
   * @param about where one reason can have several causes: each is told on its own.
   * @param advice the table's, unless values are filled in.
   */
  recordHourly(workload: WorkloadRecord, reason: ReasonName, message: string, about?: string, advice?: string): void;
  forget(workloadUid: string): void;
}

export function createWorkloadEvents(sink: EventSink, clock: Clock): WorkloadEvents {
  const told = createToldHourly(clock);
  const record: WorkloadEvents['record'] = (workload, reason, message, advice) =>
    sink.record(buildNotice(workload, reason, message, advice));
  return {
    record,
    recordHourly(workload, reason, message, about = '', advice) {
      if (told.isDue(workload.uid, `${reason} ${about}`)) record(workload, reason, message, advice);
    },
    forget: told.forget,
  };
}

/** A warning also says what can be done about it. */
export function buildNotice(
  workload: WorkloadRecord,
  reason: ReasonName,
  message: string,
  advice = describeReason(reason).advice,
): EventNotice {
  const { apiVersion, kind, namespace, name, uid, resourceVersion } = workload;
  const { eventType } = describeReason(reason);
  return {
    regarding: { apiVersion, kind, namespace, name, uid, resourceVersion },
    type: eventType,
    reason,
    action: 'Place',
    note: eventType === 'Warning' ? `${message}. ${advice}` : message,
  };
}
