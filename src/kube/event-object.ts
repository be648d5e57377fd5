/** The events.k8s.io/v1 object of an event, within the limits the API server enforces. Pure. */
import { hash } from 'node:crypto';
import type { Event } from '../api/core.ts';
import type { EpochMillis } from '../lib/units.ts';
import { formatMicroTime } from './micro-time.ts';

/** The object an event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent for cluster-wide objects. */
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** What happened. */
export interface EventNotice {
  readonly regarding: ObjectReference;
  /** A second object with a part in it, e.g. the node of an evicted pod. */
  readonly related?: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** Why, in UpperCamelCase, for machines. At most 128 characters. */
  readonly reason: string;
  /** What was done or found, in UpperCamelCase. At most 128 characters. */
  readonly action: string;
  /** For people. Cut at 1,024 bytes. */
  readonly note: string;
  /** Notices about the same object with the same key are repeats of one event. Default: the note. */
  readonly dedupeKey?: string;
}

/** Limits of kubernetes pkg/apis/core/validation/events.go. */
export const MAX_NOTE_BYTES = 1_024;
const MAX_WORD_LENGTH = 128;
const MAX_NAME_LENGTH = 253;
/** Events of cluster-wide objects live here; the API server refuses any other. */
const CLUSTER_EVENTS_NAMESPACE = 'default';

/** Where the event of an object lives: in its namespace; of a cluster-wide object in `default`, as client-go has it. */
export function eventNamespace(regarding: ObjectReference): string {
  return regarding.namespace || CLUSTER_EVENTS_NAMESPACE;
}

/** Identity of an object across its updates. */
export function subjectOf(reference: ObjectReference): string {
  return [reference.kind, reference.namespace, reference.name, reference.uid].join('/');
}

/**
 * Equal for notices that are counted as one event: same objects, reason and action, and the same note unless
 * `dedupeKey` stands for it. A digest: thousands are remembered, and most of the text would be the note.
 */
export function occurrenceKey(notice: EventNotice): string {
  const { regarding, related, type, reason, action, dedupeKey, note } = notice;
  const parts = [subjectOf(regarding), related && subjectOf(related), type, reason, action, dedupeKey ?? note];
  return hash('sha1', JSON.stringify(parts), 'base64');
}

/** Cuts at a character, never inside one, and says so with an ellipsis. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const ellipsis = '…';
  let bytes = Buffer.byteLength(ellipsis);
  let cut = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    cut += character;
  }
  return cut + ellipsis;
}

/**
 * @param suffix makes the name unique; lower-case letters and digits.
 * @param reporter who reports: a qualified name such as `stowage.io/operator`, and the instance, at most 128
 * characters.
 */
export function buildEvent(
  notice: EventNotice,
  reporter: { readonly controller: string; readonly instance: string },
  suffix: string,
  nowMillis: EpochMillis,
): Event {
  const { regarding, related, type, reason, action, note } = notice;
  const namespace = eventNamespace(regarding);
  // Cut names may end in a character a name part must not end in.
  const stem = regarding.name.slice(0, MAX_NAME_LENGTH - suffix.length - 1).replace(/[^a-z0-9]+$/, '');
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace, name: `${stem}.${suffix}` },
    eventTime: formatMicroTime(nowMillis),
    reportingController: reporter.controller,
    reportingInstance: reporter.instance.slice(0, MAX_WORD_LENGTH),
    regarding,
    ...(related && { related }),
    type,
    reason: reason.slice(0, MAX_WORD_LENGTH),
    action: action.slice(0, MAX_WORD_LENGTH),
    note: cutToBytes(note, MAX_NOTE_BYTES),
  };
}
