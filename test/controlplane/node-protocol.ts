/** What the test process and the process of the simulated nodes say to each other, over Node's channel between parent and child. */
import type { NodePool } from '../../src/cluster/autoscaler/node-pool.ts';
import type { NodeSpec } from '../../src/cluster/kubelet/node-object.ts';
import type { SeenPlan } from '../../src/simulator/simulated-agents.ts';

export interface NodeAgentSettings {
  readonly kubeconfigPath: string;
  readonly nodes: readonly NodeSpec[];
  /** Pools an autoscaler makes further nodes from; without any, none is started. */
  readonly pools: readonly NodePool[];
  /** Container start, in milliseconds. */
  readonly startMillis: number;
  readonly stopMillis: number;
  /** Take the not-ready taint off new nodes: where the control plane runs no node lifecycle controller. */
  readonly removesNotReadyTaint: boolean;
  /** Serve each kubelet's metrics over HTTPS at the port its Node object names, as metrics-server and Prometheus read them. */
  readonly servesMetrics: boolean;
}

export type NodeCommand =
  | { readonly name: 'start'; readonly settings: NodeAgentSettings }
  | { readonly name: 'addNode'; readonly spec: NodeSpec }
  | { readonly name: 'loseNode' | 'recoverNode' | 'shutDownNode' | 'interrupt'; readonly node: string }
  | {
      /** A node agent of allocation on this node, with settings as its environment gives them. */
      readonly name: 'startAgent';
      readonly node: string;
      readonly env: Readonly<Record<string, string>>;
      /** Of its account. */
      readonly kubeconfigPath: string;
    }
  | { readonly name: 'killAgent' | 'cutOffAgent' | 'agentPlans'; readonly node: string }
  | { readonly name: 'oomKill'; readonly podKey: string; readonly container: string }
  | { readonly name: 'endContainer'; readonly podKey: string; readonly container: string; readonly exitCode: number }
  | { readonly name: 'stop' };

export interface NodeRequest {
  readonly id: number;
  readonly command: NodeCommand;
}

export interface NodeReply {
  readonly id: number;
  /** Absent: done. */
  readonly error?: string;
  readonly value?: boolean | readonly SeenPlan[];
}

export function isNodeReply(value: unknown): value is NodeReply {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'number';
}

export function isNodeRequest(value: unknown): value is NodeRequest {
  return isNodeReply(value) && 'command' in value;
}
