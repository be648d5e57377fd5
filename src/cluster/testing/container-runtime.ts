/** Containers for tests of what a kubelet does with one. */
import type { ContainerRuntime } from '../kubelet/pod-status.ts';

/** Of a pod that was bound a moment ago. */
export function containerToStart(): ContainerRuntime {
  return {
    name: 'app',
    image: 'app:1',
    state: { kind: 'waiting', reason: 'ContainerCreating' },
    lastEnd: undefined,
    restarts: 0,
    isReady: false,
    resources: {},
    allocated: undefined,
    memoryBytes: 0,
  };
}
