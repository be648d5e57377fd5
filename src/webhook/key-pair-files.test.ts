import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../lib/clock.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { checkKeyPair, followKeyPair, readKeyPair, validityOf } from './key-pair-files.ts';
import type { KeyPair } from './server.ts';
import { issueKeyPairs, validity } from './testing/key-pairs.ts';

const log = createSilentLogger();
const clock = createSystemClock();

let firstPair: KeyPair;
let secondPair: KeyPair;
let directory: string;

beforeAll(async () => {
  ({ firstPair, secondPair } = await issueKeyPairs());
  directory = await mkdtemp(join(tmpdir(), 'stowage-webhook-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('files are followed: a usable pair replaces the old one, a broken one does not', async () => {
  await writeFile(join(directory, 'tls.crt'), firstPair.cert);
  await writeFile(join(directory, 'tls.key'), firstPair.key);
  const current = await readKeyPair(directory);
  expect(current).toEqual(firstPair);
  const stop = new AbortController();
  const changed = Promise.withResolvers<KeyPair>();
  const following = followKeyPair({ directory, current, clock, log, onChange: changed.resolve }, stop.signal);
  // The certificate alone does not fit the key: it must not be taken.
  await writeFile(join(directory, 'tls.crt'), secondPair.cert);
  await writeFile(join(directory, 'tls.key'), secondPair.key);
  expect(await changed.promise).toEqual(secondPair);
  stop.abort();
  await following;
});

test('a pair that cannot be used is told of once, and the old one stays until there is one that can', async () => {
  const own = await mkdtemp(join(tmpdir(), 'stowage-webhook-'));
  onTestFinished(() => rm(own, { recursive: true, force: true }));
  // At once, as Secret volumes do: nobody reads half of it.
  const write = async (file: string, text: string): Promise<void> => {
    await writeFile(join(own, `.${file}`), text);
    await rename(join(own, `.${file}`), join(own, file));
  };
  await write('tls.crt', firstPair.cert);
  await write('tls.key', firstPair.key);
  const polled = createVirtualClock(0);
  const told: string[] = [];
  const changes: KeyPair[] = [];
  const noting = { ...log, warn: (_: object, text: string) => void told.push(text) };
  const options = { directory: own, current: firstPair, clock: polled, log: noting };
  const stop = new AbortController();
  const following = followKeyPair({ ...options, onChange: (pair) => void changes.push(pair) }, stop.signal);
  const seen = async (what: () => number, count: number): Promise<void> => {
    await expect.poll(() => polled.advance(10_000).then(what)).toBe(count);
  };
  await write('tls.crt', secondPair.cert);
  await seen(() => told.length, 1);
  for (let look = 0; look < 5; look++) await polled.advance(10_000);
  expect(changes).toEqual([]);
  await write('tls.key', secondPair.key);
  await seen(() => changes.length, 1);
  expect(changes).toEqual([secondPair]);
  // Told of once, however often it was read; another that cannot be used is told of again.
  expect(told).toHaveLength(1);
  await write('tls.key', firstPair.key);
  await seen(() => told.length, 2);
  stop.abort();
  await following;
  expect(changes).toEqual([secondPair]);
});

test('missing files and a pair that does not fit are named with a way out', async () => {
  await expect(readKeyPair(join(directory, 'nowhere'))).rejects.toThrow(/tls\.crt cannot be read .*webhook\.certDir/);
  expect(() => checkKeyPair({ cert: firstPair.cert, key: secondPair.key }, '/certs')).toThrow(/\/certs cannot be used/);
});

test.each(['cert', 'key'] as const)(
  'a %s that is empty, as in the middle of being written, is no usable pair',
  (part) => {
    expect(() => checkKeyPair({ ...firstPair, [part]: '' }, '/certs')).toThrow(/\/certs cannot be used/);
    expect(() => checkKeyPair({ ...firstPair, [part]: '\n' }, '/certs')).toThrow(/\/certs cannot be used/);
  },
);

test('validity is read from the leaf', () => {
  expect(validityOf(firstPair)).toEqual(validity);
});
