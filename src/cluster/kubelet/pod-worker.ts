/** Runs one pod on one simulated node: start, readiness, crashes and restarts, resizes, graceful end. */
import type { Pod } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { isConflict, isNotFound } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { LoadedPod } from '../load/node-load.ts';
import { findCondition, keyOf, nameOf, namespaceOf, timeOf, uidOf } from '../objects.ts';
import { type Amounts, amountsOf } from '../pod-requests.ts';
import { isSameSpec } from '../pod-state.ts';
import type { Behaviour } from './behaviour.ts';
import { createPodResizer } from './pod-resizer.ts';
import { adoptRuntime, newRuntime } from './pod-runtime.ts';
import type { ContainerRuntime, Ended, PodRuntime } from './pod-status.ts';
import { containersOf, podStatus, willRestart } from './pod-status.ts';
import { heldAmounts } from './resize.ts';
import { restartDelay } from './restart-backoff.ts';
import { createScriptedRun } from './scripted-run.ts';
import { createStatusReporter } from './status-reporter.ts';

/** From a change of the spec to the kubelet's answer; measured on a real node. */
const RESIZE_NOTICED_MILLIS = 30;
const DELETE_RETRY_MILLIS = 1000;
const DEFAULT_GRACE_SECONDS = 30;
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
  const timers = new Set<Timer>();
  let pod = first;
  const adopted = adoptRuntime(first, hostIp);
  const runtime: PodRuntime = adopted ?? newRuntime(first, hostIp, clock.now());
  let isClosed = false;
  let stopping: { deadlineMillis: number; timer: Timer } | undefined;

  const reporter = createStatusReporter({
    api,
    clock,
    log,
    current: () => ({ pod, status: podStatus(pod, runtime, clock.now()) }),
  });
  const report = (): void => void reporter.report();

  const after = (delayMillis: number, action: () => void): Timer => {
    const timer = clock.setTimer(delayMillis, () => {
      timers.delete(timer);
      if (!isClosed) action();
    });
    timers.add(timer);
    return timer;
  };
  const isOver = (): boolean => runtime.verdict !== undefined || stopping !== undefined;
  const fullName = (): string => `${nameOf(pod)}_${namespaceOf(pod)}(${uidOf(pod)})`;
  const find = (name: string): ContainerRuntime | undefined =>
    containersOf(runtime).find((container) => container.name === name);
  const resizer = createPodResizer({
    ...options,
    runtime,
    pod: () => pod,
    isOver,
    after,
    report,
    restart: (container) => restartNow(container),
  });
  const run = createScriptedRun({
    clock,
    behaviour,
    after,
    report,
    end: (container, exitCode, reason) => end(container, exitCode, reason),
  });

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
    for (const container of containersOf(runtime)) run.start(container);
    report();
    resizer.review();
  };

  const end = (container: ContainerRuntime, exitCode: number, reason: string): void => {
    if (container.state.kind !== 'running') return;
    const now = clock.now();
    const { startedAtMillis } = container.state;
    const ended = { exitCode, reason, startedAtMillis, finishedAtMillis: now, run: container.restarts };
    container.state = { kind: 'terminated', ...ended };
    container.isReady = false;
    if (!isOver() && willRestart(pod, exitCode !== 0)) restart(container, now - startedAtMillis);
    report();
  };

  /** The first restart comes as soon as the end is noticed, later ones wait in CrashLoopBackOff. */
  const restart = (container: ContainerRuntime, ranMillis: number): void => {
    if (container.state.kind !== 'terminated') return;
    const { backoffMillis, delayMillis } = restartDelay(container.restarts, ranMillis);
    const { kind: _, ...ended } = container.state;
    const again = (): void => {
      if (!isOver()) runAgain(container, ended);
    };
    if (backoffMillis > 0) {
      container.lastEnd = ended;
      const message = `back-off ${backoffMillis / 1000}s restarting failed container=${container.name} pod=${fullName()}`;
      container.state = { kind: 'waiting', reason: 'CrashLoopBackOff', message };
    }
    after(delayMillis, again);
  };

  const runAgain = (container: ContainerRuntime, ended: Ended): void => {
    container.lastEnd = ended;
    container.restarts++;
    run.start(container);
    report();
  };

  /** Stopped and started by the kubelet itself, which need not notice anything first. */
  const restartNow = (container: ContainerRuntime): void => {
    if (container.state.kind !== 'running') return;
    const ended = { exitCode: 0, reason: 'Completed', finishedAtMillis: clock.now(), run: container.restarts };
    runAgain(container, { ...ended, startedAtMillis: container.state.startedAtMillis });
  };

  /** A later, shorter grace period moves the end forward, never back. */
  const stop = (): void => {
    const graceMillis =
      (pod.metadata?.deletionGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) *
      1000;
    const { stopMillis } = behaviour;
    const isKilled = stopMillis === 'never' || stopMillis > graceMillis;
    const hasRun = containersOf(runtime).some(({ state }) => state.kind === 'running');
    const deadlineMillis = clock.now() + (hasRun ? (isKilled ? graceMillis : stopMillis) : 0);
    if (stopping !== undefined && stopping.deadlineMillis <= deadlineMillis) return;
    stopping?.timer.cancel();
    const timer = after(deadlineMillis - clock.now(), () => void finish(isKilled));
    stopping = { deadlineMillis, timer };
  };

  const finish = async (isKilled: boolean): Promise<void> => {
    for (const container of containersOf(runtime)) {
      if (container.state.kind === 'running') end(container, isKilled ? KILLED : 0, isKilled ? 'Error' : 'Completed');
    }
    await reporter.report();
    await remove();
  };

  /** The kubelet's last word: the object itself goes. */
  const remove = async (): Promise<void> => {
    if (isClosed) return;
    try {
      const call = { namespace: namespaceOf(pod), uid: uidOf(pod), gracePeriodSeconds: 0 };
      await api.delete(resources.pods, nameOf(pod), call);
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return;
      log.warn({ pod: keyOf(pod), error }, 'Removing an ended pod failed; it will be tried again');
      after(DELETE_RETRY_MILLIS, () => void remove());
    }
  };

  const close = (): void => {
    isClosed = true;
    reporter.close();
    for (const timer of timers) timer.cancel();
    timers.clear();
  };

  if (pod.metadata?.deletionTimestamp !== undefined) stop();
  else {
    report();
    if (adopted === undefined) after(behaviour.startMillis, start);
    else {
      const reported = findCondition(first.status?.conditions, 'ContainersReady')?.lastTransitionTime;
      for (const container of containersOf(runtime)) run.goOn(container, timeOf(reported));
    }
  }

  return {
    update(next) {
      const previous = pod;
      pod = next;
      if (next.metadata?.deletionTimestamp !== undefined) stop();
      else if (!isSameSpec(previous, next)) {
        runtime.observedGeneration = next.metadata?.generation;
        after(RESIZE_NOTICED_MILLIS, resizer.review);
      }
      // A readiness gate is somebody else's condition, but the kubelet derives Ready from it.
      if ((next.spec?.readinessGates ?? []).length > 0) report();
    },
    endContainer(name, exitCode, reason) {
      const container = find(name);
      if (container !== undefined) end(container, exitCode, reason);
    },
    retryResize: resizer.retryDeferred,
    useMemory(name, bytes) {
      const container = find(name);
      if (container === undefined) return;
      container.memoryBytes = bytes;
      const limit = amountsOf(container.resources.limits).get('memory') ?? Number.POSITIVE_INFINITY;
      if (bytes > limit) end(container, KILLED, 'OOMKilled');
    },
    setReady(name, isReady) {
      const container = find(name);
      if (container?.state.kind === 'running') container.isReady = isReady;
      report();
    },
    shutDown(reason, message) {
      if (runtime.verdict !== undefined) return;
      runtime.verdict = { reason, message };
      for (const container of containersOf(runtime)) end(container, 0, 'Completed');
      report();
    },
    pod: () => pod,
    containers: containersOf(runtime),
    held: () => heldAmounts(containersOf(runtime)),
    close,
  };
}
