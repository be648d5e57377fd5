import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ensurePrometheus, findPrometheus, prometheusFolder } from './find-prometheus.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stowage-prometheus-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function addProgram(path: string, text = '#!/bin/sh\n'): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

describe('finding Prometheus', () => {
  test('nowhere', () => {
    expect(findPrometheus({ XDG_CACHE_HOME: root, PATH: join(root, 'bin') })).toBeUndefined();
  });

  test('the variable wins over the cache, which wins over PATH', () => {
    const env = { XDG_CACHE_HOME: root, PATH: join(root, 'bin') };
    const onPath = addProgram(join(root, 'bin', 'prometheus'));
    expect(findPrometheus(env)).toBe(onPath);
    const cached = addProgram(join(prometheusFolder(env), 'usr', 'bin', 'prometheus'));
    expect(findPrometheus(env)).toBe(cached);
    const named = addProgram(join(root, 'mine'));
    expect(findPrometheus({ ...env, TEST_ASSET_PROMETHEUS: named })).toBe(named);
  });

  test('a variable that names no program is an error', () => {
    expect(() => findPrometheus({ TEST_ASSET_PROMETHEUS: join(root, 'nothing') })).toThrow('TEST_ASSET_PROMETHEUS');
  });

  test('where it cannot be fetched, the error says what to do and nothing is left behind', async () => {
    const before = process.env['PATH'];
    process.env['PATH'] = join(root, 'bin');
    addProgram(join(root, 'bin', 'apt-get'), '#!/bin/sh\nexit 100\n');
    const env = { XDG_CACHE_HOME: root, PATH: join(root, 'bin') };
    await expect(ensurePrometheus(env)).rejects.toThrow('TEST_ASSET_PROMETHEUS');
    process.env['PATH'] = before;
    expect(findPrometheus(env)).toBeUndefined();
  });
});
