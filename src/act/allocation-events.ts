/**
 * Events of allocation on pods: what was done, and lasting states once an hour. A pod's resizes make one series, not
 * hundreds.
 */
import type { ObjectReference } from '../kube/event-object.ts';
import type { Clock } from '../lib/clock.ts';
import { describeReason, type ReasonName } from '../lib/reasons.ts';
import type { PodRecord } from '../model/records.ts';
import type { EventSink } from './events.ts';
import { createToldHourly } from './told-hourly.ts';

export interface AllocationEvents {
  /** Something done; repeats of one reason on one pod become one series. */
  done(pod: PodRef, reason: ReasonName, message: string): void;
  /** A state that lasts: told once per pod, reason and `about` an hour. */
  lasting(pod: PodRef, reason: ReasonName, message: string, about?: string): void;
  forget(podUid: string): void;
}

type PodRef = Pick<PodRecord, 'namespace' | 'name' | 'uid'>;

export function createAllocationEvents(sink: EventSink, clock: Clock): AllocationEvents {
  const told = createToldHourly(clock);
  const record = ({ namespace, name, uid }: PodRef, reason: ReasonName, message: string, dedupeKey?: string): void => {
    const { eventType, advice } = describeReason(reason);
    const regarding: ObjectReference = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
    const note = eventType === 'Warning' ? `${message}. ${advice}` : message;
    const notice = { regarding, type: eventType, reason, action: 'Allocate', note } as const;
    sink.record(dedupeKey === undefined ? notice : { ...notice, dedupeKey });
  };
  return {
    done: (pod, reason, message) => record(pod, reason, message, reason),
    lasting(pod, reason, message, about = '') {
      if (told.isDue(pod.uid, `${reason} ${about}`)) record(pod, reason, message);
    },
    forget: told.forget,
  };
}
