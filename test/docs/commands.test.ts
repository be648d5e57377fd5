/** Every `stowage` command of the documentation and of the help is run, with what it names at hand, and does what it should. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { runCommand } from '../../src/cli/testing/run-command.ts';
import { eventually } from '../../src/lib/testing/eventually.ts';
import { findHelm } from '../chart/render.ts';
import { checkoutFolders, files, folders } from './documented-files.ts';
import { type DocumentedWorld, type Ran, startDocumentedWorld } from './documented-world.ts';
import { allPages, commandLines, type Page, root } from './pages.ts';
import { commandNamesOf, problemOf } from './parse-command.ts';

const { programs, missing } = await findHelm();

/** Words of the documentation that stand for what only the reader has. */
const stands: Readonly<Record<string, (world: DocumentedWorld) => string>> = {
  '~/.kube/config': ({ folder }) => join(folder, 'kubeconfig'),
  '/etc/spotalis/config.yaml': () => 'config.yaml',
  FILE: () => 'config.yaml',
  'NEW.yaml': () => 'config.yaml',
  DIRECTORY: () => 'recordings/',
  '/host/sys/fs/cgroup': ({ cgroups }) => cgroups.mount,
  'http://localhost:8080': ({ operatorUrl }) => operatorUrl,
  // Never asked: there is no usage to be had.
  '--prometheus-url=http://prometheus-k8s.monitoring.svc:9090': () => '--prometheus-url=http://127.0.0.1:1',
};

/** Names that mean another file on one page. */
const perPage: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/migrating-from-optipod.md': { 'config.yaml': 'optipod.yaml' },
  'docs/migrating-from-spotalis.md': { 'config.yaml': 'spotalis.yaml' },
};

/** Commands that take too long, or what is not here, to be run here as well: the test that runs them, and what of it does. */
const elsewhere: readonly { readonly command: string; readonly by: string; readonly says: string }[] = [
  // There is no Prometheus in this world; that test has one that is scripted.
  ...[
    ['--prometheus http://localhost:9090', "'--prometheus', url.href"],
    ['--prometheus http://localhost:9090 --policy policy.yaml', "'--policy', policy"],
    ['-n shop --workload deploy/web --since 7d', "'--workload', 'deploy/shop/web'"],
  ].map(([options = '', says = '']) => ({
    command: `backtest --data prometheus ${options}`,
    by: 'src/cli/backtest/prometheus/backtest-prometheus.test.ts',
    says,
  })),
  { command: 'demo --for 60s', by: 'test/process/demo.test.ts', says: "['demo', '--for', '75s']" },
  ...['1', '201'].map((seed) => ({
    command: `backtest --generated ${seed}`,
    by: 'src/cli/backtest/backtest.test.ts',
    says: "['backtest', '--generated', '3']",
  })),
];

interface Documented {
  /** What a test is named by. */
  readonly command: string;
  readonly words: readonly string[];
  readonly pages: readonly string[];
}

const helpPages = await Promise.all(
  commandNamesOf().map(async (name): Promise<Page> => {
    const { stdout } = await runCommand([name, '--help']);
    return { path: `stowage ${name} --help`, text: `\`\`\`\n${stdout}\`\`\`\n` };
  }),
);
const documented = collect([...allPages(), ...helpPages]);
const everyWord = new Set(documented.flatMap(({ words }) => words));

function collect(pages: readonly Page[]): Documented[] {
  const found = new Map<string, Documented>();
  for (const { path, text } of pages) {
    for (const line of commandLines(text)) {
      const words = line.map((word) => perPage[path]?.[word] ?? word);
      const command = words.join(' ');
      found.set(command, { command, words, pages: [...(found.get(command)?.pages ?? []), path] });
    }
  }
  return [...found.values()];
}

