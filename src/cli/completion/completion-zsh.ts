/** The completion script of zsh, for its own completion system. */
import type { CompletionModel, CompletionOption, CompletionValue } from './completion-model.ts';

export function zshCompletion({ program, commands, options }: CompletionModel): string {
  const lines = [
    `#compdef ${program}`,
    `# Completion of ${program} for zsh. Load it with: source <(${program} completion zsh)`,
    `_${program}() {`,
    '  local context state state_descr line',
    '  typeset -A opt_args',
    `  _arguments -C ${options.map(specOf).join(' ')} '1: :->command' '*:: :->arguments'`,
    '  case $state in',
    '    command)',
    '      local -a names',
    `      names=(${commands.map(({ name, description }) => quote(`${name}:${description}`)).join(' ')})`,
    `      _describe command names ;;`,
    '    arguments)',
    '      case $line[1] in',
    ...commands.map(({ name, options: own, argument }) => {
      const specs = uniqueByName([...own, ...options]).map(specOf);
      const rest = argument.kind === 'none' ? [] : [`'*:argument:${actionOf(argument)}'`];
      return `        ${name}) _arguments ${[...specs, ...rest].join(' ')} ;;`;
    }),
    '      esac ;;',
    '  esac',
    '}',
    `compdef _${program} ${program}`,
  ];
  return `${lines.join('\n')}\n`;
}

function uniqueByName(options: readonly CompletionOption[]): CompletionOption[] {
  const seen = new Set<string>();
  return options.filter(({ names }) => {
    const isNew = names.every((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    return isNew;
  });
}

/** `(-f --filename)'{-f,--filename}'[what it is]:value:_files'`, in the grammar of `_arguments`. */
function specOf({ names, description, value }: CompletionOption): string {
  const text = `[${description.replace(/[[\]:\\]/g, '\\$&')}]${value.kind === 'none' ? '' : `:value:${actionOf(value)}`}`;
  if (names.length === 1) return quote(`${names[0]}${text}`);
  return `${quote(`(${names.join(' ')})`)}{${names.join(',')}}${quote(text)}`;
}

function actionOf(value: CompletionValue): string {
  if (value.kind === 'words') return `(${value.words.join(' ')})`;
  return value.kind === 'file' ? '_files' : ' ';
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
