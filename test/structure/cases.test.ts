/** Every numbered case of the public system's behaviour is a test with its number in its name, or explained in docs/testing.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

function testFiles(): string[] {
  return ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:test|conformance)\.ts$/.test(path))
      .map((path) => join(root, folder, path)),
  );
}

/** Numbers named in test titles: `case 27: …`, `case 9, 10: …`, `case 1-4: …`. */
function coveredCases(): Set<number> {
  const covered = new Set<number>();
  for (const file of testFiles()) {
    for (const match of readFileSync(file, 'utf8').matchAll(/\bcases? (\d[\d,\s-]*):/g)) {
      for (const part of (match[1] ?? '').split(',')) {
        const [first, last] = part.trim().split('-').map(Number);
        if (first === undefined || Number.isNaN(first)) continue;
        for (let number = first; number <= (last ?? first); number++) covered.add(number);
      }
    }
  }
  return covered;
}

/** Rows `| 29 | reason |` of the table "Cases without a test" in docs/testing.md. */
function explainedCases(): Set<number> {
  const page = readFileSync(join(root, 'docs/testing.md'), 'utf8');
  const section = page.split('## Cases without a test')[1]?.split('\n## ')[0] ?? '';
  return new Set([...section.matchAll(/^\| (\d+) \| \S/gm)].map((match) => Number(match[1])));
}

test('each of the 76 cases is a named test or explained in docs/testing.md', () => {
  const covered = coveredCases();
  const explained = explainedCases();
  const missing = Array.from({ length: 76 }, (_, index) => index + 1).filter(
    (number) => !covered.has(number) && !explained.has(number),
  );
  expect(missing).toEqual([]);
});

test('a case that has a test is not listed as missing', () => {
  const covered = coveredCases();
  expect([...explainedCases()].filter((number) => covered.has(number))).toEqual([]);
});
