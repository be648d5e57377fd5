/** The structure is a feature: these tests fail when a file breaks the import rules, grows too long or reads the clock. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findCycle, importsOf, type SourceImport, violation } from './import-rules.ts';

const sourceRoot = resolve(import.meta.dirname, '../../src');
const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path) || path.split('/').includes('testing');

function sourceFiles(): string[] {
  return readdirSync(sourceRoot, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => /\.tsx?$/.test(path) && !isTest(path));
}

const root = resolve(sourceRoot, '..');
/** Of all folders, tests among them, by their path below the project. */
const codeFiles = (): string[] =>
  ['src', 'test', 'bench', 'scripts', 'bin'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.split(sep).join('/')}`)
      .filter((path) => /\.(?:ts|mjs)$/.test(path)),
  );

const read = (path: string): string => readFileSync(join(sourceRoot, path), 'utf8');
const withoutComments = (path: string): string =>
  read(path)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '');

function allImports(): SourceImport[] {
  return sourceFiles().flatMap((path) =>
    importsOf(path, read(path), (specifier) =>
      relative(sourceRoot, resolve(sourceRoot, dirname(path), specifier))
        .split(sep)
        .join('/'),
    ),
  );
}

describe('import rules', () => {
  test('every import in src follows the one-way flow', () => {
    expect(
      allImports()
        .map(violation)
        .filter((text) => text !== undefined),
    ).toEqual([]);
  });

  test('there is no import cycle', () => {
    expect(findCycle(allImports())).toBeUndefined();
  });

  test('the rule reader sees static, type-only, side-effect and dynamic imports', () => {
    const source = `
      import { a } from '../kube/client.ts';
      import type { B } from '../decide/decision.ts';
      import './side-effect.ts';
      export { c } from './c.ts';
      // import { no } from '../act/commented.ts';
      const lazy = await import('../act/evict.ts');
    `;
    const found = importsOf('guard/x.ts', source, (specifier) => join('guard', specifier));
    expect(found.map(({ to, typeOnly }) => [to, typeOnly])).toEqual([
      ['kube/client.ts', false],
      ['decide/decision.ts', true],
      ['guard/side-effect.ts', false],
      ['guard/c.ts', false],
      ['act/evict.ts', false],
    ]);
  });

  test.each([
    [
      'decide sees the wire',
      { from: 'decide/a.ts', to: 'kube/client.ts', specifier: '../kube/client.ts', typeOnly: false },
    ],
    [
      'guard takes values of decide',
      { from: 'guard/a.ts', to: 'decide/b.ts', specifier: '../decide/b.ts', typeOnly: false },
    ],
    ['cluster knows an engine', { from: 'cluster/a.ts', to: 'guard/b.ts', specifier: '../guard/b.ts', typeOnly: true }],
    ['cli imports wire', { from: 'cli/a.ts', to: 'wire.ts', specifier: '../wire.ts', typeOnly: false }],
    ['an unlisted folder', { from: 'misc/a.ts', to: 'lib/b.ts', specifier: '../lib/b.ts', typeOnly: false }],
  ])('is provoked when %s', (_name, found) => {
    expect(violation({ ...found, isDeferred: false })).toBeTypeOf('string');
  });

  test('a cycle is found and named', () => {
    const edge = (from: string, to: string): SourceImport => ({
      from,
      to,
      specifier: to,
      typeOnly: false,
      isDeferred: false,
    });
    expect(findCycle([edge('a', 'b'), edge('b', 'c'), edge('c', 'b')])).toBe('b -> c -> b');
  });
});

describe('house style', () => {
  test('no file of code is longer than 300 lines: tests, benchmarks and scripts are read as well', () => {
    const tooLong = codeFiles()
      .map((path) => ({ path, lines: readFileSync(join(root, path), 'utf8').split('\n').length - 1 }))
      .filter(({ lines }) => lines > 300);
    expect(codeFiles().length).toBeGreaterThan(2_000);
    expect(tooLong).toEqual([]);
  });

  test('the entry of the process is short: it wires nothing but the command line', () => {
    expect(read('main.ts').split('\n').length - 1).toBeLessThan(60);
  });

  test('nothing reads the wall clock, starts a timer or draws randomness but lib', () => {
    const forbidden =
      /\bDate\.now\(|\bnew Date(?:\(\)|;)|\bMath\.random\(|(?<![.\w])set(?:Timeout|Interval)\(|\bset(?:Timeout|Interval)\b.* from 'node:timers|\bperformance\.now\(|\bhrtime\b|\bAbortSignal\.timeout\(/;
    for (const text of ['await fetch(url, { signal: AbortSignal.timeout(1) })', 'process.hrtime.bigint()'])
      expect(forbidden.test(text)).toBe(true);
    // The last one is a program of its own, in a control group.
    const mayRead: readonly string[] = ['lib/clock.ts', 'lib/random.ts', 'lab/kernel/pod-program.ts'];
    const offenders = sourceFiles()
      .filter((path) => !mayRead.includes(path))
      .filter((path) => forbidden.test(withoutComments(path)));
    expect(offenders).toEqual([]);
  });

  test('decide, guard and model are synchronous', () => {
    const offenders = sourceFiles()
      .filter((path) => /^(?:decide|guard|model)\//.test(path))
      .filter((path) => /\basync\b|\bawait\b|\bPromise</.test(read(path)));
    expect(offenders).toEqual([]);
  });

  test('they reach nothing outside: no package, and of Node what computes and no more', () => {
    const computing: readonly string[] = ['node:crypto', 'node:util', 'node:zlib'];
    const outside = allImports().filter(
      ({ from, to, specifier }) =>
        /^(?:decide|guard|model)\//.test(from) && to === undefined && !computing.includes(specifier),
    );
    expect(outside).toEqual([]);
    const globals = /\bprocess\.|\bfetch\(|\bglobalThis\b/;
    expect(
      sourceFiles().filter((path) => /^(?:decide|guard|model)\//.test(path) && globals.test(withoutComments(path))),
    ).toEqual([]);
  });

  // Test files share a process, in which a module is read once.
  test('no module keeps state', () => {
    const state =
      /^(?:export )?(?:(?:let|var) |const \w+(?:: (?:(?:Map|Set|WeakMap|WeakSet|Record)<[^=\n]*|(?!readonly )[^=\n]*\[\]))? = (?:new (?:Map|Set|WeakMap|WeakSet)\b[^(\n]*\(\)|\[\]|\{\});)/m;
    for (const text of ['let next = 0;', 'export const seen = new Set<string>();', 'const all: string[] = [];'])
      expect(state.test(text)).toBe(true);
    for (const text of ['const none: ReadonlySet<string> = new Set();', 'const no: readonly string[] = [];'])
      expect(state.test(text)).toBe(false);
    // The page of the dashboard, which is one for each tab.
    const stateful = sourceFiles().filter((path) => path !== 'web/dashboard/client/main.ts' && state.test(read(path)));
    expect(stateful).toEqual([]);
  });

  test('what is a user’s is written by `act` alone; elsewhere only what is Stowage’s own', () => {
    const write =
      /\b\w*[aA]pi\s*\.(?:create|createSubresource|replace|patch|delete)\b|\.(?:createSubresource|patch)[<(]|\b(?:createSubresource|patch)\b[^={}]*\} = \w*[aA]pi\b/;
    for (const text of [
      'api.patch<KubeObject>(type, name)',
      'kubeApi.create(t)',
      'client.patch(t)',
      '{ patch } = api;',
    ])
      expect(write.test(text)).toBe(true);
    // Clusters in this process, and who plays people in them.
    const isPlayed = (path: string): boolean => /^(?:act|cluster|simulator|cli\/demo)\//.test(path);
    const writers = sourceFiles().filter((path) => !isPlayed(path) && write.test(read(path)));
    expect(writers.toSorted()).toEqual([
      'agent/allocation-writer.ts', // PodAllocations of its node
      'cli/profiles/run-profiles.ts', // usage somebody imports
      'kube/lease-keeper.ts', // the Lease
      'kube/recorder.ts', // events
      'operator/ca-bundle.ts', // whom to trust as the webhook
      'operator/measured-api.ts', // counts, and hands on
      'operator/self-certificate.ts', // the webhook's Secret
      'web/access-review.ts', // reviews, of which nothing is kept
    ]);
  });

  test('texts are sorted by the common order of `lib/ascending`', () => {
    const ownOrder = /\.localeCompare\(|Intl\.Collator| [<>] (?!\d)[^&|?\n]* \? -?1 : (?:-?1\b|[^?\n]* [<>] )/;
    expect(ownOrder.test('pods.sort((a, b) => (a.uid < b.uid ? -1 : 1))')).toBe(true);
    expect(ownOrder.test('return left < right ? -1 : left > right ? 1 : 0;')).toBe(true);
    expect(sourceFiles().filter((path) => path !== 'lib/ascending.ts' && ownOrder.test(read(path)))).toEqual([]);
  });

  test('zod is taken as a namespace: its `z` would bring all its languages into the bundle', () => {
    const whole = /^import (?!type\b).*(?<!\w)z\b.*\} from 'zod';$/m;
    expect(whole.test("import { type ZodType, z } from 'zod';")).toBe(true);
    expect(sourceFiles().filter((path) => whole.test(read(path)))).toEqual([]);
  });

  test('every file in model, decide, guard and lib that holds code has a test beside it', () => {
    const files = new Set(
      readdirSync(sourceRoot, { recursive: true, encoding: 'utf8' }).map((path) => path.split(sep).join('/')),
    );
    const holdsCode = (text: string): boolean =>
      /^(?:export )?(?:async )?function |^(?:export )?const \w+ = \(?.*=>|^(?:export )?class /m.test(text);
    const lone = sourceFiles()
      .filter((path) => /^(?:decide|guard|model|lib)\//.test(path) && holdsCode(read(path)))
      .filter((path) => !files.has(path.replace(/\.ts$/, '.test.ts')));
    expect(lone).toEqual([]);
  });
});

describe('tests', () => {
  /** Of tests, and of what they have in common. */
  const testFiles = codeFiles().filter(
    (path) => /^(?:test|bench)\/.*\.ts$/.test(path) || (/^src\/.*\.ts$/.test(path) && isTest(path)),
  );
  const filesWith = (pattern: RegExp, files: readonly string[]): string[] =>
    files.filter((path) => pattern.test(readFileSync(join(root, path), 'utf8')));

  // Test files share a process, in which a module is read once: such a hook runs for the file that happened to come first.
  test('what they share has no hooks on its top level', () => {
    const hook = /^(?:before|after)(?:Each|All)\(/m;
    expect(hook.test('\nafterEach(async () => {\n')).toBe(true);
    expect(
      filesWith(
        hook,
        testFiles.filter((path) => !/\.(?:test|suite|conformance)\.ts$/.test(path)),
      ),
    ).toEqual([]);
  });

  // Suites on real clusters have a patience of their own, for each kind of wait.
  test('wait with `eventually` where there is no cluster: the second the runner would wait is not much on a busy machine', () => {
    const impatient = /\bvi\.wait(?:For|Until)\b/;
    expect(impatient.test('await vi.waitFor(() => expect(open).toBe(12));')).toBe(true);
    const here = testFiles.filter((path) => !/^test\/(?:cluster|conformance|node|structure)\//.test(path));
    expect(filesWith(impatient, here)).toEqual(['src/lib/testing/eventually.ts']);
  });
});
