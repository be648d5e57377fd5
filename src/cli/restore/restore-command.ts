/** `stowage restore`: gives pods the sizes back that they had before Stowage, of both engines; for an uninstall. */
import { Option } from 'commander';
import type { AddCommand } from '../command-definition.ts';

const EXAMPLES = `
Examples:
  stowage restore --dry-run                      # what would be given back
  stowage restore --engine allocation            # CPU shared out by node agents
  stowage restore -n shop                        # one namespace
  stowage restore -n shop -l app=web             # one workload, by pods' labels

Stop first what sized them (the operator, an engine, the policy, or the
workload's share in it), or they are sized again. Pods keep running: they are
resized in place. A limit that was not there before cannot be removed in place:
it is raised to what the node has. Sizes that have no room at the moment are
told; run the command again.`;

export interface RestoreCommandOptions {
  readonly engine?: 'rightsizing' | 'allocation';
  readonly dryRun?: true;
  readonly selector?: string;
}

export const addRestoreCommand: AddCommand = (program, register) => {
  const command = program
    .command('restore')
    .description('Give running pods the sizes back that they had before Stowage changed them.')
    .addOption(new Option('--engine <engine>', 'only what this engine changed').choices(['rightsizing', 'allocation']))
    .option('-l, --selector <labels>', 'only pods with these labels, such as app=web,tier!=db')
    .option('--dry-run', 'tell what would be done and change nothing')
    .addHelpText('after', EXAMPLES);
  register<RestoreCommandOptions>(command, async (context, options) =>
    (await import('./run-restore.ts')).runRestore(context, options),
  );
  return command;
};
