import type { HandlerResult } from '../../kube/queue.ts';
import type { Clock } from '../../lib/clock.ts';
import type { EpochMillis } from '../../lib/units.ts';

/** For a work queue: the key is looked at again then; undefined where time alone changes nothing of it. */
export function requeueAt(due: EpochMillis | undefined, clock: Pick<Clock, 'now'>): HandlerResult {
  return due === undefined ? undefined : { requeueAfterMillis: due - clock.now() };
}
