/** Virtual time: a clock that moves only when told to, firing its timers in order. A simulated day takes seconds. */
import type { Clock, Timer } from './clock.ts';
import { createInstantWatch, type InstantLimits } from './standstill.ts';

interface PendingTimer {
  readonly dueMillis: number;
  readonly sequence: number;
  /** As {@link InstantWatch.chainOf} had it. */
  readonly chain: number;
  callback: (() => void) | undefined;
}

export interface VirtualClock extends Clock {
  /**
   * Moves time forward by `millis`, firing due timers in order (ties: first started, first fired) and letting all
   * promise continuations finish after each, so code awaiting a timer observes exactly the instant it asked for. Work
   * that waits for the real machine (files, sockets, threads) is not waited for.
   * @throws StandstillError where work at one instant brings about more of it without end; from then on always
   */
  advance(millis: number): Promise<void>;
  /** Timers not yet fired or cancelled. */
  pendingTimers(): number;
  /** Another number for each timer that fired: what happens in one turn waits for no timer. */
  turn(): number;
  /** Time moves no more: moves reject with this. */
  halt(error: Error): void;
}

/** Lets every already runnable promise continuation (however long the chain) finish. */
function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * @param startMillis epoch milliseconds of the first instant.
 * @param limits what may happen at one instant.
 */
export function createVirtualClock(startMillis: number, limits?: InstantLimits): VirtualClock {
  let nowMillis = startMillis;
  let sequence = 0;
  let live = 0;
  let turn = 0;
  let halted: Error | undefined;
  const instant = createInstantWatch(limits);
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

  const throwIfHalted = (): void => {
    halted ??= instant.standstill(nowMillis);
    if (halted !== undefined) throw halted;
  };

  return {
    now() {
      instant.read(nowMillis);
      return nowMillis;
    },
    setTimer(delayMillis, callback): Timer {
      const dueMillis = nowMillis + Math.max(0, delayMillis);
      const chain = instant.chainOf(nowMillis, dueMillis);
      const timer: PendingTimer = { dueMillis, sequence: sequence++, chain, callback };
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
      throwIfHalted();
      turn++;
      instant.begin(0);
      await drainMicrotasks();
      throwIfHalted();
      for (let next = heap[0]; next !== undefined && next.dueMillis <= endMillis; next = heap[0]) {
        pop();
        const callback = next.callback;
        if (callback === undefined) continue;
        next.callback = undefined;
        live--;
        nowMillis = Math.max(nowMillis, next.dueMillis);
        turn++;
        instant.begin(next.chain);
        callback();
        await drainMicrotasks();
        throwIfHalted();
      }
      nowMillis = endMillis;
    },
    pendingTimers: () => live,
    turn: () => turn,
    halt(error) {
      halted ??= error;
    },
  };
}
