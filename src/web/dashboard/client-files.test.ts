import { describe, expect, test } from 'vitest';
import { listClientFiles, readClientFile } from './client-files.ts';

describe('the files of the pages, from source', () => {
  test('the page, its style, and each module without its types; no test and no settings', () => {
    const files = listClientFiles();
    const { emitWarning } = process;
    expect(files.get('/')).toBe('index.html');
    expect(files.get('/app.js')).toBe('main.ts');
    expect([...files.keys()].filter((path) => /\.test\.|\.json$/.test(path))).toEqual([]);
    for (const name of files.values()) {
      const { status, contentType, body } = readClientFile(name);
      expect([name, status, body.length > 0]).toEqual([name, 200, true]);
      if (!name.endsWith('.ts')) continue;
      expect(contentType).toBe('text/javascript; charset=utf-8');
      expect(body).not.toMatch(/^(?:export )?interface |^import type /m);
    }
    expect(process.emitWarning).toBe(emitWarning);
  });

  test('whatever a page is made of is served where a browser asks for it', () => {
    const files = listClientFiles();
    const asked = [...files].flatMap(([path, name]) => {
      const imports = name.endsWith('.ts')
        ? readClientFile(name).body.matchAll(/^import [^;]* from '(\.[^']+)';$/gm)
        : [];
      return [...imports].map(([, from = '']) => new URL(from, `http://host${path}`).pathname);
    });
    expect(asked.length).toBeGreaterThan(50);
    expect(asked.filter((path) => !files.has(path))).toEqual([]);
  });
});
