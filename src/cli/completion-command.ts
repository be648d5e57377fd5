/** `stowage completion`: a script that lets a shell complete the command line. */
import { Argument } from 'commander';
import type { AddCommand } from './command-definition.ts';
import { bashCompletion } from './completion/completion-bash.ts';
import { fishCompletion } from './completion/completion-fish.ts';
import { completionModel } from './completion/completion-model.ts';
import { zshCompletion } from './completion/completion-zsh.ts';
import { exitCodes } from './exit-codes.ts';

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;
type Shell = keyof typeof scripts;
const isShell = (text: string | undefined): text is Shell => text !== undefined && Object.hasOwn(scripts, text);

const EXAMPLES = `
Examples:
  stowage completion bash > /etc/bash_completion.d/stowage    # every shell
  source <(stowage completion bash)                           # this shell
  stowage completion zsh > "\${fpath[1]}/_stowage"
  stowage completion fish > ~/.config/fish/completions/stowage.fish`;

export const addCompletionCommand: AddCommand = (program, register) => {
  const command = program
    .command('completion')
    .description('Print the script that completes the command line in a shell.')
    .addArgument(new Argument('<shell>', 'the shell it is for').choices(Object.keys(scripts)))
    .addHelpText('after', EXAMPLES);
  register(command, async (context, _options, [shell]) => {
    if (isShell(shell)) context.io.out.write(scripts[shell](completionModel(program)));
    return exitCodes.ok;
  });
  return command;
};
