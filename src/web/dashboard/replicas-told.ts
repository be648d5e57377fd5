/** Sizes that replicas have each for itself, as the dashboard shows them. */
import { requestOf } from '../../decide/rightsizing/recommend-workload.ts';
import { floorText, type ReplicaTold } from '../../decide/rightsizing/replica-text.ts';
import { byReplica } from '../../model/replica.ts';
import type { ReplicaSizeTold } from './workload-answer.ts';

/** By ordinal, or by the name of the node. */
export function replicasTold(replicas: readonly ReplicaTold[]): readonly ReplicaSizeTold[] {
  return replicas
    .toSorted((a, b) => byReplica(a.replica, b.replica))
    .map(({ replica, pod, state, isKnown, inForce, advice }) => ({
      replica,
      pod,
      size: state !== undefined ? 'own' : isKnown ? 'of-all' : 'unknown',
      changedAt: state?.changedAt,
      isWatched: state?.before !== undefined,
      floors: (state?.lessons.floors ?? []).map(floorText),
      containers: inForce.map(({ name, size }) => {
        const own = advice.find(({ container }) => container === name);
        return {
          container: name,
          cpu: requestOf('cpu', size),
          cpuAdvised: own?.cpu.target,
          memory: requestOf('memory', size),
          memoryAdvised: own?.memory.target,
        };
      }),
    }));
}
