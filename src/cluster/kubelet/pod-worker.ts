/** Runs one pod on one simulated node: start, readiness, crashes and restarts, resizes, graceful end. */
import type { Pod } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { createTimerGroup } from '../../lib/timer-group.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { LoadedPod } from '../load/node-load.ts';
import { findCondition, timeOf } from '../objects.ts';
import { type Amounts, amountsOf } from '../pod-requests.ts';
import { isSameSpec, isTerminating } from '../pod-state.ts';
import type { Behaviour } from './behaviour.ts';
import { createContainerRuns } from './container-runs.ts';
import { gracefulEnd } from './graceful-end.ts';
import { createPodResizer } from './pod-resizer.ts';
import { adoptRuntime, newRuntime } from './pod-runtime.ts';
import { type ContainerRuntime, containersOf, podStatus } from './pod-status.ts';
import { createPodWriter } from './pod-writer.ts';
import { heldAmounts } from './resize.ts';

/** From a change of the spec to the kubelet's answer; measured on a real node. */
const RESIZE_NOTICED_MILLIS = 30;
/** Exit code of a container killed by SIGKILL. */
const KILLED = 137;

/** One pod on one node from its binding to its end. Its memory is lost with the node, as on a real one. */
export interface PodWorker extends LoadedPod {
  /** The pod as the API server has it now. */
  update(pod: Pod): void;
  /** Ends a running container as if its process had died; it restarts by the pod's policy. */
  endContainer(name: string, exitCode: number, reason: string): void;
  /** Room may have appeared on the node: looks at a deferred resize again. */
  retryResize(): void;
  /** A running container's readiness probe succeeds or fails from now on. */
  setReady(name: string, isReady: boolean): void;
  /** Ends the pod for good (node shutdown): it becomes Failed and stays until deleted. */
  shutDown(reason: string, message: string): void;
  /** Allocated requests of its containers, as the node's books say: during a resize not those of the spec. */
  held(): Amounts;
  /** The node is gone: nothing more happens, nothing is reported. */
  close(): void;
}

export interface PodWorkerOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly behaviour: Behaviour;
  readonly hostIp: string;
  readonly takePodIp: () => string;
  readonly allocatable: () => Amounts;
  /** What the other pods of the node hold. */
  readonly heldByOthers: () => Amounts;
  /** Guaranteed pods have CPUs of their own here, which cannot be changed. */
  readonly hasPinnedCpus: boolean;
  /** Time from accepting a resize to having done it. */
  readonly resizeMillis: number;
  /** The pod holds more or less than before. */
  readonly onAllocated: () => void;
}

/** Takes over a pod that an earlier worker had started: its containers go on as its status says (adoptRuntime). */
export function createPodWorker(first: Pod, options: PodWorkerOptions): PodWorker {
  const { api, clock, log, behaviour, hostIp } = options;
  const timers = createTimerGroup(clock);
  const { after } = timers;
  let current = first;
  const pod = (): Pod => current;
  const adopted = adoptRuntime(first, hostIp);
  const runtime = adopted ?? newRuntime(first, hostIp, clock.now());
  const containers = containersOf(runtime);
  let ending: { readonly atMillis: EpochMillis; readonly timer: Timer } | undefined;

  const isOver = (): boolean => runtime.verdict !== undefined || isTerminating(current);
  const find = (name: string): ContainerRuntime | undefined => containers.find((container) => container.name === name);
  const writer = createPodWriter({ api, log, after, pod, status: () => podStatus(current, runtime, clock.now()) });
  const report = (): void => void writer.report();
  const runs = createContainerRuns({ clock, behaviour, pod, isOver, after, report });
  const resizer = createPodResizer({ ...options, runtime, pod, isOver, after, report, restart: runs.restart });

  const start = (): void => {
    if (isOver()) return;
    runtime.podIp ??= options.takePodIp();
    if (behaviour.hasImageError) {
      const message = 'Back-off pulling image';
      for (const container of runtime.containers)
        container.state = { kind: 'waiting', reason: 'ImagePullBackOff', message };
      report();
      return;
    }
    runtime.isInitialized = true;
    for (const container of containers) runs.start(container);
    report();
    resizer.review();
  };

  /** A later, shorter grace period moves the end forward, never back. */
  const stop = (): void => {
    const isRunning = containers.some(({ state }) => state.kind === 'running');
    const { isKilled, delayMillis } = gracefulEnd(current, behaviour, isRunning);
    const atMillis = clock.now() + delayMillis;
    if (ending !== undefined && ending.atMillis <= atMillis) return;
    ending?.timer.cancel();
    ending = { atMillis, timer: after(delayMillis, () => finish(isKilled)) };
  };

  const finish = (isKilled: boolean): void => {
    for (const container of containers) runs.end(container, isKilled ? KILLED : 0, isKilled ? 'Error' : 'Completed');
    void writer.remove();
  };

  if (isTerminating(first)) stop();
  else {
    report();
    if (adopted === undefined) after(behaviour.startMillis, start);
    else {
      const reported = findCondition(first.status?.conditions, 'ContainersReady')?.lastTransitionTime;
      for (const container of containers) runs.goOn(container, timeOf(reported));
    }
  }

  return {
    update(next) {
      const previous = current;
      current = next;
      if (isTerminating(next)) stop();
      else if (!isSameSpec(previous, next)) {
        runtime.observedGeneration = next.metadata?.generation;
        after(RESIZE_NOTICED_MILLIS, resizer.review);
      }
      // A readiness gate is somebody else's condition, but the kubelet derives Ready from it.
      if ((next.spec?.readinessGates ?? []).length > 0) report();
      else writer.review();
    },
    endContainer(name, exitCode, reason) {
      const container = find(name);
      if (container !== undefined) runs.end(container, exitCode, reason);
    },
    retryResize: resizer.retryDeferred,
    useMemory(name, bytes) {
      const container = find(name);
      if (container === undefined) return;
      container.memoryBytes = bytes;
      const limit = amountsOf(container.resources.limits).get('memory') ?? Number.POSITIVE_INFINITY;
      if (bytes > limit) runs.end(container, KILLED, 'OOMKilled');
    },
    setReady(name, isReady) {
      const container = find(name);
      if (container?.state.kind === 'running') container.isReady = isReady;
      report();
    },
    shutDown(reason, message) {
      if (runtime.verdict !== undefined) return;
      runtime.verdict = { reason, message };
      for (const container of containers) runs.end(container, 0, 'Completed');
      report();
    },
    pod,
    containers,
    held: () => heldAmounts(containers),
    close() {
      writer.close();
      timers.end();
    },
  };
}
