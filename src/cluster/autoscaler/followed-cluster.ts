/** The nodes and the pods on them for the autoscaler to plan in, kept up to date: a pass takes in what changed since the last one. */
import type { Pod } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import type { Caches } from '../caches.ts';
import { nameOf, uidOf } from '../objects.ts';
import { isFinished } from '../pod-state.ts';
import { type ClusterState, createClusterState } from '../scheduler/cluster-state.ts';
import type { PodInfo } from '../scheduler/pod-info.ts';

/** Returns the state as of now. Whoever tries something in it takes it back. */
export function followCluster(caches: Caches, infoOf: (pod: Pod) => PodInfo): () => ClusterState {
  const cluster = createClusterState(() => caches.of(resources.namespaces).all());
  /** The newest versions of pods that changed since the state was last asked for, by uid; undefined for those that are gone. */
  const changed = new Map<string, Pod | undefined>();

  caches.of(resources.nodes).onChange((before, after) => {
    if (after !== undefined) cluster.putNode(after);
    else if (before !== undefined) cluster.removeNode(nameOf(before));
  });
  const onGone = (uid: string): void => {
    if (cluster.nodeOf(uid) === undefined) changed.delete(uid);
    else changed.set(uid, undefined);
  };
  caches.of(resources.pods).onChange((before, after) => {
    if (after !== undefined) changed.set(uidOf(after), after);
    else if (before !== undefined) onGone(uidOf(before));
  });

  return () => {
    for (const [uid, pod] of changed) {
      const nodeName = pod === undefined || isFinished(pod) ? undefined : pod.spec?.nodeName;
      if (pod === undefined || nodeName === undefined) cluster.removePod(uid);
      else cluster.putPod(infoOf(pod), nodeName);
    }
    changed.clear();
    return cluster;
  };
}
