/** What the kubelet stand-in is given and what it can be told to do. */
import type { Millicores } from '../../lib/units.ts';
import type { ContainerUsage } from '../load/container-usage.ts';
import type { StandIn } from '../stand-in.ts';
import type { BehaviourDefaults } from './behaviour.ts';
import type { EndpointOptions } from './endpoint.ts';
import type { LoadOptions } from './kubelet-load.ts';
import type { NodeSpec } from './node-object.ts';
import type { NodeUsage } from './node-usage.ts';

/** How all nodes behave; what a single pod does differently its annotations say (behaviour.ts). */
export interface KubeletOptions {
  readonly behaviour?: Partial<BehaviourDefaults>;
  /** Renew each node's Lease every 10 s, which a real control plane expects. Default false: costly in virtual time. */
  readonly heartbeats?: boolean;
  /** Take the not-ready taint off a ready node, where no node lifecycle controller does. Default true. */
  readonly removesNotReadyTaint?: boolean;
  /** From accepting an in-place resize to having done it. Default 45 ms, as measured on a real node. */
  readonly resizeMillis?: number;
  /** How the load that pods ask for by annotation is followed (`load/pod-load.ts`). */
  readonly load?: LoadOptions;
  /** Serve each node's metrics on a port of its own, which its Node object names. Default: none is served. */
  readonly endpoints?: EndpointOptions;
}

/** Told when a node's kubelet falls silent or speaks again; stands for missed heartbeats where none are sent. */
export type LivenessListener = (nodeName: string, isAlive: boolean) => void;

/** One stand-in for the kubelets of all nodes. Pod keys are `namespace/name`. */
export interface Kubelet extends StandIn {
  /** Registers a node, ready to take pods. A node of that name that exists already is taken over. */
  addNode(spec: NodeSpec): Promise<void>;
  /** The machine is gone or cut off: its pods stop at once and nothing is reported any more. The Node object stays. */
  loseNode(name: string): void;
  /** A lost node comes back and goes on with the pods still bound to it; not one whose Node object was deleted. */
  recoverNode(name: string): Promise<void>;
  /** Graceful shutdown: the node is not ready and its pods end as Failed. The kubelet speaks on until {@link loseNode}. */
  shutDownNode(name: string): Promise<void>;
  /** Kills a container as the kernel does when it is out of memory. False when no such pod runs here. */
  oomKill(podKey: string, container: string): boolean;
  /** Ends a container's process. False when no such pod runs here. */
  endContainer(podKey: string, container: string, exitCode: number): boolean;
  /** Lets a container use this much memory; past its limit it is killed. False when no such pod runs here. */
  useMemory(podKey: string, container: string, bytes: number): boolean;
  /** Lets a container's readiness probe succeed or fail. False when no such pod runs here. */
  setReady(podKey: string, container: string, isReady: boolean): boolean;
  /** What each running container of a node has used until now; empty for a node that is not there. */
  usages(nodeName: string): readonly ContainerUsage[];
  /** The same with the node around it; undefined for one that is not there or cut off. */
  usage(nodeName: string): NodeUsage | undefined;
  /**
   * CPU its containers got when somebody last looked (the load's own beat does, every 15 s). Unlike {@link usages}, asking moves no
   * counter. Undefined where no container has a load, and for a node that is not there or cut off.
   */
  cpuInUse(nodeName: string): Millicores | undefined;
  onLiveness(listener: LivenessListener): void;
  isAlive(nodeName: string): boolean;
}
