/** `stowage agent`: the process that runs on every node. */
import type { AgentOptionName } from '../agent/agent-options.ts';
import { agentOptionNames, agentOptions, type GivenOptions, readAgentOptions } from '../agent/agent-options.ts';
import { UsageError } from './cli-error.ts';
import type { AddCommand } from './command-definition.ts';
import type { ExitCode } from './exit-codes.ts';
import { exitCodes } from './exit-codes.ts';

const EXAMPLES = `
Settings come from the ConfigMap mbcas-agent-config (keys as MBCAS has them, and
allocation.*) and from MBCAS_* and STOWAGE_ALLOCATION_* variables, which win.

Examples:
  stowage agent --node-name worker-1
  stowage agent --observe --cgroup-root /host/sys/fs/cgroup`;

export const addAgentCommand: AddCommand = (program, register, { version }) => {
  const command = program
    .command('agent')
    .description(
      'Run the node agent: measures CPU use of this node’s pods and writes their PodAllocations, until SIGTERM.',
    )
    .addHelpText('after', EXAMPLES);
  for (const name of agentOptionNames) {
    const row: { readonly value?: string; readonly description: string; readonly fallback?: string } =
      agentOptions[name];
    const { value, description, fallback } = row;
    const isTold = fallback === undefined || description.includes('(default');
    command.option(
      value === undefined ? `--${name}` : `--${name} <${value}>`,
      isTold ? description : `${description} (default: ${fallback})`,
    );
  }
  register<Readonly<Record<string, string | boolean>>>(command, async ({ io, global }, options): Promise<ExitCode> => {
    const given: GivenOptions = {
      ...Object.fromEntries(agentOptionNames.map((name) => [name, options[camelCase(name)]])),
      ...(global.kubeconfig !== undefined && { kubeconfig: global.kubeconfig }),
      ...(global.context !== undefined && { context: global.context }),
    };
    // Who gives it means "nowhere else".
    if (global.namespace !== undefined)
      throw new UsageError('the agent looks after the pods of its node, of whatever namespace; leave -n out');
    const read = readAgentOptions(given, io.env);
    if (typeof read === 'string') throw new UsageError(read);
    const { runAgent } = await import('../agent/agent-process.ts');
    const { env, clock, random, signal } = io;
    const code = await runAgent(read, { env, clock, random, signal, version });
    return code === 0 ? exitCodes.ok : exitCodes.failure;
  });
  return command;
};

/** As the command-line library names the option. */
const camelCase = (name: AgentOptionName): string =>
  name.replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
