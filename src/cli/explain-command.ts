/** `stowage explain`: the whole story of one workload. */
import type { AddCommand } from './command-definition.ts';
import { addInputOptions, addOperatorOption, type InputOptions, type OperatorOption } from './input-options.ts';

const EXAMPLES = `
Examples:
  stowage explain deploy/shop/web
  stowage explain statefulset/db -n data
  stowage explain deploy/shop/web -f dump.json -o yaml
  stowage explain deploy/shop/web --operator http://localhost:8080`;

export const addExplainCommand: AddCommand = (program, register) => {
  const command = addOperatorOption(addInputOptions(program.command('explain')))
    .description(
      'Tell where each replica of one workload runs and why, what blocks it, and what happens next and when.',
    )
    .argument('<workload...>', 'deploy/NAMESPACE/NAME, sts/NAMESPACE/NAME, ds/NAMESPACE/NAME, or KIND/NAME with -n')
    .addHelpText('after', EXAMPLES);
  register<InputOptions & OperatorOption>(command, async (context, options, words) =>
    (await import('./explain/run-explain.ts')).runExplain(context, options, words),
  );
  return command;
};
