import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { renderConfigPage } from './config-page.ts';
import { listConfigKeys } from './schema.ts';

describe('the schema', () => {
  const keys = listConfigKeys();

  test.each(keys.map(({ path, key }) => [path, key] as const))(
    '%s has a valid default, a sentence, and a fitting variable',
    (path, key) => {
      expect(key.schema.safeParse(key.defaultValue).success).toBe(true);
      expect(key.description).toMatch(/^[A-Z].*\.$/);
      expect(key.accepted).not.toBe('');
      expect(path).toMatch(/^[a-z][a-zA-Z]*(\.[a-z][a-zA-Z]*)+$/);
      if (key.env !== undefined) expect(key.env).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    },
  );

  test('no two keys share a variable', () => {
    const variables = keys.flatMap(({ key }) => key.env ?? []);
    expect(new Set(variables).size).toBe(variables.length);
  });

  test('docs/configuration.md is what the schema says; `npm run docs` writes it', () => {
    expect(readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')).toBe(renderConfigPage());
  });
});
