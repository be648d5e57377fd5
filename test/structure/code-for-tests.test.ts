/** What only tests use is no part of the program: it is read, kept and believed in for nothing. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './numbered.ts';

/** Kept all the same, each for a reason. */
const kept: ReadonlySet<string> = new Set([
  // Other solutions, and what MBCAS does, by which ours is judged.
  ...['kalaiSmorodinsky', 'strictBid', 'strictFastStep', 'strictPrice', 'strictRequest', 'strictSolve', 'strictStep'],
  'inspectSizeAll', // each objection, where the guard stops at the first
  'issueClientCertificate', // users of clusters
  'loopsFrom', // the judge of allocation
]);

const sourcesIn = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:ts|mjs)$/.test(path) && !/\.test\.ts$|(?:^|\/)testing\//.test(path))
      .map((path) => [join(folder, path), readFileSync(join(root, folder, path), 'utf8')]),
  );

/** Names of functions, constants and classes that `declared` exports, and that no text of `all` names besides, but in comments. */
function unused(declared: Iterable<string>, all: Iterable<string>): string[] {
  const counts = new Map<string, number>();
  for (const text of all) {
    for (const [word] of text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '').matchAll(/\b[A-Za-z_]\w*\b/g))
      counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const names = [...declared].flatMap((text) =>
    [...text.matchAll(/^export (?:async )?(?:function\*?|const|class) (\w+)/gm)].map(([, name = '']) => name),
  );
  return names.filter((name) => counts.get(name) === 1);
}

test('no function, constant or class of src is there for tests alone', () => {
  const source = sourcesIn('src');
  const users = ['bench', 'scripts', 'bin'].flatMap((folder) => [...sourcesIn(folder).values()]);
  const found = unused(source.values(), [...source.values(), ...users]);
  expect(found.filter((name) => !kept.has(name))).toEqual([]);
  expect([...kept].filter((name) => !found.includes(name))).toEqual([]);
});

test('one that is only declared, or named in a comment, is noticed', () => {
  const text = 'export function a() {}\n/** See {@link a}. */\nexport const b = 1; // not a\nconst c = b;\n';
  expect(unused([text], [text])).toEqual(['a']);
});
