/** What the cloud does to machines: takes spot ones back after a notice, and lets any die without one. */
import { resources } from '../../api/resources.ts';
import { sleep } from '../../lib/clock.ts';
import type { Autoscaler, AutoscalerOptions } from './autoscaler-api.ts';
import type { AutoscalerScope } from './autoscaler-scope.ts';
import type { Machine } from './fleet.ts';
import type { Machines } from './machines.ts';
import { leavingTaintOf, noticeMillisOf } from './node-pool.ts';
import { drain, recordInterruption, setTaint } from './reclaim.ts';

/** From the end of a machine to the removal of its Node object by the cloud's controller. */
const NODE_REMOVAL_MILLIS = 5000;
/** From the death of a machine without notice to that: the cloud's controller asks about nodes that fell silent. */
const UNREACHABLE_REMOVAL_MILLIS = 60_000;
const MILLIS_PER_HOUR = 3_600_000;

export interface Interruptions extends Pick<Autoscaler, 'interrupt' | 'storm' | 'loseNode' | 'interruptions'> {
  /** The machine has joined: from now on the cloud may want it back. */
  arm(name: string, machine: Machine): void;
}

export function createInterruptions(
  { context, fleet, provider, signal, inBackground }: AutoscalerScope,
  { takeAway }: Pick<Machines, 'takeAway'>,
  onInterruption: NonNullable<AutoscalerOptions['onInterruption']>,
): Interruptions {
  const { caches, clock, random } = context;
  const nodes = caches.of(resources.nodes);
  let count = 0;

  const interruptIn = (delayMillis: number, name: string, machine: Machine): void => {
    machine.interruption = clock.setTimer(delayMillis, () => inBackground(interrupt(name)));
  };

  const interrupt = async (name: string): Promise<void> => {
    const machine = fleet.get(name);
    if (machine === undefined || machine.isLeaving || !machine.hasJoined) return;
    machine.isLeaving = true;
    count++;
    machine.interruption?.cancel();
    const noticeMillis = noticeMillisOf(machine.pool.profile ?? 'karpenter');
    const deadline = new AbortController();
    // The cloud takes the machine when the time is over, whatever becomes of the notice.
    inBackground(giveNotice(name, machine, AbortSignal.any([deadline.signal, signal])));
    try {
      await sleep(clock, noticeMillis, signal);
      deadline.abort();
      provider.loseNode(name);
      await sleep(clock, NODE_REMOVAL_MILLIS, signal);
      await takeAway(name, machine);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };

  const giveNotice = async (name: string, machine: Machine, untilDeadline: AbortSignal): Promise<void> => {
    const node = nodes.get(name);
    await setTaint(context, name, leavingTaintOf(machine.pool.profile ?? 'karpenter'), true, untilDeadline);
    if (node !== undefined) await recordInterruption(context, node);
    if (onInterruption === 'drain') await drain(context, name, untilDeadline);
  };

  const removeUnreachable = async (name: string, machine: Machine): Promise<void> => {
    await sleep(clock, UNREACHABLE_REMOVAL_MILLIS, signal);
    await takeAway(name, machine);
  };

  return {
    interrupt,
    /** Interruptions are a Poisson process, so the time to the next is exponentially distributed. */
    arm(name, machine) {
      const rate = machine.pool.class === 'spot' ? (machine.pool.interruptionsPerHour ?? 0) : 0;
      if (rate > 0) interruptIn((-Math.log(1 - random.next()) / rate) * MILLIS_PER_HOUR, name, machine);
    },
    storm({ pool, share, withinMillis }) {
      const candidates = fleet
        .all()
        .filter(
          ([, machine]) =>
            machine.pool.class === 'spot' && !machine.isLeaving && (pool === undefined || machine.pool.name === pool),
        );
      const hit = candidates.filter(() => random.next() < share);
      for (const [name, machine] of hit) {
        machine.interruption?.cancel();
        interruptIn(random.next() * withinMillis, name, machine);
      }
      return hit.map(([name]) => name);
    },
    loseNode(name) {
      const machine = fleet.get(name);
      if (machine === undefined || !machine.hasJoined) return;
      machine.isLeaving = true;
      machine.interruption?.cancel();
      provider.loseNode(name);
      inBackground(removeUnreachable(name, machine));
    },
    interruptions: () => count,
  };
}
