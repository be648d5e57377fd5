/** Decisions as everybody sees them: the events that the operator writes about workloads. */
import type { Event } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { resources } from '../../api/resources.ts';
import { createInformer } from '../../kube/informer.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import { isReasonName } from '../../lib/reasons.ts';
import type { DecisionLine } from './frame.ts';

export interface DecisionFeedOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly emit: (line: DecisionLine) => void;
}

interface SeenEvent {
  readonly subject: string;
  readonly reason: string;
  readonly note: string;
  readonly isWarning: boolean;
}

/** Tells every new event of Stowage's; resolves when the signal has ended it. */
export function followDecisions(options: DecisionFeedOptions, signal: AbortSignal): Promise<void> {
  const informer = createInformer<Event, SeenEvent>({
    ...options,
    type: resources.events,
    project: toSeenEvent,
    isEqual: (before, after) => before.note === after.note,
  });
  informer.subscribe({
    onChange(_, before, after) {
      if (after === undefined || before !== undefined) return;
      const { subject, reason, note, isWarning } = after;
      options.emit({ at: options.clock.now(), text: `${subject}: ${reason}: ${note}`, isWarning });
    },
  });
  return informer.run(signal);
}

/** Only the reasons of Stowage's own table; schedulers and kubelets have much to say, too. */
function toSeenEvent({ regarding, reason = '', note = '', type }: Event): SeenEvent | undefined {
  if (!isReasonName(reason)) return undefined;
  const { namespace = '', name = '' } = regarding ?? {};
  return {
    subject: namespace === '' ? name : `${namespace}/${name}`,
    reason,
    note,
    isWarning: type === 'Warning',
  };
}
