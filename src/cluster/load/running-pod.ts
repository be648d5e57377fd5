/** What the load model sees of a pod that runs on a simulated node. */
import type { Pod } from '../../api/core.ts';
import type { ContainerRuntime } from '../kubelet/pod-status.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

export interface RunningPod {
  readonly pod: Pod;
  readonly qosClass: QosClass;
  /** Those with a process right now, sidecars included. */
  readonly containers: readonly ContainerRuntime[];
}

export function qosClassOf(pod: Pod): QosClass {
  const { qosClass } = pod.status ?? {};
  return qosClass === 'Guaranteed' || qosClass === 'BestEffort' ? qosClass : 'Burstable';
}