describe('documented commands', () => {
  let world: DocumentedWorld;
  const before = process.cwd();
  beforeAll(async () => {
    world = await startDocumentedWorld(missing === undefined ? dirname(programs.helm) : undefined);
    process.chdir(world.folder);
  });
  afterAll(async () => {
    process.chdir(before);
    await world.stop();
  });

  const isElsewhere = ({ command }: Documented): boolean => elsewhere.some((each) => each.command === command);
  const needsHelm = ({ words }: Documented): boolean => words.includes('--values');

  test.each(documented.filter((each) => !isElsewhere(each) && !needsHelm(each)))('stowage $command', async (each) => {
    await expectToWork(each);
  });

  test.skipIf(missing !== undefined).each(documented.filter(needsHelm))('with helm: stowage $command', async (each) => {
    await expectToWork(each);
  });

  test.each(elsewhere)('stowage $command is run by $by', async ({ command, by, says }) => {
    expect(readFileSync(join(root, by), 'utf8')).toContain(says);
    expect(documented.map((each) => each.command)).toContain(command);
    expect(await problemOf(command.split(' '))).toBeUndefined();
  });

  async function expectToWork({ words, pages }: Documented): Promise<void> {
    const { code, stdout, stderr } = await run(words.map((word) => stands[word]?.(world) ?? word));
    const expected = words.includes('--exit-code') ? exitCodes.differences : exitCodes.ok;
    expect(code, `${pages.join(', ')}: ${stderr}`).toBe(expected);
    if (isService(words)) return;
    expect(stdout).not.toBe('');
    expect(stdout).not.toMatch(/\bundefined\b|\bNaN\b|\[object Object\]/);
    if (words.includes('json')) expect(() => JSON.parse(stdout)).not.toThrow();
    else if (words.includes('yaml')) expect(parseAllDocuments(stdout).flatMap(({ errors }) => errors)).toEqual([]);
    // A file of Spotalis has keys that never did anything; that they are told is meant.
    expect(stderr.replaceAll(/^warning: \S+ \S+ has no effect: .*$/gm, '')).not.toMatch(/warning:|cannot be read/);
  }

  async function run(words: readonly string[]): Promise<Ran> {
    if (words.includes('--help')) return await world.run(words);
    switch (words[0]) {
      case 'agent':
        return await runAgent(words);
      case 'demo':
        return await world.run(words, (stdout) => eventually(() => expect(stdout()).toContain('Chapter 1')));
      case 'lab':
        return await world.run([...words, ...(words.includes('--list') ? [] : shortLab(words))]);
      default:
        return await world.run(words);
    }
  }

  /** Until it says that it is ready; then it is told to end. */
  async function runAgent(words: readonly string[]): Promise<Ran> {
    const address = `127.0.0.1:${await world.freePort()}`;
    const { mount, proc } = world.cgroups;
    const more = ['--bind-address', address, '--proc-root', proc, '--log-level', 'error'];
    const root = words.includes('--cgroup-root') ? [] : ['--cgroup-root', mount];
    return await world.run([...words, ...more, ...root], () =>
      eventually(async () => expect((await fetch(`http://${address}/readyz`)).status).toBe(200)),
    );
  }
});

const isService = (words: readonly string[]): boolean =>
  (words[0] === 'operator' || words[0] === 'agent') && !words.includes('--help');

/** Never in this machine's control groups: the test of the kernel's side is src/lab/kernel. */
function shortLab(words: readonly string[]): string[] {
  const load = words.includes('--load') ? [] : ['--load', 'wrong-request', '--arm', 'stowage'];
  return ['--substrate', 'simulated', '--seeds', '1', '--seconds', '20', ...load];
}

describe('the tables of this test', () => {
  test('hold nothing that the documentation does not name', () => {
    const named = [...everyWord];
    expect(Object.keys(stands).filter((word) => !everyWord.has(word))).toEqual([]);
    expect(
      [...Object.keys(files), ...Object.keys(folders)].filter((name) => !everyWord.has(name) && !isInScenario(name)),
    ).toEqual([]);
    expect(checkoutFolders.filter((folder) => !named.some((word) => word.startsWith(`${folder}/`)))).toEqual([]);
    for (const [path, names] of Object.entries(perPage)) {
      expect(existsSync(join(root, path))).toBe(true);
      for (const name of Object.values(names))
        expect(documented.find(({ words }) => words.includes(name))?.pages).toEqual([path]);
    }
  });

  test('every command is among those that are run', () => {
    expect(commandNamesOf().filter((name) => !documented.some(({ words }) => words.includes(name)))).toEqual([]);
  });
});

const isInScenario = (name: string): boolean =>
  readFileSync(join(root, 'docs/simulate.md'), 'utf8').includes(`[${name}]`);
