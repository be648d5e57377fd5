/** Pods waiting for a node: the ones to try now, the ones backing off, and the ones no node can take at present. */
import type { Pod } from '../../api/core.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import { uidOf } from '../objects.ts';
import { createReadyPods } from './ready-pods.ts';

/** Source: pkg/scheduler/backend/queue: `DefaultPodInitialBackoffDuration`, `DefaultPodMaxBackoffDuration`. */
const INITIAL_BACKOFF_MILLIS = 1000;
const MAX_BACKOFF_MILLIS = 10_000;
/** Source: the period of `flushBackoffQCompleted`. */
const ROUND_MILLIS = 1000;
/** A pod is tried again after this time even when nothing seemed to change for it. */
const FLUSH_MILLIS = 5 * 60_000;
/** What arrives at one moment has been added by then. */
const SOON_MILLIS = 1;

interface Waiting {
  attempts: number;
  /** Tries a parked pod again even if nothing happens. */
  timer: Timer | undefined;
  backoffUntilMillis: number;
}

/** By uid. A pod is in one place at a time: ready, backing off, parked, or with the scheduler. */
export interface SchedulingQueue {
  /** A new or changed pod: try it as soon as its backoff allows. */
  add(pod: Pod): void;
  remove(uid: string): void;
  /** The next pod to try, as it was added: highest priority and then oldest first; undefined when none is ready. */
  pop(): Pod | undefined;
  /** The pod just tried fits nowhere: it waits for {@link wakeAll}. */
  park(uid: string): void;
  /** Something changed that may make room: parked pods are tried again after their backoff. */
  wakeAll(): void;
  /** The same a moment later: pods that come with the change have been added by then, and are taken by priority. */
  wakeAllSoon(): void;
  /** Cancels all timers. */
  close(): void;
}

/** @param onReady called when a pod becomes ready to be tried. */
export function createSchedulingQueue(clock: Clock, onReady: () => void): SchedulingQueue {
  const waiting = new Map<string, Waiting>();
  const parked = new Set<string>();
  const backingOff = new Set<string>();
  let flushTimer: { readonly dueMillis: number; readonly timer: Timer } | undefined;
  let wakeTimer: Timer | undefined;
  const ready = createReadyPods();
  const pods = new Map<string, Pod>();

  const activate = (uid: string): void => {
    const pod = pods.get(uid);
    if (pod === undefined) return;
    parked.delete(uid);
    ready.add(pod);
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

  const wakeAll = (): void => {
    for (const uid of [...parked]) {
      const state = waiting.get(uid);
      if (state !== undefined) activateAfterBackoff(uid, state);
    }
    armFlush();
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
      ready.remove(uid);
      pods.delete(uid);
    },
    pop() {
      const uid = ready.take();
      return uid === undefined ? undefined : pods.get(uid);
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
    wakeAll,
    wakeAllSoon() {
      wakeTimer ??= clock.setTimer(SOON_MILLIS, () => {
        wakeTimer = undefined;
        wakeAll();
      });
    },
    close() {
      for (const { timer } of waiting.values()) timer?.cancel();
      waiting.clear();
      flushTimer?.timer.cancel();
      wakeTimer?.cancel();
    },
  };
}
