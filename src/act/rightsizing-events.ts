/**
 * Events of rightsizing on workloads and policies: OptiPod's reasons, with names, cause and a suggestion; a lasting
 * state once an hour.
 */
import { policyType } from '../api/optimization-policy.ts';
import { apiVersionOf } from '../api/resources.ts';
import { cutToBytes, MAX_NOTE_BYTES } from '../kube/event-object.ts';
import type { Clock } from '../lib/clock.ts';
import { describeReason, type ReasonName } from '../lib/reasons.ts';
import type { PolicyRecord } from '../model/optimization-policy.ts';
import type { SizedWorkload } from '../model/sizing-records.ts';
import type { EventSink } from './events.ts';
import { createToldHourly } from './told-hourly.ts';

export interface RightsizingEvent {
  readonly reason: ReasonName;
  /** Names what it is about, and the cause. */
  readonly message: string;
  /** What can be done; default the advice of the reason, of warnings. */
  readonly suggestion?: string;
  /** A state that lasts: told once per object, reason and `about` an hour, whatever the message says meanwhile. */
  readonly lasts?: boolean;
  readonly about?: string;
}

export interface RightsizingEvents {
  onWorkload(workload: SizedWorkload, event: RightsizingEvent): void;
  onPolicy(policy: PolicyRecord, event: RightsizingEvent): void;
  forget(uid: string): void;
}

export function createRightsizingEvents(sink: EventSink, clock: Clock): RightsizingEvents {
  const told = createToldHourly(clock);
  const record = (
    regarding: Parameters<EventSink['record']>[0]['regarding'],
    uid: string,
    { reason, message, suggestion, lasts = false, about = '' }: RightsizingEvent,
  ): void => {
    if (lasts && !told.isDue(uid, `${reason} ${about}`)) return;
    const { eventType, advice } = describeReason(reason);
    const help = suggestion ?? (eventType === 'Warning' ? advice : undefined);
    const note = help === undefined ? message : withSuggestion(message, help);
    sink.record({ regarding, type: eventType, reason, action: 'Rightsize', note });
  };
  return {
    onWorkload(workload, event) {
      const { apiVersion, kind, namespace, name, uid, resourceVersion } = workload;
      record({ apiVersion, kind, namespace, name, uid, resourceVersion }, uid, event);
    },
    onPolicy(policy, event) {
      const { group, namespace, name, uid, resourceVersion } = policy;
      const apiVersion = apiVersionOf(policyType(group));
      record({ apiVersion, kind: 'OptimizationPolicy', namespace, name, uid, resourceVersion }, uid, event);
    },
    forget: told.forget,
  };
}

/** Of a long message, such as a webhook's, the end is left out and not what can be done. */
function withSuggestion(message: string, help: string): string {
  const suggestion = `. Suggestion: ${help}`;
  return `${cutToBytes(message, MAX_NOTE_BYTES - Buffer.byteLength(suggestion))}${suggestion}`;
}
