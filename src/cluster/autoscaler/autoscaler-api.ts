/** What the autoscaler stand-in is given and what it can be told to do. */
import type { NodeSpec } from '../kubelet/node-object.ts';
import type { StandIn } from '../stand-in.ts';
import type { NodePool } from './node-pool.ts';

/** Who makes machines: the kubelet stand-in. */
export interface MachineProvider {
  addNode(spec: NodeSpec): Promise<void>;
  loseNode(name: string): void;
}

export interface AutoscalerOptions {
  readonly pools: readonly NodePool[];
  readonly machines: MachineProvider;
  /** Waiting pods are gathered this long before machines are asked for. Default 1 s. */
  readonly batchMillis?: number;
  /** A node without pods of its own is removed after this time. Default 60 s. */
  readonly emptyMillis?: number;
  /** What happens on an interruption notice: pods are evicted in time, or left to be lost. Default `drain`. */
  readonly onInterruption?: 'drain' | 'ignore';
}

export interface Autoscaler extends StandIn {
  /** Gives notice of an interruption and takes the node when it is over. Resolves when the node is gone. */
  interrupt(nodeName: string): Promise<void>;
  /** Interrupts a share (0..1) of the spot nodes of a pool, or of all pools, each at a random moment within the time. */
  storm(options: { readonly pool?: string; readonly share: number; readonly withinMillis: number }): string[];
  /** Opens or closes a pool at the cloud, in one zone or all. */
  setPoolAvailability(pool: string, isAvailable: boolean, zone?: string): void;
  nodesOf(pool: string): readonly string[];
  /** The machine dies at once, without notice; the cloud's controller removes its Node object a little later. */
  loseNode(name: string): void;
  /** Interruptions so far. */
  interruptions(): number;
  /** Time that nodes of each pool have been paid for so far, by pool name, in hours. */
  nodeHours(): ReadonlyMap<string, number>;
  /** Cost of all nodes so far, in the currency of the pools' prices. */
  cost(): number;
}
