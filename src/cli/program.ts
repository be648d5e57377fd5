/** The command line: its commands, the options they share, and what becomes of their errors. Work is in the commands' own files. */

import {
  Command,
  CommanderError,
  InvalidArgumentError,
  Option,
  type OptionValues,
  type OutputConfiguration,
} from 'commander';
import { describeError, StowageError } from '../lib/errors.ts';
import { printable } from '../lib/printable.ts';
import { addAgentCommand } from './agent-command.ts';
import { addBacktestCommand } from './backtest-command.ts';
import type { CliContext, CliIo, GlobalOptions } from './cli-context.ts';
import { CommandError, UsageError } from './cli-error.ts';
import type { CliDependencies, CommandWork, Register } from './command-definition.ts';
import { addCompletionCommand } from './completion-command.ts';
import { addCrdsCommand } from './crds-command.ts';
import { addDemoCommand } from './demo/demo-command.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { addExplainCommand } from './explain-command.ts';
import { addJournalCommand } from './journal-command.ts';
import { addLabCommand } from './lab-command.ts';
import { addManifestsCommand } from './manifests-command.ts';
import { addOperatorCommand } from './operator-command.ts';
import { outputFormats } from './output.ts';
import { addPlanCommand } from './plan/plan-command.ts';
import { addProfilesCommand } from './profiles/profiles-command.ts';
import { addRestoreCommand } from './restore/restore-command.ts';
import { addSimulateCommand } from './simulate/simulate-command.ts';
import { addStatusCommand } from './status-command.ts';
import { chooseStyle } from './style.ts';
import { addVersionCommand, versionLine } from './version-command.ts';

/**
 * Runs one command line.
 * @param args the words after the program's name.
 * @returns the exit code; every error has been told on standard error by then.
 */
export async function runCli(args: readonly string[], dependencies: CliDependencies): Promise<ExitCode> {
  const { io } = dependencies;
  let exitCode: ExitCode = exitCodes.ok;
  const program = createProgram(dependencies, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(wordsOf(program, args), { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    // A command's own sentence is complete; anything else is told with its causes.
    const sentence =
      error instanceof CommandError || error instanceof UsageError ? error.message : describeError(error);
    for (const line of sentence.split('\n')) io.err.write(`stowage: ${printable(line)}\n`);
    if (error instanceof UsageError) return exitCodes.usage;
    if (args.includes('--debug') && error instanceof Error) io.err.write(`${error.stack ?? ''}\n`);
    else if (!(error instanceof StowageError) && !io.signal.aborted)
      io.err.write('Run the command again with --debug for the place in the code.\n');
    return exitCodes.failure;
  }
}

/** The whole command tree; `onExitCode` receives what the chosen command returned. */
export function createProgram(dependencies: CliDependencies, onExitCode: (code: ExitCode) => void): Command {
  const { io } = dependencies;
  const program = new Command('stowage')
    .description(
      "Decides where the replicas of Kubernetes workloads run (spot or on-demand), how big they are, and what share of their node's CPU they get.",
    )
    .addOption(
      new Option(
        '--kubeconfig <file>',
        "kubeconfig to use (default: $KUBECONFIG, then the pod's own account, then ~/.kube/config)",
      ),
    )
    .addOption(new Option('--context <name>', 'context of the kubeconfig (default: its current context)'))
    .addOption(
      new Option('-n, --namespace <name>', 'look at one namespace only (default: all)').argParser(parseNamespace),
    )
    .addOption(new Option('-o, --output <format>', 'how to print').choices(outputFormats).default('table'))
    .option('--no-color', 'no colours (also: NO_COLOR=1)')
    .option('--debug', 'show where in the code an error came from')
    .version(versionLine(dependencies.version), '--version', 'print the version')
    .helpCommand('help [command]', 'show the help of a command')
    // Descriptions beside OptiPod's long flags are broken, too.
    .configureHelp({ showGlobalOptions: true, sortSubcommands: true, minWidthToWrap: 24 })
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      getOutHelpWidth: () => Math.min(io.out.size()?.columns ?? 80, 100),
    })
    .configureOutput(wrongUse(io, 'stowage'));

  const register: Register = <Options extends OptionValues>(command: Command, work: CommandWork<Options>) => {
    command.action(async (...received: unknown[]) => {
      // Commander appends the command's options and the command itself to the arguments.
      const positional = received
        .slice(0, -2)
        .flat()
        .filter((word) => typeof word === 'string');
      const all = command.optsWithGlobals();
      const context: CliContext = { io, global: globalOptions(all), style: styleFor(io, all) };
      onExitCode(await work(context, command.opts<Options>(), positional));
    });
  };

  for (const add of [
    addAgentCommand,
    addBacktestCommand,
    addCompletionCommand,
    addCrdsCommand,
    addDemoCommand,
    addExplainCommand,
    addJournalCommand,
    addManifestsCommand,
    addOperatorCommand,
    addPlanCommand,
    addProfilesCommand,
    addRestoreCommand,
    addSimulateCommand,
    addLabCommand,
    addStatusCommand,
    addVersionCommand,
  ]) {
    const command = add(program, register, dependencies);
    command.copyInheritedSettings(program).configureOutput(wrongUse(io, `stowage ${command.name()}`));
  }
  return program;
}

/**
 * `help plna` as `plna`: of a command that there is not, commander's own help command prints the help of the program, and
 * no word of what was wrong.
 */
function wordsOf({ commands }: Command, args: readonly string[]): readonly string[] {
  const [first, second] = args;
  const isHelpOfNone = first === 'help' && args.length === 2 && commands.every((command) => command.name() !== second);
  return isHelpOfNone ? args.slice(1) : args;
}

function globalOptions(all: Readonly<Record<string, unknown>>): GlobalOptions {
  const text = (name: string): string | undefined => (typeof all[name] === 'string' ? all[name] : undefined);
  return {
    kubeconfig: text('kubeconfig'),
    context: text('context'),
    namespace: text('namespace'),
    output: outputFormats.find((format) => format === all['output']) ?? 'table',
    debug: all['debug'] === true,
  };
}

function styleFor(io: CliIo, all: Readonly<Record<string, unknown>>) {
  return chooseStyle({ isTerminal: io.out.isTerminal, disabled: all['color'] === false, env: io.env });
}

/** RFC 1123 label, as the API server demands. */
function parseNamespace(text: string): string {
  if (/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError('A namespace is lower-case letters, digits and dashes, at most 63.');
}

/** A wrong use of a command is told in one line that ends with where to look. */
function wrongUse(io: CliIo, command: string): OutputConfiguration {
  return {
    outputError: (text) =>
      io.err.write(`stowage: ${printable(oneLine(text))}. Run \`${command} --help\` to see what there is.\n`),
  };
}

/** Commander's messages begin with `error:` and may span lines. */
function oneLine(text: string): string {
  return text
    .trim()
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '');
}
