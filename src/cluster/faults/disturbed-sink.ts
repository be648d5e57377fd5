/** A watch whose events are duplicated, reordered, delayed or cut short. */
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import type { StreamSink } from '../apiserver/gate.ts';
import { expired } from '../apiserver/status-error.ts';
import { INITIAL_EVENTS_END } from '../apiserver/watcher.ts';
import { ConnectionDropped, type FaultEffect } from './fault.ts';

/** Effects that disturb an open watch. */
export const WATCH_EFFECTS = [
  'expire-watch',
  'cut-watch',
  'duplicate-events',
  'lose-bookmarks',
  'reorder-events',
  'delay-events',
] as const;

type Event = Parameters<StreamSink['event']>;

export interface DisturbedSinkOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the watch at the server, so that nothing more is delivered. */
  readonly stop: () => void;
  /** Whether the fault with this effect has ended; a watch may go on long after that. */
  readonly isOver: (effect: FaultEffect) => boolean;
}

/** Wraps `sink`; effects apply in the given order, the first one nearest to the client. */
export function disturbSink(
  sink: StreamSink,
  effects: readonly FaultEffect[],
  options: DisturbedSinkOptions,
): StreamSink {
  return effects.reduce((inner, effect) => disturb(inner, effect, options), sink);
}

function disturb(
  sink: StreamSink,
  effect: FaultEffect,
  { clock, random, stop, isOver }: DisturbedSinkOptions,
): StreamSink {
  const { event, error, end } = {
    event: sink.event.bind(sink),
    error: sink.error.bind(sink),
    end: sink.end.bind(sink),
  };
  switch (effect.kind) {
    case 'duplicate-events':
      return {
        event(...args) {
          event(...args);
          if (args[0] !== 'BOOKMARK') event(...args);
        },
        error,
        end,
      };
    case 'lose-bookmarks':
      return {
        event(...args) {
          if (args[0] !== 'BOOKMARK' || args[1].metadata.annotations?.[INITIAL_EVENTS_END] === 'true') event(...args);
        },
        error,
        end,
      };
    case 'expire-watch':
    case 'cut-watch': {
      let left = effect.afterEvents;
      let over = false;
      return {
        event(...args) {
          if (over) return;
          if (left > 0) {
            left--;
            event(...args);
            return;
          }
          over = true;
          stop();
          if (effect.kind === 'cut-watch') {
            end(new ConnectionDropped());
            return;
          }
          const { status } = expired('too old resource version: the watch window was compacted by a scripted fault');
          if (status !== undefined) error(status);
          end();
        },
        error,
        end: (reason) => {
          if (!over) end(reason);
        },
      };
    }
    case 'reorder-events': {
      let held: Event[] = [];
      const flush = (): void => {
        const batch = held;
        held = [];
        for (let index = batch.length - 1; index > 0; index--) {
          const other = Math.floor(random.next() * (index + 1));
          const a = batch[index];
          const b = batch[other];
          if (a === undefined || b === undefined) continue;
          batch[index] = b;
          batch[other] = a;
        }
        for (const args of batch) event(...args);
      };
      return {
        event(...args) {
          if (args[0] === 'BOOKMARK') {
            flush();
            event(...args);
            return;
          }
          held.push(args);
          if (held.length >= effect.window) flush();
        },
        error(status) {
          flush();
          error(status);
        },
        end(reason) {
          flush();
          end(reason);
        },
      };
    }
    case 'delay-events': {
      const timers = new Set<Timer>();
      const later = (action: () => void): void => {
        const timer = clock.setTimer(effect.millis, () => {
          timers.delete(timer);
          action();
        });
        timers.add(timer);
      };
      return {
        event(...args) {
          // None overtakes those that are still under way.
          if (isOver(effect) && timers.size === 0) event(...args);
          else later(() => event(...args));
        },
        error: (status) => later(() => error(status)),
        end(reason) {
          // What is still under way is lost with the stream.
          for (const timer of timers) timer.cancel();
          timers.clear();
          end(reason);
        },
      };
    }
    default:
      return sink;
  }
}
