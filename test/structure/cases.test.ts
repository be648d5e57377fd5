/** Every numbered behaviour, hazard and public bug is a test with its number in its name, or explained in docs/testing.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { coveredNumbers, explainedNumbers, type Numbering, root, testSources } from './numbered.ts';

const numberings: readonly (readonly [string, Numbering])[] = [
  ['the 76 cases', { word: 'case', letter: '', count: 76, section: 'Cases without a test' }],
  ['the hazards H1-H34', { word: 'hazard', letter: 'H', count: 34, section: 'Hazards without a test' }],
  ['the 40 bug rows', { word: 'bug', letter: '', count: 40, section: 'Bug rows without a test' }],
];
const page = readFileSync(join(root, 'docs/testing.md'), 'utf8');
const sources = testSources();

describe.each(numberings)('%s', (_, numbering) => {
  const covered = new Set(sources.flatMap((source) => [...coveredNumbers(source, numbering)]));
  const explained = explainedNumbers(page, numbering);

  test('each is a named test or explained in docs/testing.md', () => {
    const all = Array.from({ length: numbering.count }, (_each, index) => index + 1);
    expect(all.filter((number) => !covered.has(number) && !explained.has(number))).toEqual([]);
  });

  test('what has a test is not listed as missing, and no number is made up', () => {
    expect([...explained].filter((number) => covered.has(number))).toEqual([]);
    expect([...covered, ...explained].filter((number) => number < 1 || number > numbering.count)).toEqual([]);
  });
});

describe('the reader of titles', () => {
  const [cases, hazards, bugs] = numberings.map(([, numbering]) => numbering);
  const read = (title: string, numbering: Numbering | undefined): number[] =>
    numbering === undefined ? [] : [...coveredNumbers(title, numbering)];

  // Put together from parts, so that this file covers nothing itself.
  const [aCase, aHazard, aBug] = ['case', 'hazard', 'bug'];

  test.each([
    [`test('${aCase} 27: one')`, [27], [], []],
    [`test('${aCase} 9, 11: two')`, [9, 11], [], []],
    [`test('${aCase} 1-3: a range')`, [1, 2, 3], [], []],
    [`test('${aCase} 5: ${aHazard} H7: ${aBug} 2: all of them')`, [5], [7], [2]],
    [`test('${aHazard} H6, ${aBug} 16: with a comma')`, [], [6], [16]],
    [`test('${aHazard} H1: this, and later ${aHazard} H2: that')`, [], [1, 2], []],
    [`// as in ${aCase} 12 of the reference`, [], [], []],
    [
      `  // ${aCase} 12: a comment with a colon\n/** ${aHazard} H3: another\n * ${aBug} 4: and its next line */`,
      [],
      [],
      [],
    ],
  ])('%s', (title, ofCases, ofHazards, ofBugs) => {
    expect([read(title, cases), read(title, hazards), read(title, bugs)]).toEqual([ofCases, ofHazards, ofBugs]);
  });
});
