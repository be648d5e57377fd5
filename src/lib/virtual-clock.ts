/** Virtual time: a clock that moves only when told to, firing its timers in order. A simulated day takes seconds. */
import type { Clock, Timer } from './clock.ts';

interface PendingTimer {
  readonly dueMillis: number;
  readonly sequence: number;
  callback: (() => void) | undefined;
}

export interface VirtualClock extends Clock {
  /**
   * Moves time forward by `millis`, firing due timers in order (ties: first started, first fired) and letting all
   * promise continuations finish after each, so code awaiting a timer observes exactly the instant it asked for. Work
   * that waits for the real machine (files, sockets, threads) is not waited for.
   */
  advance(millis: number): Promise<void>;
  /** Timers not yet fired or cancelled. */
  pendingTimers(): number;
}

/** Lets every already runnable promise continuation (however long the chain) finish. */
function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** @param startMillis epoch milliseconds of the first instant. */
export function createVirtualClock(startMillis: number): VirtualClock {
  let nowMillis = startMillis;
  let sequence = 0;
  let live = 0;
  const heap: PendingTimer[] = [];

  const isBefore = (a: PendingTimer, b: PendingTimer): boolean =>
    a.dueMillis < b.dueMillis || (a.dueMillis === b.dueMillis && a.sequence < b.sequence);

  const push = (timer: PendingTimer): void => {
    heap.push(timer);
    let child = heap.length - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      const a = heap[child] as PendingTimer;
      const b = heap[parent] as PendingTimer;
      if (!isBefore(a, b)) break;
      heap[child] = b;
      heap[parent] = a;
      child = parent;
    }
  };

  const pop = (): void => {
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    let parent = 0;
    for (;;) {
      let smallest = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) {
        const candidate = heap[child];
        if (candidate !== undefined && isBefore(candidate, heap[smallest] as PendingTimer)) smallest = child;
      }
      if (smallest === parent) return;
      const moved = heap[parent] as PendingTimer;
      heap[parent] = heap[smallest] as PendingTimer;
      heap[smallest] = moved;
      parent = smallest;
    }
  };

  return {
    now: () => nowMillis,
    setTimer(delayMillis, callback): Timer {
      const timer: PendingTimer = { dueMillis: nowMillis + Math.max(0, delayMillis), sequence: sequence++, callback };
      push(timer);
      live++;
      return {
        cancel() {
          if (timer.callback === undefined) return;
          timer.callback = undefined;
          live--;
        },
      };
    },
    async advance(millis) {
      const endMillis = nowMillis + Math.max(0, millis);
      await drainMicrotasks();
      for (let next = heap[0]; next !== undefined && next.dueMillis <= endMillis; next = heap[0]) {
        pop();
        const callback = next.callback;
        if (callback === undefined) continue;
        next.callback = undefined;
        live--;
        nowMillis = Math.max(nowMillis, next.dueMillis);
        callback();
        await drainMicrotasks();
      }
      nowMillis = endMillis;
    },
    pendingTimers: () => live,
  };
}
