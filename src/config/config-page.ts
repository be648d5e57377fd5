/** The page docs/configuration.md, written from the schema. */
import { configAliases, unusedKeys } from './aliases.ts';
import { ENV_PREFIX } from './environment.ts';
import { listConfigKeys, type NamedKey } from './schema.ts';

/** The whole page in Markdown. */
export function renderConfigPage(): string {
  const keys = listConfigKeys();
  const sections = [...new Set(keys.map(({ path }) => path.split('.')[0] ?? path))];
  const parts = [
    '# Configuration',
    '<!-- Written by `npm run docs` from src/config/schema*.ts; edit those. -->',
    'One YAML file, given with `--config`; every key may be left out. What counts: the default, then the file, then the environment variable. Durations are text with units: `30s`, `10m`, `1h30m`.',
    'A value that is not valid stops the start with exit code 1 and a message naming file and line, key, value and what is accepted; all of them at once. A key that does not exist is a warning. The file is read again when it changes; keys marked *restart* take effect at the next start. While a changed file is not valid, what was in force stays in force.',
    'Environment variables take `true`, `1`, `yes`, `on` and `false`, `0`, `no`, `off` for truth values and commas between the entries of lists; empty ones count as not set. Variables that Kubernetes adds for Services are left alone.',
    ...sections.flatMap((section) => renderSection(section, keys)),
    '## Other spellings',
    'The shape of the first design document is understood too:',
    renderTable(
      ['Written', 'Means'],
      configAliases.map(({ from, to }) => [code(from), code(to)]),
    ),
    'These are accepted and do nothing:',
    renderTable(
      ['Key', 'Why'],
      [...unusedKeys].map(([key, why]) => [code(key), why]),
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}

function renderSection(section: string, keys: readonly NamedKey[]): string[] {
  const rows = keys.filter(({ path }) => path.startsWith(`${section}.`)).map(renderKey);
  return [`## ${section}`, renderTable(['Key', 'Default', 'Environment', 'Meaning'], rows)];
}

function renderKey({ path, key }: NamedKey): string[] {
  const { defaultValue, env, description, accepted, restart } = key;
  const shown = defaultValue === undefined ? 'none' : code(JSON.stringify(defaultValue));
  const meaning = `${description} Accepted: ${accepted}.${restart === true ? ' *restart*' : ''}`;
  return [code(path), shown, env === undefined ? '' : code(ENV_PREFIX + env), meaning];
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  );
  return lines.join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}
