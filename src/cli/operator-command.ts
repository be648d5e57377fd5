/** `stowage operator`: the process that runs in the cluster. */
import type { AddCommand } from './command-definition.ts';
import { optipodFlags } from './operator/optipod-flags.ts';
import type { OperatorCommandOptions } from './operator/run-operator.ts';

const EXAMPLES = `
Examples:
  stowage operator --config /etc/spotalis/config.yaml
  stowage operator --kubeconfig ~/.kube/config --context staging`;

export const addOperatorCommand: AddCommand = (program, register, { startOperator, version }) => {
  const command = program
    .command('operator')
    .description('Run the operator: admission webhook, controllers, metrics and health, until SIGTERM.')
    .option(
      '-c, --config <file>',
      'configuration file, reloaded when it changes (default: built-in defaults and SPOTALIS_* variables)',
    )
    .addHelpText('after', EXAMPLES);
  for (const { flags, description } of optipodFlags) command.option(flags, `OptiPod's: ${description}`);
  register<OperatorCommandOptions>(command, async (context, options) =>
    (await import('./operator/run-operator.ts')).runOperator(context, options, { start: startOperator, version }),
  );
  return command;
};
