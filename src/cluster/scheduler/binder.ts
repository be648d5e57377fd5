/** Binds pods to the nodes chosen for them. Each counts there from that moment, not only once it is seen there. */
import type { Pod } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { isNotFound } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import type { Logger } from '../../lib/log.ts';
import type { ObjectCache } from '../caches.ts';
import { keyOf, nameOf, namespaceOf } from '../objects.ts';
import type { ClusterState, NodeState } from './cluster-state.ts';
import type { PodInfo } from './pod-info.ts';

export interface BinderOptions {
  readonly api: Pick<KubeApi, 'createSubresource'>;
  readonly pods: Pick<ObjectCache<Pod>, 'get'>;
  readonly cluster: Pick<ClusterState, 'putPod' | 'removePod'>;
  readonly log: Pick<Logger, 'warn'>;
  /** A pod was not bound, as far as is known: its room is free again. */
  readonly onFailed: () => void;
}

export interface Binder {
  bind(info: PodInfo, node: Pick<NodeState, 'name'>): Promise<void>;
  /** Whether a node was chosen for the pod on which it has not been seen yet. */
  isBinding(uid: string): boolean;
  /** The pod was seen on a node, or is gone. */
  settle(uid: string): void;
}

export function createBinder({ api, pods, cluster, log, onFailed }: BinderOptions): Binder {
  const binding = new Set<string>();
  return {
    async bind(info, { name: nodeName }) {
      const { pod, uid } = info;
      const namespace = namespaceOf(pod);
      binding.add(uid);
      cluster.putPod(info, nodeName);
      const target = { apiVersion: 'v1', kind: 'Node', name: nodeName };
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: nameOf(pod), namespace, uid }, target };
      try {
        await api.createSubresource(resources.pods, nameOf(pod), 'binding', body, { namespace });
      } catch (error) {
        binding.delete(uid);
        if (pods.get(keyOf(pod))?.spec?.nodeName === undefined) cluster.removePod(uid);
        if (!isNotFound(error))
          log.warn({ pod: keyOf(pod), node: nodeName, error }, 'Binding a pod failed; it will be tried again');
        onFailed();
      }
    },
    isBinding: (uid) => binding.has(uid),
    settle: (uid) => void binding.delete(uid),
  };
}
