/** Writes one pod's status, one write at a time; what changes meanwhile goes out with the next one. */
import type { Pod } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { isConflict, isNotFound } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { keyOf, nameOf, namespaceOf, uidOf } from '../objects.ts';
import { type PodStatus, RESIZE_CONDITIONS } from './pod-status.ts';

const RETRY_MILLIS = 1000;

/** Order is kept: a status never overtakes a later one. */
export interface StatusReporter {
  /** Resolves when the newest status is written, or the pod is gone. */
  report(): Promise<void>;
  close(): void;
}

export interface StatusReporterOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  /** The status as of now; called right before each write. */
  readonly current: () => { readonly pod: Pod; readonly status: PodStatus };
}

/** A write that fails is tried again until the pod is gone; equal statuses are written once. */
export function createStatusReporter({ api, clock, log, current }: StatusReporterOptions): StatusReporter {
  let running: Promise<void> | undefined;
  let isDirty = false;
  let isClosed = false;
  let lastWritten = '';
  let retry: Timer | undefined;

  const writeOnce = async (): Promise<void> => {
    const { pod, status } = current();
    const text = JSON.stringify(status);
    if (text === lastWritten) return;
    const body = { metadata: { uid: uidOf(pod) }, status: { ...status, conditions: patchOf(status.conditions) } };
    try {
      const options = { namespace: namespaceOf(pod), subresource: 'status' };
      await api.patch(resources.pods, nameOf(pod), { type: 'strategic', body }, options);
      lastWritten = text;
    } catch (error) {
      // Gone, or another pod of that name by now: nothing left to report.
      if (isNotFound(error) || isConflict(error)) return;
      log.warn({ pod: keyOf(pod), error }, "Writing a pod's status failed; it will be tried again");
      retry?.cancel();
      if (!isClosed) retry = clock.setTimer(RETRY_MILLIS, () => void report());
    }
  };

  const writeUntilClean = async (): Promise<void> => {
    while (isDirty && !isClosed) {
      isDirty = false;
      await writeOnce();
    }
    running = undefined;
  };

  const report = (): Promise<void> => {
    isDirty = true;
    running ??= writeUntilClean();
    return running;
  };

  return {
    report,
    close() {
      isClosed = true;
      retry?.cancel();
    },
  };
}

/** Conditions are merged by type: those that ended are taken out by name, and texts that no longer hold by null. */
function patchOf(conditions: PodStatus['conditions'] = []): object[] {
  const present = new Set(conditions.map(({ type }) => type));
  const ended = RESIZE_CONDITIONS.filter((type) => !present.has(type));
  const stated = conditions.map((condition) => ({ reason: null, message: null, ...condition }));
  return [...stated, ...ended.map((type) => ({ type, $patch: 'delete' }))];
}
