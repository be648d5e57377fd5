/** Starts simulated nodes for a real control plane, in a process of their own, and steers what happens to them. */
import { fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { NodePool } from '../../src/cluster/autoscaler/node-pool.ts';
import type { NodeSpec } from '../../src/cluster/kubelet/node-object.ts';
import type { SeenPlan } from '../../src/simulator/simulated-agents.ts';
import { isNodeReply, type NodeCommand, type NodeReply } from './node-protocol.ts';
import { sixNodes } from './node-specs.ts';
import { readLogTail } from './process-group.ts';

export interface NodesOptions {
  readonly kubeconfigPath: string;
  /** Where `nodes.log` is written: the control plane's run folder. */
  readonly logDirectory: string;
  /** Default: {@link sixNodes}. */
  readonly nodes?: readonly NodeSpec[];
  readonly pools?: readonly NodePool[];
  /** From binding to running containers, in milliseconds. Default 100: tests have no time. */
  readonly startMillis?: number;
  /** From SIGTERM to the end. Default 100. */
  readonly stopMillis?: number;
  /** True where the control plane runs its node lifecycle controller, which then handles the taints of nodes. */
  readonly nodeLifecycle?: boolean;
  /**
   * Serve the kubelets' metrics (`/metrics/cadvisor`, `/metrics/resource`) over HTTPS, with a certificate of their own, at
   * the port each Node object names. What pods use is said by their annotations (src/cluster/load/pod-load.ts). Default false.
   */
  readonly servesMetrics?: boolean;
}

export interface SimulatedNodes {
  addNode(spec: NodeSpec): Promise<void>;
  /** The machine is cut off: its pods stop, nothing is reported any more. The Node object stays. */
  loseNode(name: string): Promise<void>;
  recoverNode(name: string): Promise<void>;
  /** Graceful shutdown: pods end as Failed. */
  shutDownNode(name: string): Promise<void>;
  /** Spot interruption with its notice, of a node of a pool. */
  interrupt(name: string): Promise<void>;
  /** An agent of allocation (src/agent) on the node, fed by the counters of its kubelet. */
  startAgent(name: string, env: Readonly<Record<string, string>>, kubeconfigPath: string): Promise<void>;
  killAgent(name: string): Promise<void>;
  /** It runs on and reaches the API server no more. */
  cutOffAgent(name: string): Promise<void>;
  /** The plans it has made, the newest last. */
  agentPlans(name: string): Promise<readonly SeenPlan[]>;
  /** @returns false when no such pod runs. */
  oomKill(podKey: string, container: string): Promise<boolean>;
  endContainer(podKey: string, container: string, exitCode: number): Promise<boolean>;
  /** Ends the process. Node objects and pods stay as they are. */
  stop(): Promise<void>;
}

/** Resolves when the nodes are registered. @throws Error with the agent's words when they cannot be. */
export async function startNodes(options: NodesOptions): Promise<SimulatedNodes> {
  const log = openSync(join(options.logDirectory, 'nodes.log'), 'a');
  const child = fork(join(import.meta.dirname, 'node-agent.ts'), [], {
    // The test runner's own flags are not meant for this process.
    execArgv: [],
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const waiting = new Map<number, { done: (reply: NodeReply) => void; fail: (error: Error) => void }>();
  let lastId = 0;
  child.on('message', (message) => {
    if (!isNodeReply(message)) return;
    waiting.get(message.id)?.done(message);
    waiting.delete(message.id);
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      const tail = readLogTail(options.logDirectory, 'nodes', 20);
      const error = new Error(`the process of the nodes ended (${signal ?? code}); end of its log:\n${tail}`);
      for (const { fail } of waiting.values()) fail(error);
      waiting.clear();
      resolve();
    });
  });
  const request = async (command: NodeCommand): Promise<NonNullable<NodeReply['value']>> => {
    const id = ++lastId;
    const reply = await new Promise<NodeReply>((done, fail) => {
      waiting.set(id, { done, fail });
      child.send({ id, command }, (error) => {
        if (error) fail(error);
      });
    });
    if (reply.error !== undefined) throw new Error(`${command.name}: ${reply.error}`);
    return reply.value ?? true;
  };
  const order = async (command: NodeCommand): Promise<void> => void (await request(command));

  try {
    await order({
      name: 'start',
      settings: {
        kubeconfigPath: options.kubeconfigPath,
        nodes: options.nodes ?? sixNodes,
        pools: options.pools ?? [],
        startMillis: options.startMillis ?? 100,
        stopMillis: options.stopMillis ?? 100,
        removesNotReadyTaint: !(options.nodeLifecycle ?? false),
        servesMetrics: options.servesMetrics ?? false,
      },
    });
  } catch (error) {
    child.kill('SIGKILL');
    await ended;
    throw error;
  }
  return {
    addNode: (spec) => order({ name: 'addNode', spec }),
    loseNode: (node) => order({ name: 'loseNode', node }),
    recoverNode: (node) => order({ name: 'recoverNode', node }),
    shutDownNode: (node) => order({ name: 'shutDownNode', node }),
    interrupt: (node) => order({ name: 'interrupt', node }),
    startAgent: (node, env, kubeconfigPath) => order({ name: 'startAgent', node, env, kubeconfigPath }),
    killAgent: (node) => order({ name: 'killAgent', node }),
    cutOffAgent: (node) => order({ name: 'cutOffAgent', node }),
    async agentPlans(node) {
      const plans = await request({ name: 'agentPlans', node });
      return typeof plans === 'boolean' ? [] : plans;
    },
    oomKill: async (podKey, container) => (await request({ name: 'oomKill', podKey, container })) === true,
    endContainer: async (podKey, container, exitCode) =>
      (await request({ name: 'endContainer', podKey, container, exitCode })) === true,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) await order({ name: 'stop' });
      await ended;
    },
  };
}
