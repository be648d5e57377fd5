/** Machines are asked for, join as nodes after a while, and are given back. Pools have their least number at all times. */
import type { Node } from '../../api/core.ts';
import { sleep } from '../../lib/clock.ts';
import { nodeObject } from '../kubelet/node-object.ts';
import { nameOf } from '../objects.ts';
import type { AutoscalerScope } from './autoscaler-scope.ts';
import type { Machine } from './fleet.ts';
import { type NodePool, nodeSpecOf } from './node-pool.ts';
import { removeNodeObject } from './reclaim.ts';

const DEFAULT_PROVISION_MILLIS = 40_000;
/** A launch takes up to this share longer or shorter than is usual for the pool. */
const PROVISION_JITTER = 0.25;
/** From a launch that failed to the next look at whether its pool is short of machines. */
const RELAUNCH_MILLIS = 10_000;

export interface MachineListener {
  onJoined(name: string, machine: Machine): void;
  onLaunchFailed(): void;
}

export interface Machines {
  /** Never the same twice. */
  nextName(pool: NodePool): string;
  /** Resolves once the node has joined, or it is known that it will not. */
  launch(pool: NodePool, zone: string, node: Node): Promise<void>;
  /** Launches what the pool is short of. @param immediately without the time that a launch takes */
  keepMinimum(pool: NodePool, immediately?: boolean): Promise<unknown>;
  /** The machine is gone for good. Resolves when its Node object is, too. */
  takeAway(name: string, machine: Machine): Promise<void>;
}

export function createMachines(
  { context, fleet, provider, signal, inBackground }: AutoscalerScope,
  listener: MachineListener,
): Machines {
  const { clock, random, log } = context;
  let sequence = 0;

  const nextName = (pool: NodePool): string => `${pool.name}-${(++sequence).toString(36).padStart(4, '0')}`;

  const launch = async (pool: NodePool, zone: string, node: Node, immediately = false): Promise<void> => {
    const name = nameOf(node);
    const machine = fleet.add(pool, node);
    const typical = pool.provisionMillis ?? DEFAULT_PROVISION_MILLIS;
    const delay = typical * (1 + PROVISION_JITTER * (2 * random.next() - 1));
    try {
      if (!immediately) await sleep(clock, delay, signal);
      await provider.addNode(nodeSpecOf(pool, zone, name));
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ node: name, pool: pool.name, error }, 'Launching a node failed');
      fleet.forget(name);
      listener.onLaunchFailed();
      inBackground(sleep(clock, RELAUNCH_MILLIS, signal).then(() => keepMinimum(pool)));
      return;
    }
    machine.hasJoined = true;
    listener.onJoined(name, machine);
  };

  const keepMinimum = (pool: NodePool, immediately = false): Promise<unknown> => {
    const missing = (pool.minNodes ?? 0) - fleet.namesOf(pool.name).length;
    const launches = Array.from({ length: Math.max(0, missing) }, (_, index) => {
      const zone = pool.zones[index % pool.zones.length] ?? '';
      return launch(pool, zone, nodeObject(nodeSpecOf(pool, zone, nextName(pool)), clock.now()), immediately);
    });
    return Promise.all(launches);
  };

  return {
    nextName,
    launch: (pool, zone, node) => launch(pool, zone, node),
    keepMinimum,
    async takeAway(name, machine) {
      provider.loseNode(name);
      fleet.forget(name);
      inBackground(keepMinimum(machine.pool));
      await removeNodeObject(context, name, signal);
    },
  };
}
