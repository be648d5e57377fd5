/** Writes what a kubelet has to say of one pod: its status, one write at a time, and at last that the pod is gone. */
import type { Pod } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { isConflict, isNotFound } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { isOlder, parseResourceVersion } from '../../kube/resource-version.ts';
import type { Timer } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { findCondition, keyOf, nameOf, namespaceOf, uidOf } from '../objects.ts';
import { isFinished } from '../pod-state.ts';
import { type PodStatus, RESIZE_CONDITIONS } from './pod-status.ts';

const RETRY_MILLIS = 1000;

/** Order is kept: a status never overtakes a later one. */
export interface PodWriter {
  /** What changes during a write goes out with the next one. Resolves when the newest is written, or the pod is gone. */
  report(): Promise<void>;
  /** The pod has changed: the status is written again where its {@link gistOf} is not as this kubelet has said last. */
  review(): void;
  /** The kubelet's last word, after the newest status: the object itself goes. */
  remove(): Promise<void>;
  /** Nothing is written any more. */
  close(): void;
}

export interface PodWriterOptions {
  readonly api: Pick<KubeApi, 'patch' | 'delete'>;
  readonly log: Pick<Logger, 'warn'>;
  /** A timer that ends with the pod. */
  readonly after: (delayMillis: number, action: () => void) => Timer;
  /** As the API server has it now. */
  readonly pod: () => Pod;
  /** As of now; asked right before each write. */
  readonly status: () => PodStatus;
}

/** What the API server has taken last. */
interface Written {
  readonly text: string;
  /** As the API server has it: it writes amounts in its own way. */
  readonly gist: string;
  /** The pod's, with it. */
  readonly version: number | undefined;
}

/** A write that fails is tried again until the pod is gone; equal statuses are written once. */
export function createPodWriter(options: PodWriterOptions): PodWriter {
  const { api, log, after } = options;
  let running: Promise<void> | undefined;
  let isDirty = false;
  let isClosed = false;
  let last: Written = { text: '', gist: '', version: undefined };
  let retry: Timer | undefined;

  /** By somebody else, or by an earlier write of ours: one whose answer was lost may still be on its way. */
  const isOverwritten = (): boolean => {
    const pod = options.pod();
    const isNews = isOlder(last.version, parseResourceVersion(pod.metadata?.resourceVersion));
    return isNews && !isFinished(pod) && gistOf(pod.status) !== last.gist;
  };

  /** @returns whether what the API server has now is known. */
  const writeOnce = async (): Promise<boolean> => {
    const pod = options.pod();
    const status = options.status();
    const text = JSON.stringify(status);
    if (text === last.text && !isOverwritten()) return true;
    const body = { metadata: { uid: uidOf(pod) }, status: { ...status, conditions: patchOf(status.conditions) } };
    try {
      const call = { namespace: namespaceOf(pod), subresource: 'status' };
      const stored = await api.patch(resources.pods, nameOf(pod), { type: 'strategic', body }, call);
      const version = parseResourceVersion(stored.metadata?.resourceVersion);
      last = { text, gist: gistOf(stored.status ?? status), version };
      return true;
    } catch (error) {
      // Gone, or another pod of that name by now: nothing left to report.
      if (isNotFound(error) || isConflict(error)) return false;
      log.warn({ pod: keyOf(pod), error }, "Writing a pod's status failed; it will be tried again");
      retry?.cancel();
      retry = after(RETRY_MILLIS, () => void report());
      return false;
    }
  };

  const writeUntilClean = async (): Promise<void> => {
    while (isDirty && !isClosed) {
      isDirty = false;
      const isWritten = await writeOnce();
      isDirty ||= isWritten && isOverwritten();
    }
    running = undefined;
  };

  const report = (): Promise<void> => {
    isDirty = true;
    running ??= writeUntilClean();
    return running;
  };

  const deletePod = async (): Promise<void> => {
    if (isClosed) return;
    const pod = options.pod();
    try {
      const call = { namespace: namespaceOf(pod), uid: uidOf(pod), gracePeriodSeconds: 0 };
      await api.delete(resources.pods, nameOf(pod), call);
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return;
      log.warn({ pod: keyOf(pod), error }, 'Removing an ended pod failed; it will be tried again');
      after(RETRY_MILLIS, () => void deletePod());
    }
  };

  return {
    report,
    review() {
      if (isOverwritten()) void report();
    },
    async remove() {
      await report();
      await deletePod();
    },
    close() {
      isClosed = true;
    },
  };
}

/** What others go by: readiness, restarts, and what the containers hold or wait for. */
function gistOf(status: PodStatus | undefined): string {
  const { conditions, containerStatuses = [], initContainerStatuses = [] } = status ?? {};
  const resizing = RESIZE_CONDITIONS.map((type) => {
    const condition = findCondition(conditions, type);
    return condition && [type, condition.reason];
  });
  const containers = [...containerStatuses, ...initContainerStatuses].map(
    ({ name, restartCount, allocatedResources, resources: held }) => [name, restartCount, allocatedResources, held],
  );
  return JSON.stringify([findCondition(conditions, 'Ready')?.status, resizing, containers]);
}

/** Conditions are merged by type: those that ended are taken out by name, and texts that no longer hold by null. */
function patchOf(conditions: PodStatus['conditions'] = []): object[] {
  const present = new Set(conditions.map(({ type }) => type));
  const ended = RESIZE_CONDITIONS.filter((type) => !present.has(type));
  const stated = conditions.map((condition) => ({ reason: null, message: null, ...condition }));
  return [...stated, ...ended.map((type) => ({ type, $patch: 'delete' }))];
}
