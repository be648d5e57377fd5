/** Whether the command line takes words, found out without running anything. */
import type { CliDependencies } from '../../src/cli/command-definition.ts';
import { createProgram } from '../../src/cli/program.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSeededRandom } from '../../src/lib/random.ts';

/** The command tree with commands that do nothing, so that a line is parsed and not run. */
function parser() {
  const terminal = { write: () => {}, isTerminal: false, size: () => undefined };
  const dependencies: CliDependencies = {
    io: {
      out: terminal,
      err: terminal,
      readStdin: async () => '',
      env: {},
      clock: createSystemClock(),
      random: createSeededRandom(1),
      signal: new AbortController().signal,
    },
    version: '0.0.0',
    startOperator: () => Promise.reject(new Error('not in this test')),
  };
  const program = createProgram(dependencies, () => {});
  for (const command of program.commands) command.action(() => {});
  return program;
}

/** Undefined where the command line takes these words, or prints help for them. */
export async function problemOf(words: readonly string[]): Promise<string | undefined> {
  try {
    await parser().parseAsync(words, { from: 'user' });
    return undefined;
  } catch (error) {
    const isHelp = error instanceof Error && 'exitCode' in error && error.exitCode === 0;
    return isHelp ? undefined : `stowage ${words.join(' ')}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

export const commandNamesOf = (): string[] => parser().commands.map((command) => command.name());
