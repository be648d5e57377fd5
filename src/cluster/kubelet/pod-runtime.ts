/** The state a pod worker starts from: nothing running yet, or what an earlier kubelet left running. Pure. */
import type { Pod } from '../../api/core.ts';
import { timeOf } from '../objects.ts';
import type { Container, ContainerRuntime, ContainerState, PodRuntime } from './pod-status.ts';

/** Nothing runs yet. What is allocated is what the spec asks for: a pod is admitted with its requests. */
export function newRuntime(pod: Pod, hostIp: string, nowMillis: number): PodRuntime {
  const inits = pod.spec?.initContainers ?? [];
  const hasInit = inits.length > 0;
  const atRest = ({ name, image = '', resources = {} }: Container): ContainerRuntime => ({
    name,
    image,
    state: { kind: 'waiting', reason: hasInit ? 'PodInitializing' : 'ContainerCreating' },
    lastEnd: undefined,
    restarts: 0,
    isReady: false,
    resources,
    allocated: resources.requests,
    memoryBytes: 0,
  });
  return {
    startedAtMillis: nowMillis,
    hostIp,
    podIp: undefined,
    isInitialized: !hasInit,
    containers: (pod.spec?.containers ?? []).map(atRest),
    sidecars: inits.filter(({ restartPolicy }) => restartPolicy === 'Always').map(atRest),
    verdict: undefined,
    resizeConditions: [],
    observedGeneration: pod.metadata?.generation,
  };
}

/** Takes over a pod whose containers an earlier run of the stand-in had started; undefined when there is none. */
export function adoptRuntime(pod: Pod, hostIp: string): PodRuntime | undefined {
  const { status } = pod;
  const statuses = status?.containerStatuses ?? [];
  if (status?.phase !== 'Running' || !statuses.some(({ state }) => state?.running !== undefined)) return undefined;
  const startedAtMillis = timeOf(status.startTime) ?? 0;
  const fresh = newRuntime(pod, hostIp, startedAtMillis);
  const known = [...statuses, ...(status.initContainerStatuses ?? [])];
  const takeOver = (container: ContainerRuntime): ContainerRuntime => {
    const found = known.find(({ name }) => name === container.name);
    const runningSince = timeOf(found?.state?.running?.startedAt) ?? startedAtMillis;
    const state: ContainerState = { kind: 'running', startedAtMillis: runningSince };
    return {
      ...container,
      state,
      restarts: found?.restartCount ?? 0,
      isReady: found?.ready ?? false,
      resources: found?.resources ?? container.resources,
      allocated: found?.allocatedResources ?? container.allocated,
    };
  };
  return {
    ...fresh,
    podIp: status.podIP,
    isInitialized: true,
    containers: fresh.containers.map(takeOver),
    sidecars: fresh.sidecars.map(takeOver),
  };
}
