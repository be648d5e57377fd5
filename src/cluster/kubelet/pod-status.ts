/** The status a kubelet reports of a pod, made from what its containers are doing. Pure. */
import { hash } from 'node:crypto';
import type { Pod } from '../../api/core.ts';
import { type Condition, findCondition, timestampOf } from '../objects.ts';

export type PodStatus = NonNullable<Pod['status']>;
export type Container = NonNullable<Pod['spec']>['containers'][number];
type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
export type Resources = NonNullable<Container['resources']>;

/** The end of one process of a container. */
export interface Ended {
  readonly exitCode: number;
  /** `Completed`, `Error`, `OOMKilled`. */
  readonly reason: string;
  readonly startedAtMillis: number;
  readonly finishedAtMillis: number;
  /** Which run of the container it was, from 0. */
  readonly run: number;
}

/** `waiting` before the first start and in CrashLoopBackOff; `terminated` for good, or until the next start is due. */
export type ContainerState =
  | { readonly kind: 'waiting'; readonly reason: string; readonly message?: string }
  | { readonly kind: 'running'; readonly startedAtMillis: number }
  | ({ readonly kind: 'terminated' } & Ended);

/** What a simulated container runtime knows of a container; the pod worker alone changes it. */
export interface ContainerRuntime {
  readonly name: string;
  readonly image: string;
  state: ContainerState;
  lastEnd: Ended | undefined;
  restarts: number;
  isReady: boolean;
  /** What the container holds now; differs from the spec while a resize is pending. */
  resources: Resources;
  allocated: Resources['requests'];
  /** Memory in use, by order of a test or scenario. */
  memoryBytes: number;
}

/** What the kubelet knows of a pod beyond its object: the status is made from it, never the other way round. */
export interface PodRuntime {
  readonly startedAtMillis: number;
  readonly hostIp: string;
  podIp: string | undefined;
  /** Init containers are taken to be done when the regular ones start. */
  isInitialized: boolean;
  readonly containers: readonly ContainerRuntime[];
  /** Init containers that run as long as the pod (KEP-753). */
  readonly sidecars: readonly ContainerRuntime[];
  /** Set when the pod is over whatever its containers did, e.g. on node shutdown. */
  verdict: { readonly reason: string; readonly message: string } | undefined;
  /** PodResizePending and PodResizeInProgress. */
  resizeConditions: readonly { readonly type: string; readonly reason?: string; readonly message?: string }[];
  observedGeneration: number | undefined;
}

/** Everything that runs while the pod does. */
export function containersOf(runtime: PodRuntime): readonly ContainerRuntime[] {
  return [...runtime.containers, ...runtime.sidecars];
}

/**
 * Taken out of the status when they no longer hold, as the kubelet does; all other conditions stay. Source: KEP-1287.
 */
export const RESIZE_CONDITIONS = ['PodResizePending', 'PodResizeInProgress'] as const;

/** Conditions keep their transition time from `pod.status` where their status stays. */
export function podStatus(pod: Pod, runtime: PodRuntime, nowMillis: number): PodStatus {
  const phase = phaseOf(pod, runtime);
  const { podIp } = runtime;
  const initStatuses = (pod.spec?.initContainers ?? []).map((container) => initStatus(pod, container, runtime));
  return {
    phase,
    ...(runtime.verdict === undefined ? {} : runtime.verdict),
    conditions: conditionsOf(pod, runtime, phase, nowMillis),
    hostIP: runtime.hostIp,
    hostIPs: [{ ip: runtime.hostIp }],
    ...(podIp === undefined ? {} : { podIP: podIp, podIPs: [{ ip: podIp }] }),
    startTime: timestampOf(runtime.startedAtMillis),
    ...(initStatuses.length === 0 ? {} : { initContainerStatuses: initStatuses }),
    containerStatuses: runtime.containers.map((container) => containerStatus(pod, container)),
    ...(runtime.observedGeneration === undefined ? {} : { observedGeneration: runtime.observedGeneration }),
  };
}

/** Source: pkg/kubelet/kubelet_pods.go `getPhase`. */
function phaseOf(pod: Pod, runtime: PodRuntime): string {
  if (runtime.verdict !== undefined) return 'Failed';
  const states = runtime.containers.map(({ state }) => state);
  if (states.some((state) => state.kind === 'running')) return 'Running';
  const ended = states.filter((state) => state.kind === 'terminated');
  if (ended.length === states.length && states.length > 0) {
    if (
      willRestart(
        pod,
        ended.some((state) => state.exitCode !== 0),
      )
    )
      return 'Running';
    return ended.every((state) => state.exitCode === 0) ? 'Succeeded' : 'Failed';
  }
  // Waiting after a crash is still a running pod; waiting for the first start is a pending one.
  return runtime.containers.some((container) => container.lastEnd !== undefined) ? 'Running' : 'Pending';
}

/** Whether an ended container is started again. */
export function willRestart(pod: Pod, hasFailed: boolean): boolean {
  const policy = pod.spec?.restartPolicy ?? 'Always';
  return (
    pod.metadata?.deletionTimestamp === undefined && (policy === 'Always' || (policy === 'OnFailure' && hasFailed))
  );
}

