import {
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { writeWhole } from './write-whole.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stowage-whole-'));
  const made = folder;
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
});
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

test('what was there is not written over but replaced, with its mode, and nothing else is left', async () => {
  writeFileSync(join(folder, 'usage.json'), 'before', { mode: 0o600 });
  linkSync(join(folder, 'usage.json'), join(folder, 'kept'));
  await writeWhole(join(folder, 'usage.json'), 'after');
  // Another name for the same file: its content would have changed with it.
  expect([read('usage.json'), read('kept')]).toEqual(['after', 'before']);
  expect(statSync(join(folder, 'usage.json')).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).sort()).toEqual(['kept', 'usage.json']);
});

test('a link stays one, and a file that was not there is made', async () => {
  symlinkSync(join(folder, 'new.json'), join(folder, 'link'));
  await writeWhole(join(folder, 'link'), 'text');
  expect(read('new.json')).toBe('text');
  expect(readdirSync(folder).sort()).toEqual(['link', 'new.json']);
  await writeWhole(join(folder, 'other.json'), 'text');
  expect(read('other.json')).toBe('text');
});

test('where it cannot be written the file system says why, and nothing is left', async () => {
  await expect(writeWhole(join(folder, 'none', 'usage.json'), 'text')).rejects.toThrow('ENOENT');
  await expect(writeWhole(folder, 'text')).rejects.toThrow('EISDIR');
  expect(readdirSync(folder)).toEqual([]);
});
