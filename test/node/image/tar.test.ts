import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { packImage } from './oci-image.ts';
import { createTar, type TarEntry } from './tar.ts';

const file = (path: string, content: string, mode = 0o644): TarEntry => ({ path, content: Buffer.from(content), mode });

describe('archives', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stowage-tar-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const unpack = (archive: Buffer): void => {
    writeFileSync(join(directory, 'a.tar'), archive);
    execFileSync('tar', ['-xf', 'a.tar'], { cwd: directory });
  };

  test('are read by tar, with folders, permissions and content of any length', () => {
    const contents = ['', 'a', 'b'.repeat(511), 'c'.repeat(512), 'd'.repeat(513)];
    unpack(createTar(contents.map((content, index) => file(`one/two/${index}`, content, index === 1 ? 0o755 : 0o644))));
    for (const [index, content] of contents.entries())
      expect(readFileSync(join(directory, 'one', 'two', String(index)), 'utf8')).toBe(content);
    expect(statSync(join(directory, 'one/two/1')).mode & 0o777).toBe(0o755);
  });

  test('take paths of more than a hundred bytes, cut at a slash', () => {
    const path = `${'long-folder-name/'.repeat(9)}${'x'.repeat(90)}`;
    unpack(createTar([file(path, 'there')]));
    expect(readFileSync(join(directory, path), 'utf8')).toBe('there');
  });

  test('refuse a path no archive of this form can hold', () => {
    expect(() => createTar([file('y'.repeat(101), '')])).toThrow('shorten it to 255 bytes');
  });

  test('do not depend on the order of the entries', () => {
    const [a, b] = [file('a', '1'), file('b/c', '2')];
    expect(createTar([a, b]).equals(createTar([b, a]))).toBe(true);
  });
});

describe('images', () => {
  const spec = {
    name: 'localhost/x/y:3',
    layers: [[file('bin/a', 'a')], [file('bin/b', 'b')]],
    entrypoint: ['/bin/a'],
    user: '65532:65532',
  };

  test('have the same digest whenever their content is the same', () => {
    expect(packImage(spec).digest).toBe(packImage(spec).digest);
    expect(packImage({ ...spec, entrypoint: ['/bin/b'] }).digest).not.toBe(packImage(spec).digest);
  });

  test('name what containerd calls them, and hold every blob they refer to', () => {
    const directory = mkdtempSync(join(tmpdir(), 'stowage-image-'));
    try {
      writeFileSync(join(directory, 'a.tar'), packImage(spec).archive);
      execFileSync('tar', ['-xf', 'a.tar'], { cwd: directory });
      const read = (path: string) => JSON.parse(readFileSync(join(directory, path), 'utf8'));
      const blob = (digest: string) => join('blobs', digest.replace(':', '/'));
      const [manifestEntry] = read('index.json').manifests;
      expect(manifestEntry.annotations['io.containerd.image.name']).toBe('localhost/x/y:3');
      const manifest = read(blob(manifestEntry.digest));
      const config = read(blob(manifest.config.digest));
      expect(config.rootfs.diff_ids).toEqual(manifest.layers.map(({ digest }: { digest: string }) => digest));
      expect(config.config).toMatchObject({ Entrypoint: ['/bin/a'], User: '65532:65532' });
      for (const { digest, size } of manifest.layers) expect(statSync(join(directory, blob(digest))).size).toBe(size);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
