/** `stowage status`: the fleet at a glance. */
import type { AddCommand } from './command-definition.ts';
import { addInputOptions, addOperatorOption, type InputOptions, type OperatorOption } from './input-options.ts';

const EXAMPLES = `
Examples:
  stowage status
  stowage status -n shop -o wide
  stowage status -f dump.json -o json
  stowage status --prices config/prices-sample.yaml`;

export const addStatusCommand: AddCommand = (program, register) => {
  const command = addOperatorOption(addInputOptions(program.command('status')))
    .description('Summarize the fleet: managed workloads, drift and blocks, nodes by class.')
    .addHelpText('after', EXAMPLES);
  register<InputOptions & OperatorOption>(command, async (context, options) =>
    (await import('./status/run-status.ts')).runStatus(context, options),
  );
  return command;
};