function conditionsOf(pod: Pod, runtime: PodRuntime, phase: string, nowMillis: number): Condition[] {
  const unready = containersOf(runtime)
    .filter((container) => !container.isReady)
    .map(({ name }) => name);
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const notReady = isOver
    ? { reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed' }
    : { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
  const areContainersReady = !isOver && unready.length === 0;
  const failedGate = (pod.spec?.readinessGates ?? []).find(
    ({ conditionType }) => findCondition(pod.status?.conditions, conditionType)?.status !== 'True',
  );
  const gate = failedGate && {
    reason: 'ReadinessGatesNotReady',
    message: `corresponding condition of pod readiness gate "${failedGate.conditionType}" does not exist or is not True.`,
  };
  const condition = (type: string, isTrue: boolean, text: { reason?: string; message?: string } = {}): Condition => {
    const status = isTrue ? 'True' : 'False';
    const previous = findCondition(pod.status?.conditions, type);
    const since = previous?.status === status ? previous.lastTransitionTime : undefined;
    const { observedGeneration } = runtime;
    return {
      type,
      status,
      ...text,
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
      lastTransitionTime: since ?? timestampOf(nowMillis),
    };
  };
  return [
    condition('PodReadyToStartContainers', runtime.podIp !== undefined && !isOver),
    condition('Initialized', runtime.isInitialized, runtime.isInitialized ? {} : initializing(pod)),
    condition('Ready', areContainersReady && gate === undefined, areContainersReady ? (gate ?? {}) : notReady),
    condition('ContainersReady', areContainersReady, areContainersReady ? {} : notReady),
    condition('PodScheduled', true),
    ...runtime.resizeConditions.map(({ type, ...text }) => condition(type, true, text)),
  ];
}

function initializing(pod: Pod): { reason: string; message: string } {
  const names = (pod.spec?.initContainers ?? []).map(({ name }) => name);
  return { reason: 'ContainersNotInitialized', message: `containers with incomplete status: [${names.join(' ')}]` };
}

function containerStatus(pod: Pod, container: ContainerRuntime): ContainerStatus {
  const { state, lastEnd, resources, allocated } = container;
  const idOf = (run: number): string => containerIdOf(pod, container.name, run);
  const hasStarted = state.kind !== 'waiting' || lastEnd !== undefined;
  const containerID = hasStarted ? idOf(container.restarts) : '';
  return {
    name: container.name,
    image: container.image,
    imageID: hasStarted ? container.image : '',
    ready: container.isReady,
    started: state.kind === 'running',
    restartCount: container.restarts,
    state: stateOf(state, containerID),
    lastState: lastEnd === undefined ? {} : { terminated: endedOf(lastEnd, idOf(lastEnd.run)) },
    ...(hasStarted ? { containerID, resources } : {}),
    ...(hasStarted && allocated !== undefined ? { allocatedResources: allocated } : {}),
  };
}

/** Sidecars run as long as the pod; the others are done once the pod is initialized. */
function initStatus(pod: Pod, container: Container, runtime: PodRuntime): ContainerStatus {
  const sidecar = runtime.sidecars.find(({ name }) => name === container.name);
  if (sidecar !== undefined) return containerStatus(pod, sidecar);
  const done: Ended = {
    exitCode: 0,
    reason: 'Completed',
    startedAtMillis: runtime.startedAtMillis,
    finishedAtMillis: runtime.startedAtMillis,
    run: 0,
  };
  const state: ContainerState = runtime.isInitialized
    ? { kind: 'terminated', ...done }
    : { kind: 'waiting', reason: 'PodInitializing' };
  const containerID = containerIdOf(pod, container.name, 0);
  return {
    name: container.name,
    image: container.image ?? '',
    imageID: container.image ?? '',
    ready: runtime.isInitialized,
    restartCount: 0,
    started: false,
    state: stateOf(state, containerID),
  };
}

function containerIdOf(pod: Pod, container: string, restarts: number): string {
  return `simulated://${containerHashOf(pod, container, restarts)}`;
}

/** 64 hexadecimal digits, as container runtimes name containers; another run of it is another container. */
export function containerHashOf(pod: Pod, container: string, restarts: number): string {
  return hash('sha256', `${pod.metadata?.uid ?? ''}/${container}/${restarts}`);
}

function stateOf(state: ContainerState, containerID: string): NonNullable<ContainerStatus['state']> {
  switch (state.kind) {
    case 'waiting':
      return { waiting: { reason: state.reason, ...(state.message === undefined ? {} : { message: state.message }) } };
    case 'running':
      return { running: { startedAt: timestampOf(state.startedAtMillis) } };
    case 'terminated':
      return { terminated: endedOf(state, containerID) };
  }
}

function endedOf(ended: Ended, containerID: string) {
  return {
    exitCode: ended.exitCode,
    reason: ended.reason,
    startedAt: timestampOf(ended.startedAtMillis),
    finishedAt: timestampOf(ended.finishedAtMillis),
    containerID,
  };
}
