/** The autoscaler's machines: asked for, joined, leaving, and what they have cost. */
import type { Node } from '../../api/core.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import { nameOf } from '../objects.ts';
import type { NodePool } from './node-pool.ts';

export interface Machine {
  readonly pool: NodePool;
  readonly node: Node;
  /** Paid for from this moment, which is when it was asked for. */
  readonly sinceMillis: number;
  hasJoined: boolean;
  isLeaving: boolean;
  /** When the cloud will take it back. */
  interruption: Timer | undefined;
  /** When it has been empty for long enough. */
  emptiness: Timer | undefined;
}

/** Counts money and hours for machines from being asked for to being given back. */
export interface Fleet {
  add(pool: NodePool, node: Node): Machine;
  get(name: string): Machine | undefined;
  all(): [string, Machine][];
  /** Nodes of a pool, coming ones included, leaving ones not. */
  namesOf(pool: string): string[];
  /** Nodes asked for that have not joined yet. */
  coming(): Node[];
  /** The machine is given back: it costs nothing more. */
  forget(name: string): void;
  /** Sum over all machines ever of time times price. */
  cost(): number;
  /** Sum over all machines ever of the time paid for, in hours, by pool. */
  nodeHours(): ReadonlyMap<string, number>;
  cancelTimers(): void;
}

const MILLIS_PER_HOUR = 3_600_000;

export function createFleet(clock: Clock): Fleet {
  const machines = new Map<string, Machine>();
  let paid = 0;
  const hoursPaid = new Map<string, number>();
  const hoursOf = ({ sinceMillis }: Machine): number => (clock.now() - sinceMillis) / MILLIS_PER_HOUR;
  const costOf = (machine: Machine): number => hoursOf(machine) * machine.pool.pricePerHour;
  const addHours = (hours: Map<string, number>, machine: Machine): void => {
    hours.set(machine.pool.name, (hours.get(machine.pool.name) ?? 0) + hoursOf(machine));
  };
  const cancel = (machine: Machine): void => {
    machine.interruption?.cancel();
    machine.emptiness?.cancel();
  };
  return {
    add(pool, node) {
      const machine: Machine = {
        pool,
        node,
        sinceMillis: clock.now(),
        hasJoined: false,
        isLeaving: false,
        interruption: undefined,
        emptiness: undefined,
      };
      machines.set(nameOf(node), machine);
      return machine;
    },
    get: (name) => machines.get(name),
    all: () => [...machines],
    namesOf: (pool) =>
      [...machines].filter(([, each]) => each.pool.name === pool && !each.isLeaving).map(([name]) => name),
    coming: () => [...machines.values()].filter(({ hasJoined }) => !hasJoined).map(({ node }) => node),
    forget(name) {
      const machine = machines.get(name);
      if (machine === undefined) return;
      cancel(machine);
      paid += costOf(machine);
      addHours(hoursPaid, machine);
      machines.delete(name);
    },
    cost: () => [...machines.values()].reduce((sum, machine) => sum + costOf(machine), paid),
    nodeHours() {
      const hours = new Map(hoursPaid);
      for (const machine of machines.values()) addHours(hours, machine);
      return hours;
    },
    cancelTimers() {
      for (const machine of machines.values()) cancel(machine);
    },
  };
}
