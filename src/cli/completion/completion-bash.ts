/** The completion script of bash (3.2 and newer): everything it offers is in the script, so that no process is started for it. */
import type { CompletionCommand, CompletionModel, CompletionOption, CompletionValue } from './completion-model.ts';

export function bashCompletion(model: CompletionModel): string {
  const { program, commands, options } = model;
  const valued = (list: readonly CompletionOption[]): string[] =>
    list.filter(({ value }) => value.kind !== 'none').flatMap(({ names }) => names);
  const takesValue = [...new Set([...valued(options), ...commands.flatMap((command) => valued(command.options))])];
  const lines = [
    `# Completion of ${program} for bash. Load it with: source <(${program} completion bash)`,
    `_${program}() {`,
    `  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command="" word i`,
    '  COMPREPLY=()',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    `    word="\${COMP_WORDS[i]}"`,
    '    case "$word" in',
    `      ${takesValue.join('|')}) ((i++)) ;;`,
    '      -*) ;;',
    '      *) command="$word"; break ;;',
    '    esac',
    '  done',
    '  case "$command $prev" in',
    ...commands.flatMap((command) => command.options.flatMap((option) => valueCase(command.name, option))),
    ...options.flatMap((option) => valueCase('*', option)),
    '  esac',
    '  case "$command" in',
    `    "") ${offer([...commands.map(({ name }) => name), 'help'], options, { kind: 'none' })} ;;`,
    ...commands.map((command) => commandCase(command, options)),
    `    help) ${reply(commands.map(({ name }) => name))} ;;`,
    '  esac',
    '}',
    `complete -F _${program} ${program}`,
  ];
  return `${lines.join('\n')}\n`;
}

function valueCase(command: string, { names, value }: CompletionOption): string[] {
  if (value.kind === 'none') return [];
  const patterns = names.map((name) => (command === '*' ? `*" ${name}"` : `"${command} ${name}"`));
  return [`    ${patterns.join('|')}) ${complete(value)}return ;;`];
}

function commandCase({ name, options, argument }: CompletionCommand, globals: readonly CompletionOption[]): string {
  return `    ${name}) ${offer(argument.kind === 'words' ? argument.words : [], [...options, ...globals], argument)} ;;`;
}

/** Options after a dash, else words or files. */
function offer(words: readonly string[], options: readonly CompletionOption[], argument: CompletionValue): string {
  const names = [...new Set(options.flatMap((option) => option.names))];
  const otherwise = argument.kind === 'file' ? FILES : words.length > 0 ? reply(words) : ':';
  return `if [[ "$cur" == -* ]]; then ${reply(names)}; else ${otherwise}; fi`;
}

const FILES = 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur"))';
const reply = (words: readonly string[]): string => `COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$cur"))`;

function complete(value: CompletionValue): string {
  if (value.kind === 'words') return `${reply(value.words)}; `;
  return value.kind === 'file' ? `${FILES}; ` : '';
}
