import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findChromium } from './find-chromium.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stowage-find-chromium-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function addProgram(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o755);
  return path;
}

describe('finding Chromium', () => {
  test('nowhere', () => {
    expect(findChromium({ XDG_CACHE_HOME: root, PATH: join(root, 'bin') })).toBeUndefined();
  });

  test('the variable wins over the cache, which brings its libraries, which wins over PATH', () => {
    const env = { XDG_CACHE_HOME: root, PATH: join(root, 'bin') };
    const onPath = addProgram(join(root, 'bin', 'chromium'));
    expect(findChromium(env)).toEqual({ command: onPath, env: {} });
    const cached = addProgram(join(root, 'stowage/chromium/usr/lib/chromium/chromium-headless-shell'));
    expect(findChromium(env)).toEqual({
      command: cached,
      env: { LD_LIBRARY_PATH: expect.stringContaining(join(root, 'stowage/chromium/usr/lib')) },
    });
    const named = addProgram(join(root, 'mine'));
    expect(findChromium({ ...env, TEST_ASSET_CHROMIUM: named })).toEqual({ command: named, env: {} });
  });

  test('a variable that names no program is an error', () => {
    expect(() => findChromium({ TEST_ASSET_CHROMIUM: join(root, 'nothing') })).toThrow('TEST_ASSET_CHROMIUM');
  });
});
