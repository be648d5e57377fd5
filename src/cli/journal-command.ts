/** `stowage journal`: what the operator did between two instants. */
import { Option } from 'commander';
import { type EngineName, engineNames } from '../act/journal.ts';
import type { AddCommand } from './command-definition.ts';
import { addOperatorOption, type OperatorOption } from './input-options.ts';
import { collect } from './option-values.ts';

const EXAMPLES = `
Examples:
  stowage journal --operator http://localhost:8080 --from 02:00 --to 03:00
  stowage journal --operator http://localhost:8080 --from 90m --done -n shop
  stowage journal deploy/shop/web --operator http://localhost:8080
  stowage journal -f operator.log --from 02:00 --to 03:00

The operator knows what was done since it leads; what the leader before it did
is in its log (kubectl logs, with --previous where its container ended).`;

export interface JournalCommandOptions extends OperatorOption {
  readonly filename?: readonly string[];
  readonly from?: string;
  readonly to?: string;
  readonly engine?: EngineName;
  readonly done?: true;
}

export const addJournalCommand: AddCommand = (program, register) => {
  const command = addOperatorOption(program.command('journal'))
    .description('Tell what the operator did, advised and held back between two instants, and why.')
    .argument('[workload...]', 'only of this one: deploy/NAMESPACE/NAME, or KIND/NAME with -n')
    .option('-f, --filename <path>', "read the operator's log instead: a file, or - (may be repeated)", collect)
    .option('--from <time>', 'first instant: 02:00 (UTC), 2026-11-29T02:00:00Z, or how long ago, such as 90m')
    .option('--to <time>', 'last instant, in the same forms')
    .addOption(new Option('--engine <engine>', 'only what this engine did').choices(engineNames))
    .option('--done', 'only what was done, or failed')
    .addHelpText('after', EXAMPLES);
  register<JournalCommandOptions>(command, async (context, options, words) =>
    (await import('./journal/run-journal.ts')).runJournal(context, options, words),
  );
  return command;
};
