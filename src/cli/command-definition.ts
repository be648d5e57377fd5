/** How a command file adds itself to the program. */
import type { Command, OptionValues } from 'commander';
import type { CliContext, CliIo } from './cli-context.ts';
import type { ExitCode } from './exit-codes.ts';
import type { StartOperator } from './operator-port.ts';

/** What the program is given by main.ts. */
export interface CliDependencies {
  readonly io: CliIo;
  /** Stowage's version, from package.json. */
  readonly version: string;
  /** Given from outside because the wiring stands above the commands. */
  readonly startOperator: StartOperator;
}

/** What a command does: its exit code on return, one line on standard error and exit code 1 or 2 when it throws. */
export type CommandWork<Options extends OptionValues> = (
  context: CliContext,
  options: Options,
  args: readonly string[],
) => Promise<ExitCode>;

/** Sets what `command` does. */
export type Register = <Options extends OptionValues>(command: Command, work: CommandWork<Options>) => void;

/** Adds one command to `program` and returns it. */
export type AddCommand = (program: Command, register: Register, dependencies: CliDependencies) => Command;
