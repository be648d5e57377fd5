import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../src/lib/virtual-clock.ts';
import { withLock } from './lock.ts';
import { formatIdentity, identify, isRunning, parseIdentity } from './process-identity.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stowage-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** An id that was in use a moment ago and belongs to nobody now. */
function endedPid(): number {
  return spawnSync(process.execPath, ['--version']).pid;
}

describe('process identity', () => {
  test('names this process, and the same one each time', () => {
    const first = identify(process.pid);
    expect(first).toBeDefined();
    expect(identify(process.pid)).toEqual(first);
  });

  test('an ended process has none', () => {
    expect(identify(endedPid())).toBeUndefined();
  });

  test('a later process with the same id is not the same process', () => {
    expect(isRunning({ pid: process.pid, started: 'another time' })).toBe(false);
  });

  test('survives writing and reading; half a file reads as nothing', () => {
    const identity = { pid: 4242, started: 'Mon Nov  2 10:00:00 2026' };
    const text = formatIdentity(identity);
    expect(parseIdentity(text)).toEqual(identity);
    for (let length = 0; length < text.length; length++) expect(parseIdentity(text.slice(0, length))).toBeUndefined();
  });
});

describe('lock between processes', () => {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));

  test('holds a file naming this process while the work runs, and none after', async () => {
    const path = join(directory, 'lock');
    const seen = await withLock(path, { clock }, async () => readFileSync(path, 'utf8'));
    expect(parseIdentity(seen)?.pid).toBe(process.pid);
    expect(existsSync(path)).toBe(false);
  });

  test('is released when the work fails', async () => {
    const path = join(directory, 'lock');
    await expect(withLock(path, { clock }, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(existsSync(path)).toBe(false);
  });

  test('a second holder waits until the first is done', async () => {
    const path = join(directory, 'lock');
    const order: string[] = [];
    let finishFirst: () => void = () => undefined;
    const first = withLock(path, { clock }, async () => {
      await new Promise<void>((resolve) => {
        finishFirst = resolve;
      });
      order.push('first done');
    });
    const waitedFor: (number | undefined)[] = [];
    const second = withLock(
      path,
      { clock, onWait: (pid) => waitedFor.push(pid) },
      async () => void order.push('second runs'),
    );
    await clock.advance(10_000);
    expect(order).toEqual([]);
    finishFirst();
    await first;
    await clock.advance(10_000);
    await second;
    expect(order).toEqual(['first done', 'second runs']);
    expect(waitedFor).toEqual([process.pid]);
  });

  test('waiting ends with the signal', async () => {
    const path = join(directory, 'lock');
    const self = identify(process.pid);
    writeFileSync(path, self === undefined ? '' : formatIdentity(self));
    const controller = new AbortController();
    const waiting = withLock(path, { clock, signal: controller.signal }, async () => 'never');
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  test.each([
    ['a dead process', () => `${endedPid()} 12345\n`],
    ['a process whose id was given to another one since', () => `${process.pid} 1\n`],
  ])('a lock left by %s is taken over', async (_, content) => {
    const path = join(directory, 'lock');
    writeFileSync(path, content());
    await expect(withLock(path, { clock }, async () => 'mine')).resolves.toBe('mine');
    expect(existsSync(path)).toBe(false);
  });

  test('a damaged lock file is taken over after a minute, not before', async () => {
    const path = join(directory, 'lock');
    writeFileSync(path, 'what is this');
    const fileClock = createVirtualClock(Date.now());
    let isMine = false;
    const waiting = withLock(path, { clock: fileClock }, async () => {
      isMine = true;
    });
    await fileClock.advance(30_000);
    expect(isMine).toBe(false);
    await fileClock.advance(40_000);
    await waiting;
    expect(isMine).toBe(true);
  });
});
