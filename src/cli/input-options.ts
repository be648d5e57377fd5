/** The options by which plan, explain and status are told what to look at. */
import type { Command } from 'commander';

export interface InputOptions {
  /** Files, directories or `-`; undefined means the cluster of the kubeconfig. */
  readonly filename?: readonly string[];
  /** The operator's configuration file. */
  readonly config?: string;
}

export function addInputOptions(command: Command): Command {
  return command
    .option(
      '-f, --filename <path>',
      'read files instead of a cluster: a file, a directory or - (may be repeated)',
      collect,
    )
    .option(
      '-c, --config <file>',
      "the operator's configuration file (default: built-in defaults and SPOTALIS_* variables)",
    );
}

function collect(path: string, before: readonly string[] = []): readonly string[] {
  return [...before, path];
}
