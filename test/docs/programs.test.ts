/** Commands of other programs in the documentation: npm's scripts with their arguments, and what helm is told. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { memoryCases } from '../../bench/memory-cases.ts';
import { APPLY_DEFINITIONS } from '../../src/api/pruned-field.ts';
import { runHelm } from '../chart/helm.ts';
import { CHART, findHelm } from '../chart/render.ts';
import { readArmsOptions } from '../node/allocation/arms-options.ts';
import { allPages, programLines, root } from './pages.ts';
import { problemOf } from './parse-command.ts';

const { programs, missing } = await findHelm();
const linesOf = (program: string): string[] => [
  ...new Set(allPages().flatMap(({ text }) => programLines(text, program).map((words) => words.join(' ')))),
];

describe('npm', () => {
  const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  /** npm's own, which are not scripts. */
  const own: ReadonlySet<string> = new Set(['ci', 'install']);
  const isFile = (path: string): boolean => existsSync(join(root, path));
  const benchFlags = ['NAME', '--json', '--check', ...memoryCases.map((name) => `--case=${name}`)];
  /** Of a script that takes arguments: what is wrong with them. */
  const checks: Readonly<Record<string, (args: readonly string[]) => unknown>> = {
    start: (args) => problemOf(['demo', ...args]),
    test: (args) => args.find((path) => !isFile(path)),
    'test:node': (args) => args.find((path) => !isFile(path)),
    bench: (args) => args.find((arg) => !benchFlags.includes(arg) && !isFile(`bench/benchmarks/${arg}.ts`)),
    'bench:node': (args) => void readArmsOptions(args),
    chaos: (args) => unknownOption('scripts/chaos.ts', args),
    properties: (args) => unknownOption('scripts/properties.ts', args),
    differential: (args) => unknownOption('scripts/differential.ts', args),
  };
  const unknownOption = (path: string, args: readonly string[]): string | undefined => {
    const source = readFileSync(join(root, path), 'utf8');
    return args.find((arg) => arg.startsWith('--') && !source.includes(` ${arg.slice(2)}: { type: `));
  };

  test.each(linesOf('npm'))('npm %s', async (line) => {
    const [first = '', ...rest] = line.split(' ').filter((word) => word !== '-s');
    if (own.has(first)) return;
    const script = first === 'run' ? (rest.shift() ?? '') : first;
    expect(Object.keys(scripts)).toContain(script);
    if (rest.length === 0) return;
    expect(rest[0]).toBe('--');
    const check = checks[script];
    expect(check, `${script} takes no arguments`).toBeDefined();
    expect(await check?.(rest.slice(1))).toBeUndefined();
  });

  test('every check is of a documented script', () => {
    const documented = linesOf('npm').map((line) => line.replace(/^run (?:-s )?/, ''));
    expect(Object.keys(checks).filter((name) => !documented.some((line) => line.startsWith(`${name} -- `)))).toEqual(
      [],
    );
  });
});

describe('kubectl', () => {
  /** What definitions are piped into, with `apply` and `diff`. */
  const pipes = allPages().flatMap(({ path, text }) =>
    [...text.matchAll(/stowage crds[^|`\n]*\| (kubectl [^`\n]*)/g)].map(([, command = '']) => [path, command.trim()]),
  );

  test('takes definitions over from helm, who installed them (test/cluster/install-life.test.ts)', () => {
    const [, takingOver = ''] = APPLY_DEFINITIONS.split(' | ');
    expect(pipes.length).toBeGreaterThan(4);
    for (const [path, command] of pipes) {
      expect([path, command]).toEqual([path, expect.stringMatching(/^kubectl (?:apply|diff) /)]);
      expect([path, command?.replace('diff', 'apply')]).toEqual([path, takingOver]);
    }
  });
});

describe('manifests', () => {
  const installs = allPages().flatMap(({ path, text }) =>
    [...text.matchAll(/stowage (manifests[^|`\n]*)\| kubectl/g)].map(([, command = '']) => [path, command.trim()]),
  );

  test('are for the namespace that the other commands of these pages name, or another one that is named', () => {
    expect(installs.length).toBeGreaterThan(6);
    expect(installs.filter(([, command = '']) => !/ -n [a-z-]+( |$)/.test(command))).toEqual([]);
  });
});

describe.skipIf(missing !== undefined)('helm', () => {
  const lines = linesOf('helm').filter((line) => line.includes('stowage '));
  /** Options of helm that say where and how, and nothing about the chart. */
  const known = /^--(?:namespace|create-namespace|reuse-values|set|values)$/;

  test.each(lines)('helm %s', (line) => {
    const [command = '', ...words] = line.split(' ');
    expect(['install', 'upgrade', 'test', 'uninstall']).toContain(command);
    expect(words[0]).toBe('stowage');
    expect(words.filter((word) => word.startsWith('--') && !known.test(word))).toEqual([]);
    if (command !== 'install' && command !== 'upgrade') return;
    expect(words[1]).toBe(CHART);
    const set = words.flatMap((word, index) => (words[index - 1] === '--set' ? [`--set=${word}`] : []));
    for (const args of [
      ['template', 'stowage', CHART, '--namespace=stowage-system'],
      ['lint', '--strict', CHART],
    ]) {
      const { status, stderr, stdout } = runHelm(programs, [...args, ...set], root);
      expect(status, stderr).toBe(0);
      expect(stdout).not.toBe('');
    }
  });

  test('there are some', () => {
    expect(lines.length).toBeGreaterThan(3);
  });
});
