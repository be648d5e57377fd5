/** The completion script of fish: one line a command and an option. */
import type { CompletionModel, CompletionOption, CompletionValue } from './completion-model.ts';

export function fishCompletion({ program, commands, options }: CompletionModel): string {
  const names = commands.map(({ name }) => name);
  const beforeCommand = `not __fish_seen_subcommand_from ${names.join(' ')}`;
  const lines = [
    `# Completion of ${program} for fish. Load it with: ${program} completion fish | source`,
    `complete -c ${program} -f`,
    ...commands.map(
      ({ name, description }) =>
        `complete -c ${program} -n ${quote(beforeCommand)} -a ${name} -d ${quote(description)}`,
    ),
    ...options.map((option) => optionLine(program, undefined, option)),
    ...commands.flatMap(({ name, options: own, argument }) => [
      ...own
        .filter(({ names: [first] }) => !options.some((global) => global.names.includes(first ?? '')))
        .map((option) => optionLine(program, name, option)),
      ...argumentLine(program, name, argument),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

function optionLine(
  program: string,
  command: string | undefined,
  { names, description, value }: CompletionOption,
): string {
  const where = command === undefined ? '' : ` -n ${quote(`__fish_seen_subcommand_from ${command}`)}`;
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  return `complete -c ${program}${where} ${flags.join(' ')}${valueAfter(value)} -d ${quote(description)}`;
}

function valueAfter(value: CompletionValue): string {
  if (value.kind === 'none') return '';
  if (value.kind === 'words') return ` -x -a ${quote(value.words.join(' '))}`;
  return value.kind === 'file' ? ' -r -F' : ' -x';
}

function argumentLine(program: string, command: string, argument: CompletionValue): string[] {
  const where = `complete -c ${program} -n ${quote(`__fish_seen_subcommand_from ${command}`)}`;
  if (argument.kind === 'words') return [`${where} -a ${quote(argument.words.join(' '))}`];
  return argument.kind === 'file' ? [`${where} -F`] : [];
}

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
