/** The state a pod worker starts from: nothing running yet, or what an earlier kubelet left running. Pure. */
import type { Pod } from '../../api/core.ts';
import { timeOf } from '../objects.ts';
import type { ContainerRuntime, ContainerState, PodRuntime } from './pod-status.ts';

export function newRuntime(pod: Pod, hostIp: string, nowMillis: number): PodRuntime {
  const hasInit = (pod.spec?.initContainers ?? []).length > 0;
  return {
    startedAtMillis: nowMillis,
    hostIp,
    podIp: undefined,
    isInitialized: !hasInit,
    containers: (pod.spec?.containers ?? []).map(
      ({ name, image = '', resources = {} }): ContainerRuntime => ({
        name,
        image,
        state: { kind: 'waiting', reason: hasInit ? 'PodInitializing' : 'ContainerCreating' },
        lastEnd: undefined,
        restarts: 0,
        isReady: false,
        resources,
        allocated: resources.requests,
      }),
    ),
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
  return {
    ...fresh,
    podIp: status.podIP,
    isInitialized: true,
    containers: fresh.containers.map((container): ContainerRuntime => {
      const known = statuses.find(({ name }) => name === container.name);
      const runningSince = timeOf(known?.state?.running?.startedAt) ?? startedAtMillis;
      const state: ContainerState = { kind: 'running', startedAtMillis: runningSince };
      return {
        ...container,
        state,
        restarts: known?.restartCount ?? 0,
        isReady: known?.ready ?? false,
        resources: known?.resources ?? container.resources,
        allocated: known?.allocatedResources ?? container.allocated,
      };
    }),
  };
}
