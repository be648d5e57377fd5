/** Every key of the configuration is read somewhere: one that nobody reads looks like a setting that does not work. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { listConfigKeys } from '../../src/config/schema.ts';

const source = resolve(import.meta.dirname, '../../src');
const comments = /\/\*[\s\S]*?\*\/|\/\/.*/g;
/** Words of what runs, without the configuration's own folder, tests and comments. */
const words = new Set(
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !/^config\/|(?:^|\/)testing\//.test(path))
    .flatMap((path) => readFileSync(join(source, path), 'utf8').replace(comments, '').match(/\w+/g) ?? []),
);

const isRead = (path: string): boolean => path.split('.').every((name) => words.has(name));

test.each(listConfigKeys().map(({ path }) => [path]))('%s is read', (path) => {
  expect(isRead(path)).toBe(true);
});

test('one that nobody reads is noticed', () => {
  expect(isRead('placement.wishes')).toBe(false);
});
