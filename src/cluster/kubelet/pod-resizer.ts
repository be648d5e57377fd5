/** Brings a running pod to the resources its spec asks for: judges, allocates, applies, and keeps trying what waits (KEP-1287). */
import type { Pod } from '../../api/core.ts';
import type { Amounts } from '../pod-requests.ts';
import { type ContainerRuntime, containersOf, type PodRuntime, willRestart } from './pod-status.ts';
import {
  judgeResize,
  memoryInUse,
  pinnedCpuMessage,
  type ResizeVerdict,
  type WantedResize,
  wantedAmounts,
  wantedResizes,
} from './resize.ts';

/** How soon a resize that failed on the node is tried again: the kubelet's memory figures are no fresher. */
const RETRY_MILLIS = 10_000;

/** One resize of a pod at a time, as the kubelet does; what the spec asks meanwhile is looked at when it is done. */
export interface PodResizer {
  /** The spec may ask for something else than the pod holds. */
  review(): void;
  /** Room may have appeared on the node. */
  retryDeferred(): void;
}

export interface PodResizerOptions {
  readonly runtime: PodRuntime;
  readonly pod: () => Pod;
  readonly allocatable: () => Amounts;
  /** What the other pods of the node hold. */
  readonly heldByOthers: () => Amounts;
  /** Guaranteed pods have CPUs of their own here, which cannot be changed. */
  readonly hasPinnedCpus: boolean;
  /** Time from accepting a resize to having done it. */
  readonly resizeMillis: number;
  readonly isOver: () => boolean;
  readonly after: (delayMillis: number, action: () => void) => void;
  readonly report: () => void;
  readonly onAllocated: () => void;
  /** Ends a container that starts again with its new resources. */
  readonly restart: (container: ContainerRuntime) => void;
}

/**
 * Allocates before it applies, so that two pods never get the same room, and all of a pod's containers or none.
 * Source: pkg/kubelet/allocation/allocation_manager.go.
 */
export function createPodResizer(options: PodResizerOptions): PodResizer {
  const { runtime, after, report } = options;
  /** While allocated resources are being applied, until they are or have failed. */
  let isApplying = false;

  /** It runs, or will again: one that waits in CrashLoopBackOff starts with what it is given meanwhile. */
  const isGoingOn = ({ state, lastEnd }: ContainerRuntime): boolean => {
    if (state.kind === 'terminated') return willRestart(options.pod(), state.exitCode !== 0);
    return state.kind === 'running' || lastEnd !== undefined;
  };

  const review = (): void => {
    const containers = containersOf(runtime);
    if (options.isOver() || isApplying || !containers.some(isGoingOn)) return;
    const wanted = wantedResizes(options.pod(), containers);
    if (wanted.length === 0) {
      if (runtime.resizeConditions.length > 0) {
        runtime.resizeConditions = [];
        report();
      }
      return;
    }
    const pinned = options.hasPinnedCpus ? pinnedCpuMessage(options.pod(), wanted) : undefined;
    const verdict: ResizeVerdict =
      pinned === undefined
        ? judgeResize(wantedAmounts(containers, wanted), options.allocatable(), options.heldByOthers())
        : { state: 'Infeasible', message: pinned };
    if (verdict.state !== 'granted') {
      runtime.resizeConditions = [{ type: 'PodResizePending', reason: verdict.state, message: verdict.message }];
      report();
      return;
    }
    isApplying = true;
    for (const { container, resources: next } of wanted) container.allocated = next.requests;
    runtime.resizeConditions = [{ type: 'PodResizeInProgress' }];
    report();
    options.onAllocated();
    after(options.resizeMillis, () => apply(wanted));
  };

  const apply = (wanted: readonly WantedResize[]): void => {
    isApplying = false;
    const message = memoryInUse(wanted);
    if (message !== undefined) {
      runtime.resizeConditions = [{ type: 'PodResizeInProgress', reason: 'Error', message }];
      report();
      after(RETRY_MILLIS, review);
      return;
    }
    runtime.resizeConditions = [];
    for (const { container, resources: next, restarts } of wanted) {
      container.resources = next;
      if (restarts) options.restart(container);
    }
    report();
    // The spec may have changed again in the meantime.
    review();
  };

  return {
    review,
    retryDeferred() {
      if (runtime.resizeConditions.some(({ reason }) => reason === 'Deferred')) review();
    },
  };
}
