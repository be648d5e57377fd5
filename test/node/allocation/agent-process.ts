/** `stowage agent` as a process beside a real node's kubelet, reading the kubelet's own control groups. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../src/lib/clock.ts';
import { parseMetrics, type Sample } from '../../cluster/metrics-text.ts';
import { waitUntilReady } from '../../controlplane/health.ts';
import { findFreePorts } from '../../controlplane/ports.ts';
import { type Program, startProgram } from '../../controlplane/process-group.ts';
import { launcher, plainEnvironment } from '../../process/checkout.ts';
import { getText } from '../pod-access.ts';
import { insideGroupView } from './group-view.ts';

export interface AgentProcess {
  readonly pid: number;
  metrics(): Promise<readonly Sample[]>;
  /** Plans made so far. */
  plans(): Promise<number>;
  /** As a crash would end it. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface AgentProcessOptions {
  readonly nodeName: string;
  /** Control group of the node, relative to each hierarchy's root. */
  readonly cgroup: string;
  readonly kubeconfigPath: string;
  /** Of the run: what still runs in the end is ended with it. */
  readonly directory: string;
  readonly clock: Clock;
  /** As in the ConfigMap of the agents, by variable. */
  readonly settings?: Readonly<Record<string, string>>;
  /** See only this node's groups, and no use of the machine beside them: other work on it is none of the node's. */
  readonly isAlone: boolean;
  /** Wraps the command line, e.g. into a control group. */
  readonly wrap?: (command: readonly string[]) => readonly string[];
}

const STOP_GRACE_MILLIS = 5000;

/** Resolves when it has sampled and knows its pods. */
export async function startAgentProcess(options: AgentProcessOptions): Promise<AgentProcess> {
  const { nodeName, cgroup, kubeconfigPath, directory, clock, settings = {}, isAlone } = options;
  const [port = 0] = await findFreePorts(1);
  const name = `agent-${nodeName}`;
  const view = join(directory, `${name}-view`);
  mkdirSync(view, { recursive: true });
  const agent = [
    process.execPath,
    launcher,
    'agent',
    `--node-name=${nodeName}`,
    `--kubeconfig=${kubeconfigPath}`,
    `--bind-address=127.0.0.1:${port}`,
    '--config-namespace=kube-system',
    ...(isAlone ? [`--cgroup-root=${view}`, `--proc-root=${join(view, 'proc')}`] : []),
  ];
  const seen = isAlone ? insideGroupView(view, cgroup, agent) : agent;
  const [command = '', ...args] = options.wrap?.(seen) ?? seen;
  const env = { ...plainEnvironment(), ...settings };
  const program: Program = await startProgram({ name, command, args, env }, directory, clock);
  const told = { clock, isAlive: program.isRunning };
  await waitUntilReady(name, { url: `http://127.0.0.1:${port}/readyz` }, told);
  const metrics = async (): Promise<readonly Sample[]> =>
    parseMetrics(await getText(`http://127.0.0.1:${port}/metrics`));
  return {
    pid: program.pid,
    metrics,
    async plans() {
      const found = (await metrics()).find(
        ({ name: each, labels }) => each === 'mbcas_agent_step_duration_seconds_count' && labels['loop'] === 'plan',
      );
      return found?.value ?? 0;
    },
    kill: () => program.stop(0),
    stop: () => program.stop(STOP_GRACE_MILLIS),
  };
}
