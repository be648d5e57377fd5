/** `stowage profiles`: what Stowage remembers of every container's usage, as a file to keep or to take elsewhere. */
import { Argument } from 'commander';
import type { AddCommand } from '../command-definition.ts';

const EXAMPLES = `
Examples:
  stowage profiles export usage.json
  stowage profiles export - -n stowage-system         # to standard output
  stowage profiles import usage.json --context new    # into another cluster

Of a running operator, export gives what it saved last; what is imported is
taken over at its next save (rightsizing.saveInterval). Imported usage replaces
what is known of the same container. Use -n for the namespace of the operator.`;

export const addProfilesCommand: AddCommand = (program, register) => {
  const command = program
    .command('profiles')
    .description('Export what is remembered of usage into a file, or import it from one.')
    .addArgument(new Argument('<action>', 'what to do').choices(['export', 'import']))
    .argument('<file>', 'file to write or read; - is standard output or input')
    .addHelpText('after', EXAMPLES);
  register(command, async (context, _options, [action, file = '']) => {
    const { runExport, runImport } = await import('./run-profiles.ts');
    return action === 'export' ? runExport(context, file) : runImport(context, file);
  });
  return command;
};
