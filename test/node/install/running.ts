/** What must not change about the pods of users while Stowage is installed, changed and removed around them. */
import type { Pod } from '../../../src/api/core.ts';
import type { KubeApi } from '../../../src/api/kube-api.ts';
import { resources } from '../../../src/api/resources.ts';

export interface RunningPod {
  readonly uid: string | undefined;
  readonly node: string | undefined;
  readonly containerId: string | undefined;
  readonly restarts: number | undefined;
  /** As asked for, and as the kubelet says they are. */
  readonly resources: readonly unknown[];
}

export async function livePods(api: KubeApi, namespace: string, labelSelector?: string): Promise<Pod[]> {
  const { items } = await api.list(resources.pods, { namespace, ...(labelSelector && { labelSelector }) });
  return items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
}

/** By name. */
export async function runningPods(api: KubeApi, namespace: string): Promise<Readonly<Record<string, RunningPod>>> {
  const pods = await livePods(api, namespace);
  return Object.fromEntries(
    pods.map(({ metadata, spec, status }): [string, RunningPod] => {
      const [container] = status?.containerStatuses ?? [];
      return [
        metadata?.name ?? '',
        {
          uid: metadata?.uid,
          node: spec?.nodeName,
          containerId: container?.containerID,
          restarts: container?.restartCount,
          resources: [spec?.containers[0]?.resources, container?.resources, container?.allocatedResources],
        },
      ];
    }),
  );
}
