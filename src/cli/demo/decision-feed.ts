/** Decisions as everybody sees them: the events that the operator and the cloud write about workloads and nodes. */
import type { Event } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { createInformer } from '../../kube/informer.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import { isReasonName } from '../../lib/reasons.ts';
import type { DecisionLine } from './frame.ts';

export interface DecisionFeed {
  onDecision(listener: (line: DecisionLine) => void): () => void;
  /** Resolves when the signal has ended it. */
  readonly done: Promise<void>;
}

export interface DecisionFeedOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface SeenEvent {
  readonly subject: string;
  readonly reason: string;
  readonly note: string;
  readonly isWarning: boolean;
  readonly count: number;
}

export function followDecisions(options: DecisionFeedOptions, signal: AbortSignal): DecisionFeed {
  const listeners = new Set<(line: DecisionLine) => void>();
  const informer = createInformer<Event, SeenEvent>({
    ...options,
    type: resources.events,
    project: toSeenEvent,
    isEqual: (before, after) => before.count === after.count && before.note === after.note,
  });
  informer.subscribe({
    onChange(_, before, after) {
      if (after === undefined || before !== undefined) return;
      const { subject, reason, note, isWarning } = after;
      const line: DecisionLine = { at: options.clock.now(), text: `${subject}: ${reason}: ${note}`, isWarning };
      for (const listener of listeners) listener(line);
    },
  });
  return {
    onDecision(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    done: informer.run(signal),
  };
}

/** Only the reasons of Stowage's own table; schedulers and kubelets have much to say, too. */
function toSeenEvent({ regarding, reason = '', note = '', type, series }: Event): SeenEvent | undefined {
  if (!isReasonName(reason)) return undefined;
  const { namespace = '', name = '' } = regarding ?? {};
  return {
    subject: namespace === '' ? name : `${namespace}/${name}`,
    reason,
    note,
    isWarning: type === 'Warning',
    count: series?.count ?? 1,
  };
}
