/** Numbers that the titles of tests carry, and the rows of docs/testing.md that explain the others. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

export interface Numbering {
  /** The word before the number in a title, e.g. `case`. */
  readonly word: string;
  /** Letter before each number, e.g. `H`. */
  readonly letter: string;
  readonly count: number;
  /** The section of docs/testing.md with the rows that have no test. */
  readonly section: string;
}

/** Sources of all tests that run. */
export function testSources(): string[] {
  return ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:test|conformance|suite|behaviour)\.ts$/.test(path))
      .map((path) => readFileSync(join(root, folder, path), 'utf8')),
  );
}

/** Lines that hold nothing but a comment, or a part of one. */
const COMMENTS = /^\s*(?:\/\/|\/\*|\*).*$/gm;

/**
 * Numbers named in test titles: `case 27: …`, `case 9, 10: …`, `case 1-4: …`, `hazard H6, bug 16: …`. Only what stands before
 * the colon counts, and no comment covers anything. Bug rows of other engines carry their name.
 */
export function coveredNumbers(source: string, { word, letter }: Numbering): Set<number> {
  const covered = new Set<number>();
  const tags =
    /(?<!\b(?:allocation|mbcas|rightsizing) )\b(?:case|hazard|bug)s? H?\d[H\d,\s-]*(?:[,:]? ?(?:case|hazard|bug)s? H?\d[H\d,\s-]*)*:/g;
  const own = new RegExp(`\\b${word}s? (${letter}\\d[${letter}\\d,\\s-]*)`, 'g');
  for (const [prefix] of source.replace(COMMENTS, '').matchAll(tags)) {
    for (const match of prefix.matchAll(own)) {
      for (const part of (match[1] ?? '').split(',')) {
        const [first, last] = part
          .trim()
          .split('-')
          .map((text) => Number.parseInt(text.trim().replace(letter, ''), 10));
        if (first === undefined || Number.isNaN(first)) continue;
        for (let number = first; number <= (last ?? first); number++) covered.add(number);
      }
    }
  }
  return covered;
}

/** Rows `| 29 | reason |` of a section of docs/testing.md. */
export function explainedNumbers(page: string, { letter, section }: Numbering): Set<number> {
  const text = page.split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  return new Set([...text.matchAll(new RegExp(`^\\| ${letter}(\\d+) \\| \\S`, 'gm'))].map((match) => Number(match[1])));
}
