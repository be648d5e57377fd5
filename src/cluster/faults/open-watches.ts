/** The watches that are open, so that an outage breaks them as it breaks requests. */
import type { StreamSink } from '../apiserver/gate.ts';
import { ConnectionDropped, type Fault, type FaultSubject, matchesFault } from './fault.ts';

/** All watches of one server. */
export interface OpenWatches {
  /** @param stop ends the watch at the server. @returns the sink to use in place of `sink`. */
  open(subject: FaultSubject, sink: StreamSink, stop: () => void): StreamSink;
  /** Breaks every watch that the fault meets. */
  breakThose(fault: Fault): void;
}

export function createOpenWatches(): OpenWatches {
  const watches = new Set<{ readonly subject: FaultSubject; readonly cut: () => void }>();
  return {
    open(subject, sink, stop) {
      let isOver = false;
      const end = (error?: unknown): void => {
        if (isOver) return;
        isOver = true;
        watches.delete(watch);
        sink.end(error);
      };
      const watch = {
        subject,
        cut(): void {
          stop();
          end(new ConnectionDropped());
        },
      };
      watches.add(watch);
      return {
        event: (...args) => {
          if (!isOver) sink.event(...args);
        },
        error: (...args) => {
          if (!isOver) sink.error(...args);
        },
        end,
      };
    },
    breakThose(fault) {
      for (const watch of [...watches]) if (matchesFault(fault, watch.subject)) watch.cut();
    },
  };
}
