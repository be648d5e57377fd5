import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createFileSource } from './file-source.ts';

async function aFile(text: string) {
  const directory = await mkdtemp(join(tmpdir(), 'stowage-file-source-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'token');
  await writeFile(path, text);
  let now = 86_400_000;
  const source = createFileSource(path, 'token', { ...createVirtualClock(0), now: () => now });
  return {
    source,
    path,
    replace: (next: string) => writeFile(path, next),
    pass: (millis: number) => {
      now += millis;
    },
  };
}

test('the text is kept for a minute, then read anew', async () => {
  const { source, replace, pass } = await aFile('old');
  expect(await source.read()).toBe('old');
  await replace('new');
  pass(59_000);
  expect(await source.read()).toBe('old');
  pass(1_000);
  expect(await source.read()).toBe('new');
});

test('what proved out of date is read anew at once', async () => {
  const { source, replace } = await aFile('old');
  await source.read();
  await replace('new');
  source.invalidate();
  expect(await source.read()).toBe('new');
});

test('a machine clock set back by an hour does not keep an old token for the hour', async () => {
  const { source, replace, pass } = await aFile('old');
  await source.read();
  await replace('new');
  pass(-3_600_000);
  expect(await source.read()).toBe('new');
});

test('a file that is gone or empty for a moment leaves what worked; one that never was is named', async () => {
  const { source, path, replace, pass } = await aFile('old');
  await source.read();
  await replace(' \n');
  pass(60_000);
  expect(await source.read()).toBe('old');
  await rm(path);
  pass(60_000);
  expect(await source.read()).toBe('old');
  const missing = createFileSource(path, 'service account token', createVirtualClock(0));
  await expect(missing.read()).rejects.toThrow(`Cannot read the service account token at ${path}`);
});
