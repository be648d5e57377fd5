/** What can be completed, read off the command tree: commands, their options, and what may stand where a value does. */
import type { Argument, Command, Option } from 'commander';
import { ascending } from '../../lib/ascending.ts';

export interface CompletionOption {
  /** `-f` and `--filename`, or one of them. */
  readonly names: readonly string[];
  readonly description: string;
  readonly value: CompletionValue;
}

/** What follows an option or stands as an argument. */
export type CompletionValue =
  /** Nothing: the option is a switch. */
  | { readonly kind: 'none' }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' }
  /** Something nobody can guess. */
  | { readonly kind: 'any' };

export interface CompletionCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletionOption[];
  /** Of the first argument, which says it for all; `none` where the command takes none. */
  readonly argument: CompletionValue;
}

export interface CompletionModel {
  readonly program: string;
  /** Before and after every command. */
  readonly options: readonly CompletionOption[];
  readonly commands: readonly CompletionCommand[];
}

/** Hidden options are left out; commands come by name. */
export function completionModel(program: Command): CompletionModel {
  const commands = program.commands
    .map((command) => ({
      name: command.name(),
      description: command.description(),
      options: optionsOf(command),
      argument: argumentOf(command.registeredArguments[0]),
    }))
    .sort((a, b) => ascending(a.name, b.name));
  return { program: program.name(), options: optionsOf(program), commands };
}

function optionsOf(command: Command): CompletionOption[] {
  const own = command.options.filter(({ hidden }) => !hidden).map(readOption);
  return [...own, { names: ['-h', '--help'], description: 'display help', value: { kind: 'none' } }];
}

function readOption(option: Option): CompletionOption {
  const names = [option.short, option.long].filter((name) => name !== undefined);
  return { names, description: option.description, value: valueAfter(option) };
}

function valueAfter(option: Option): CompletionValue {
  if (!option.required && !option.optional) return { kind: 'none' };
  if (option.argChoices !== undefined) return { kind: 'words', words: option.argChoices };
  return isPath(option.flags) ? { kind: 'file' } : { kind: 'any' };
}

function argumentOf(argument: Argument | undefined): CompletionValue {
  if (argument === undefined) return { kind: 'none' };
  if (argument.argChoices !== undefined) return { kind: 'words', words: argument.argChoices };
  return isPath(argument.name()) ? { kind: 'file' } : { kind: 'any' };
}

/** Told by the name of the placeholder: `--config <file>`, `--filename <path>`. */
function isPath(text: string): boolean {
  return /\b(?:file|path|directory|scenario)\w*/i.test(text.replace(/--?[\w-]+/g, ''));
}
