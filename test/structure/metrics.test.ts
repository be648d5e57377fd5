/** Every metric of the table is written somewhere: one that nobody feeds looks like a quiet system. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { metricTable } from '../../src/lib/metrics.ts';

const source = resolve(import.meta.dirname, '../../src');
/** What runs, without the tables of metrics and tests. */
const code = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !/^lib\/|(?:^|\/)testing\//.test(path))
  .map((path) => readFileSync(join(source, path), 'utf8'))
  .filter((text) => /\.(?:inc|set|observe)\(/.test(text));

const isWritten = (name: string): boolean => code.some((text) => text.includes(`'${name}'`));

test.each(Object.keys(metricTable).map((name) => [name]))('%s has a writer', (name) => {
  expect(isWritten(name)).toBe(true);
});

test('one without a writer is noticed', () => {
  expect(isWritten('stowage_wishes_total')).toBe(false);
});
