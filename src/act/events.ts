/**
 * Events of the engines on workloads, policies and pods: reasons and texts from the table, a state that lasts once an
 * hour.
 */
import { policyType } from '../api/optimization-policy.ts';
import { apiVersionOf } from '../api/resources.ts';
import { cutToBytes, type EventNotice, MAX_NOTE_BYTES, type ObjectReference } from '../kube/event-object.ts';
import type { Clock } from '../lib/clock.ts';
import { describeReason, type ReasonName } from '../lib/reasons.ts';
import type { PolicyRecord } from '../model/optimization-policy.ts';
import type { PodRecord, WorkloadRecord } from '../model/records.ts';
import { createOnceAnHour } from './once-an-hour.ts';

/** Where notices go: the recorder of kube/, or a list in tests. */
export interface EventSink {
  record(notice: EventNotice): void;
}

/** What an event tells. Repeats with the same message on the same object are counted, as one series. */
export interface ToldEvent {
  readonly reason: ReasonName;
  /** Names what it is about, and the cause. */
  readonly message: string;
  /** What can be done; default: of warnings the advice of the reason. */
  readonly suggestion?: string | undefined;
  /**
   * A state that lasts (a block, a conflict): told once per object, reason and `about` an hour, whatever the message
   * says meanwhile.
   */
  readonly lasts?: boolean;
  /** Where one reason can have several causes, each of which lasts on its own. */
  readonly about?: string;
  /** Repeats of the reason are one series, whatever the message says: a pod's resizes are hundreds. */
  readonly isSeries?: boolean;
}

/** Of one engine. */
export interface Events {
  onWorkload(workload: EventWorkload, event: ToldEvent): void;
  onPolicy(policy: PolicyRecord, event: ToldEvent): void;
  onPod(pod: EventPod, event: ToldEvent): void;
  /** An object that is gone: what lasted of it is no longer remembered. */
  forget(uid: string): void;
}

type EventWorkload = Pick<WorkloadRecord, 'apiVersion' | 'kind' | 'namespace' | 'name' | 'uid' | 'resourceVersion'>;
type EventPod = Pick<PodRecord, 'namespace' | 'name' | 'uid'>;

/** What each engine does, as events name it, and how what can be done follows what is told: rightsizing as OptiPod. */
const beforeSuggestion = { Place: '. ', Allocate: '. ', Rightsize: '. Suggestion: ' } as const;

export function createEvents(sink: EventSink, clock: Clock, action: keyof typeof beforeSuggestion): Events {
  const told = createOnceAnHour(clock);
  const tell = (regarding: ObjectReference & { readonly uid: string }, event: ToldEvent): void => {
    const { reason, message, lasts = false, about = '', isSeries = false } = event;
    if (lasts && !told.isDue(regarding.uid, `${reason} ${about}`)) return;
    const { eventType, advice } = describeReason(reason);
    const suggestion = event.suggestion ?? (eventType === 'Warning' ? advice : undefined);
    const note = suggestion === undefined ? message : joined(message, `${beforeSuggestion[action]}${suggestion}`);
    sink.record({ regarding, type: eventType, reason, action, note, ...(isSeries && { dedupeKey: reason }) });
  };
  return {
    onWorkload: ({ apiVersion, kind, namespace, name, uid, resourceVersion }, event) =>
      tell({ apiVersion, kind, namespace, name, uid, resourceVersion }, event),
    onPolicy({ group, namespace, name, uid, resourceVersion }, event) {
      const apiVersion = apiVersionOf(policyType(group));
      tell({ apiVersion, kind: 'OptimizationPolicy', namespace, name, uid, resourceVersion }, event);
    },
    onPod: ({ namespace, name, uid }, event) => tell({ apiVersion: 'v1', kind: 'Pod', namespace, name, uid }, event),
    forget: told.forget,
  };
}

/** Of a long message, such as a webhook's, the end is left out and not what can be done. */
function joined(message: string, suggestion: string): string {
  return `${cutToBytes(message, MAX_NOTE_BYTES - Buffer.byteLength(suggestion))}${suggestion}`;
}
