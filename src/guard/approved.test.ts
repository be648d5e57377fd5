import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { expect, test } from 'vitest';
import { approve } from './approved.ts';
import { evict } from './testing/scene.ts';

const root = resolve(import.meta.dirname, '..');

test('an approval carries the decision it is for, unchanged', () => {
  const decision = evict();
  expect(approve(decision).decision).toBe(decision);
});

test('only the two guards approve', () => {
  const importing = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.split('/').includes('testing'))
    .filter((path) =>
      /import \{[^}]*\bapprove\b[^}]*\} from '[^']*approved\.ts'/.test(readFileSync(join(root, path), 'utf8')),
    );
  expect(importing.sort()).toEqual(['guard/guard.ts', 'guard/size/inspect-size.ts']);
});
