/** What can go wrong with a Kubernetes API, as data: which requests a fault meets, what it does to them, and how often. */

/** All members that are given must match. */
export interface FaultMatcher {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`; absent means all. */
  readonly verbs?: readonly string[];
  /** Plural with optional subresource, e.g. `pods`, `pods/eviction`, `leases`; absent means all. */
  readonly resources?: readonly string[];
  /** User names, or their beginnings with a `*` behind; absent means all. */
  readonly users?: readonly string[];
  readonly namespaces?: readonly string[];
}

export type FaultEffect =
  /** The connection breaks before any byte of the answer. */
  | { readonly kind: 'drop' }
  /** Nobody is there: requests break as with `drop`, and so do the watches that are open when it begins. */
  | { readonly kind: 'outage' }
  /** No byte comes, for `millis`, or until the client gives up. */
  | { readonly kind: 'freeze'; readonly millis?: number }
  /** The answer comes late. */
  | { readonly kind: 'slow'; readonly millis: number }
  /** An error answer instead of the real one, e.g. 429, 500 or 503. */
  | { readonly kind: 'status'; readonly code: number; readonly retryAfterSeconds?: number; readonly message?: string }
  /** The write happens, but the connection breaks before its answer: the client cannot know. */
  | { readonly kind: 'drop-after' }
  /** The write happens two times, as behind a proxy that tries again; what the client gets is the second answer. */
  | { readonly kind: 'twice' }
  /** A watch ends with an ERROR event of code 410 after this many events. */
  | { readonly kind: 'expire-watch'; readonly afterEvents: number }
  /** A watch's connection breaks after this many events. */
  | { readonly kind: 'cut-watch'; readonly afterEvents: number }
  /** Each event of a watch comes twice. */
  | { readonly kind: 'duplicate-events' }
  /** No bookmark comes but the one that ends the initial events, which the API server owes. */
  | { readonly kind: 'lose-bookmarks' }
  /** Events are held back and delivered in a shuffled order once `window` of them have come; bookmarks flush. */
  | { readonly kind: 'reorder-events'; readonly window: number }
  /** Events come late, in order. */
  | { readonly kind: 'delay-events'; readonly millis: number }
  /** Reads see the state of this many writes ago, as from a lagging replica. */
  | { readonly kind: 'stale-reads'; readonly revisions: number };

/** Faults meet the embedded server's HTTP and in-process clients alike. */
export interface Fault extends FaultMatcher {
  readonly effect: FaultEffect;
  /** Chance that a matching request is met, in 0..1. Default 1. */
  readonly probability?: number;
  /** Requests met before the fault is spent. Default: no limit. */
  readonly count?: number;
}

/** What a fault matcher looks at. */
export interface FaultSubject {
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string;
  readonly user: string;
  readonly namespace: string;
}

export function matchesFault(fault: FaultMatcher, subject: FaultSubject): boolean {
  const { verbs, resources, users, namespaces } = fault;
  const path = subject.subresource === '' ? subject.resource : `${subject.resource}/${subject.subresource}`;
  return (
    (verbs === undefined || verbs.includes(subject.verb)) &&
    (resources === undefined || resources.includes(path)) &&
    (users === undefined || users.some((each) => isUser(each, subject.user))) &&
    (namespaces === undefined || namespaces.includes(subject.namespace))
  );
}

function isUser(pattern: string, user: string): boolean {
  return pattern.endsWith('*') ? user.startsWith(pattern.slice(0, -1)) : user === pattern;
}

/** The connection broke by a scripted fault; what a client sees is a transport error, not an API answer. */
export class ConnectionDropped extends Error {
  override readonly name = 'ConnectionDropped';
  readonly code = 'ECONNRESET';

  constructor() {
    super('connection reset by a scripted fault');
  }
}
