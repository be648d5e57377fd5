/** Every reason of the table is given by something: one that nothing gives is looked for in vain. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { reasonTable } from '../../src/lib/reason-table.ts';

const source = resolve(import.meta.dirname, '../../src');
/** What runs, without the tables of reasons and tests. */
const code = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !/^lib\/reason|(?:^|\/)testing\//.test(path))
  .map((path) => readFileSync(join(source, path), 'utf8'))
  .join('\n');
const words = new Set(code.match(/\b[A-Z][A-Za-z]+\b/g));

test('each is given somewhere', () => {
  expect(Object.keys(reasonTable).filter((name) => !words.has(name))).toEqual([]);
});

test('one that is given nowhere is noticed', () => {
  expect(words.has('NobodyGivesThisReason')).toBe(false);
});
