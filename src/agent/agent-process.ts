/**
 * The process of `stowage agent`. It stands apart from the other commands: everything reachable from here is loaded on
 * every node, so no schema, metrics, logging or command-line library may be among it
 * (test/structure/agent-closure.test.ts).
 */
import { homedir } from 'node:os';
import { parseArgs } from 'node:util';
import { inClusterConnection } from '../kube/auth/in-cluster.ts';
import { loadConnection } from '../kube/auth/load-connection.ts';
import { createKubeApi } from '../kube/client.ts';
import type { Connection } from '../kube/connection.ts';
import { type Clock, createMonotonicTime } from '../lib/clock.ts';
import { describeError } from '../lib/errors.ts';
import type { Random } from '../lib/random.ts';
import { startEndpointServer } from '../web/endpoint-server.ts';
import { createAgent } from './agent.ts';
import {
  type AgentCommandOptions,
  agentOptionNames,
  agentOptions,
  type GivenOptions,
  readAgentOptions,
} from './agent-options.ts';
import { healthEndpoint, readyEndpoint } from './health.ts';
import { createLineLog, lineWriter } from './line-log.ts';
import { createAgentMetrics, METRICS_CONTENT_TYPE } from './metrics-text.ts';

/** What the process has of the machine, so that tests may give it another one. */
export interface AgentIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly version: string;
}

const STDERR = 2;
/** Requests to the API server: less than the operator's, as there is an agent on every node. */
const AGENT_LIMITS = { qps: 20, burst: 40, reserve: 10 };

/**
 * Runs the agent where the command line is a plain, well-formed `stowage agent`.
 * @returns the exit code; undefined where the whole command line has to look at it: help, or a mistake to be told.
 */
export async function runAgentDirectly(args: readonly string[], io: AgentIo): Promise<number | undefined> {
  const given = parse(args);
  const options = given === undefined ? undefined : readAgentOptions(given, io.env);
  return options === undefined || typeof options === 'string' ? undefined : await runAgent(options, io);
}

function parse(args: readonly string[]): GivenOptions | undefined {
  const own = Object.fromEntries(
    agentOptionNames.map((name) => [name, { type: 'value' in agentOptions[name] ? 'string' : 'boolean' } as const]),
  );
  const options = { ...own, kubeconfig: { type: 'string' }, context: { type: 'string' } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return positionals.length === 1 && positionals[0] === 'agent' ? values : undefined;
  } catch {
    return undefined;
  }
}

/** Runs until the signal aborts. @returns the exit code; what went wrong has been logged. */
export async function runAgent(options: AgentCommandOptions, io: AgentIo): Promise<number> {
  const { clock, random, env, signal } = io;
  const log = createLineLog({ level: options.logLevel, format: options.logFormat, clock, write: lineWriter(STDERR) });
  try {
    const connection = await connect(options, io);
    const api = createKubeApi({
      connection,
      clock,
      random,
      log: log.child('kube'),
      limits: AGENT_LIMITS,
      userAgent: `stowage-agent/${io.version}`,
    });
    const metrics = createAgentMetrics();
    metrics.set('mbcas_agent_info', { version: io.version }, 1);
    metrics.onRender(() => {
      metrics.set('process_resident_memory_bytes', {}, process.memoryUsage.rss());
      const { user, system } = process.cpuUsage();
      metrics.set('process_cpu_seconds_total', {}, (user + system) / 1e6);
    });
    const agent = createAgent({
      api,
      nodeName: options.nodeName,
      namespace: options.configNamespace,
      cgroupRoot: options.cgroupRoot,
      procRoot: options.procRoot,
      isObserving: options.isObserving,
      env,
      clock,
      monotonic: createMonotonicTime(),
      random,
      log,
      metrics,
    });
    const server = await startEndpointServer({
      name: 'agent',
      address: options.bind,
      clock,
      log: log.child('server'),
      endpoints: {
        '/metrics': () => ({ status: 200, contentType: METRICS_CONTENT_TYPE, body: metrics.render() }),
        '/healthz': healthEndpoint(agent.health),
        '/readyz': readyEndpoint(agent.unready),
      },
    });
    log.info({ node: options.nodeName, server: connection.server.href, port: server.port }, 'Started');
    try {
      await agent.run(signal);
    } finally {
      api.close();
      await server.close();
    }
    log.info({}, 'Stopped');
    return 0;
  } catch (error) {
    log.error({ error }, `The agent cannot run: ${describeError(error)}`);
    return 1;
  }
}

async function connect(options: AgentCommandOptions, { env, clock }: AgentIo): Promise<Connection> {
  if (options.serviceAccount !== undefined) return await inClusterConnection(env, clock, options.serviceAccount);
  return await loadConnection({
    env,
    clock,
    homeDirectory: homedir(),
    ...(options.kubeconfig !== undefined && { kubeconfig: options.kubeconfig }),
    ...(options.context !== undefined && { context: options.context }),
  });
}
