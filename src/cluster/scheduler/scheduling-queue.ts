/** Pods waiting for a node: the ones to try now, the ones backing off, and the ones no node can take at present. */
import type { Pod } from '../../api/core.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import { firstIndex } from '../../lib/first-index.ts';
import { timeOf, uidOf } from '../objects.ts';

/** Source: pkg/scheduler/backend/queue: `DefaultPodInitialBackoffDuration`, `DefaultPodMaxBackoffDuration`. */
const INITIAL_BACKOFF_MILLIS = 1000;
const MAX_BACKOFF_MILLIS = 10_000;
/** Source: the period of `flushBackoffQCompleted`. */
const ROUND_MILLIS = 1000;
/** A pod is tried again after this time even when nothing seemed to change for it. */
const FLUSH_MILLIS = 5 * 60_000;

interface Waiting {
  attempts: number;
  /** Tries a parked pod again even if nothing happens. */
  timer: Timer | undefined;
  backoffUntilMillis: number;
}

interface Ready {
  readonly uid: string;
  readonly priority: number;
  readonly createdAt: number;
  /** Of arrival, to break ties. */
  readonly order: number;
}

/** By uid. A pod is in one place at a time: ready, backing off, parked, or with the scheduler. */
export interface SchedulingQueue {
  /** A new or changed pod: try it as soon as its backoff allows. */
  add(pod: Pod): void;
  remove(uid: string): void;
  /** The next pod to try, highest priority and then oldest first; undefined when none is ready. */
  pop(): string | undefined;
  /** The pod just tried fits nowhere: it waits for {@link wakeAll}. */
  park(uid: string): void;
  /** Something changed that may make room: parked pods are tried again after their backoff. */
  wakeAll(): void;
  /** Cancels all timers. */
  close(): void;
}

/** @param onReady called when a pod becomes ready to be tried. */
export function createSchedulingQueue(clock: Clock, onReady: () => void): SchedulingQueue {
  const waiting = new Map<string, Waiting>();
  const parked = new Set<string>();
  const backingOff = new Set<string>();
  let flushTimer: { readonly dueMillis: number; readonly timer: Timer } | undefined;
  const ready: Ready[] = [];
  /** The entry that counts for each pod; others in `ready` are left over from pods removed meanwhile. */
  const entries = new Map<string, Ready>();
  const pods = new Map<string, Pod>();
  let order = 0;

  /** Kept in order, last to go first, so that taking one is a pop. Newcomers mostly belong near the front. */
  const insert = (entry: Ready): void => {
    const place = firstIndex(ready.length, (index) => {
      const other = ready[index];
      return other === undefined || !isAfter(other, entry);
    });
    ready.splice(place, 0, entry);
  };

  const activate = (uid: string): void => {
    const pod = pods.get(uid);
    if (pod === undefined) return;
    parked.delete(uid);
    const createdAt = timeOf(pod.metadata?.creationTimestamp) ?? 0;
    if (!entries.has(uid)) {
      const entry = { uid, priority: priorityOf(pod), createdAt, order: order++ };
      entries.set(uid, entry);
      insert(entry);
    }
    onReady();
  };

  /** Backoffs end in common rounds, so that pods which became ready together are taken by priority. */
  const flush = (): void => {
    flushTimer = undefined;
    for (const uid of [...backingOff]) {
      if ((waiting.get(uid)?.backoffUntilMillis ?? 0) > clock.now()) continue;
      backingOff.delete(uid);
      activate(uid);
    }
    armFlush();
  };

  const armFlush = (): void => {
    if (backingOff.size === 0) return;
    const earliest = Math.min(...[...backingOff].map((uid) => waiting.get(uid)?.backoffUntilMillis ?? 0));
    const dueMillis = Math.ceil(earliest / ROUND_MILLIS) * ROUND_MILLIS;
    if (flushTimer !== undefined && flushTimer.dueMillis <= dueMillis) return;
    flushTimer?.timer.cancel();
    flushTimer = { dueMillis, timer: clock.setTimer(dueMillis - clock.now(), flush) };
  };

  const activateAfterBackoff = (uid: string, state: Waiting): void => {
    state.timer?.cancel();
    state.timer = undefined;
    parked.delete(uid);
    if (state.backoffUntilMillis <= clock.now()) activate(uid);
    else backingOff.add(uid);
  };

  return {
    add(pod) {
      const uid = uidOf(pod);
      const isKnown = pods.has(uid);
      pods.set(uid, pod);
      const state = waiting.get(uid) ?? { attempts: 0, timer: undefined, backoffUntilMillis: 0 };
      waiting.set(uid, state);
      if (!isKnown) activate(uid);
      else if (parked.has(uid)) {
        activateAfterBackoff(uid, state);
        armFlush();
      }
    },
    remove(uid) {
      waiting.get(uid)?.timer?.cancel();
      waiting.delete(uid);
      parked.delete(uid);
      backingOff.delete(uid);
      entries.delete(uid);
      pods.delete(uid);
    },
    pop() {
      for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
        if (entries.get(next.uid) !== next) continue;
        entries.delete(next.uid);
        return next.uid;
      }
      return undefined;
    },
    park(uid) {
      const state = waiting.get(uid);
      if (state === undefined) return;
      state.attempts++;
      const backoff = Math.min(MAX_BACKOFF_MILLIS, INITIAL_BACKOFF_MILLIS * 2 ** (state.attempts - 1));
      state.backoffUntilMillis = clock.now() + backoff;
      backingOff.delete(uid);
      parked.add(uid);
      state.timer?.cancel();
      state.timer = clock.setTimer(FLUSH_MILLIS, () => {
        state.timer = undefined;
        activate(uid);
      });
    },
    wakeAll() {
      for (const uid of [...parked]) {
        const state = waiting.get(uid);
        if (state !== undefined) activateAfterBackoff(uid, state);
      }
      armFlush();
    },
    close() {
      for (const { timer } of waiting.values()) timer?.cancel();
      waiting.clear();
      flushTimer?.timer.cancel();
    },
  };
}

/** Whether `left` has to wait for `right`: lower priority, younger, or arrived later. */
function isAfter(left: Ready, right: Ready): boolean {
  const difference = right.priority - left.priority || left.createdAt - right.createdAt || left.order - right.order;
  return difference > 0;
}

/** The classes every cluster has; others are resolved to a number by the server. Source: pkg/apis/scheduling. */
const SYSTEM_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
]);

function priorityOf(pod: Pod): number {
  return pod.spec?.priority ?? SYSTEM_PRIORITIES.get(pod.spec?.priorityClassName ?? '') ?? 0;
}
