/** Gives machines back that nothing has run on for a while. */
import { controllerOf } from '../objects.ts';
import { isFinished } from '../pod-state.ts';
import type { AutoscalerScope } from './autoscaler-scope.ts';
import type { Machine } from './fleet.ts';
import type { Machines } from './machines.ts';
import { leavingTaintOf } from './node-pool.ts';
import { setTaint } from './reclaim.ts';

export interface Emptiness {
  /** Something may have come to the node, or left it. */
  watch(nodeName: string): void;
}

/** @param emptyMillis how long a node has to have been without pods of its own; those of DaemonSets do not count */
export function createEmptiness(
  { context, fleet, signal, inBackground }: AutoscalerScope,
  { takeAway }: Pick<Machines, 'takeAway'>,
  emptyMillis: number,
): Emptiness {
  const { caches, clock } = context;

  const isEmpty = (name: string): boolean =>
    ![...caches.podsOnNode(name)].some((pod) => !isFinished(pod) && controllerOf(pod)?.kind !== 'DaemonSet');

  const isSpare = ({ pool }: Machine): boolean => fleet.namesOf(pool.name).length > (pool.minNodes ?? 0);

  const remove = async (name: string, machine: Machine): Promise<void> => {
    machine.emptiness = undefined;
    if (machine.isLeaving || !isEmpty(name) || !isSpare(machine)) return;
    machine.isLeaving = true;
    const taint = leavingTaintOf(machine.pool.profile ?? 'karpenter');
    await setTaint(context, name, taint, true, signal);
    // A pod may have been bound in the meantime: then the node stays.
    if (!isEmpty(name)) {
      machine.isLeaving = false;
      await setTaint(context, name, taint, false, signal);
      return;
    }
    await takeAway(name, machine);
  };

  return {
    watch(name) {
      const machine = fleet.get(name);
      if (machine === undefined || !machine.hasJoined || machine.isLeaving) return;
      if (!isEmpty(name)) {
        machine.emptiness?.cancel();
        machine.emptiness = undefined;
      } else if (isSpare(machine)) {
        machine.emptiness ??= clock.setTimer(emptyMillis, () => inBackground(remove(name, machine)));
      }
    },
  };
}
