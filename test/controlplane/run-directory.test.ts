import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSystemClock } from '../../src/lib/clock.ts';
import { readLogTail, startProgram } from './process-group.ts';
import { formatIdentity, identify } from './process-identity.ts';
import { createRunDirectory, killPrograms, removeAbandonedRuns } from './run-directory.ts';

const clock = createSystemClock();
const SLEEPER = ['-e', 'setInterval(() => undefined, 1000)'];
let parent = '';
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'stowage-runs-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

/** A folder as a run leaves it that was killed: its owner is dead. */
function abandonedRun(): string {
  const directory = join(parent, 'stowage-controlplane-dead');
  mkdirSync(directory);
  const { pid } = spawnSync(process.execPath, ['--version']);
  writeFileSync(join(directory, 'owner.pid'), formatIdentity({ pid, started: '1' }));
  return directory;
}

describe('folders of runs', () => {
  test('of a living owner stay', () => {
    const directory = createRunDirectory(parent);
    expect(removeAbandonedRuns(clock, parent)).toEqual([]);
    expect(existsSync(directory)).toBe(true);
  });

  test('of a dead owner go, with the programs they name', async () => {
    const directory = abandonedRun();
    const child = spawn(process.execPath, SLEEPER, { detached: true, stdio: 'ignore' });
    const ended = once(child, 'exit');
    await once(child, 'spawn');
    const identity = identify(child.pid ?? 0);
    writeFileSync(join(directory, 'etcd.pid'), identity === undefined ? '' : formatIdentity(identity));
    expect(removeAbandonedRuns(clock, parent)).toEqual([directory]);
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(existsSync(directory)).toBe(false);
  });

  test('a stranger that was given the id of a dead program is left alone', async () => {
    const directory = abandonedRun();
    const stranger = spawn(process.execPath, SLEEPER, { detached: true, stdio: 'ignore' });
    await once(stranger, 'spawn');
    writeFileSync(join(directory, 'etcd.pid'), formatIdentity({ pid: stranger.pid ?? 0, started: '1' }));
    removeAbandonedRuns(clock, parent);
    expect(identify(stranger.pid ?? 0)).toBeDefined();
    const ended = once(stranger, 'exit');
    stranger.kill('SIGKILL');
    await ended;
  });

  test('without an owner they are another run in the making, until they are a minute old', () => {
    const directory = join(parent, 'stowage-controlplane-new');
    mkdirSync(directory);
    expect(removeAbandonedRuns(clock, parent)).toEqual([]);
    const twoMinutesAgoSeconds = clock.now() / 1000 - 120;
    utimesSync(directory, twoMinutesAgoSeconds, twoMinutesAgoSeconds);
    expect(removeAbandonedRuns(clock, parent)).toEqual([directory]);
  });

  test('other folders are never touched', () => {
    mkdirSync(join(parent, 'precious'));
    removeAbandonedRuns(clock, parent);
    expect(existsSync(join(parent, 'precious'))).toBe(true);
  });
});

describe('programs', () => {
  const start = (name: string, args: readonly string[]) =>
    startProgram({ name, command: process.execPath, args }, parent, clock);

  test('stopping ends the whole group, children included', async () => {
    const script = `const c = require('node:child_process').spawn(process.execPath, ${JSON.stringify(SLEEPER)}); console.log(c.pid); setInterval(() => undefined, 1000)`;
    const program = await start('parent', ['-e', script]);
    await expect.poll(() => readLogTail(parent, 'parent', 1)).toMatch(/^\d+$/);
    const childPid = Number(readLogTail(parent, 'parent', 1));
    expect(identify(childPid)).toBeDefined();
    await program.stop(5_000);
    expect(program.isRunning()).toBe(false);
    await expect.poll(() => identify(childPid)).toBeUndefined();
    expect(existsSync(join(parent, 'parent.pid'))).toBe(false);
  });

  test('what has left its id in a folder below is ended with the rest', async () => {
    const folder = mkdtempSync(join(parent, 'beside-'));
    const { pid } = await startProgram({ name: 'beside', command: process.execPath, args: SLEEPER }, folder, clock);
    killPrograms(parent);
    await expect.poll(() => identify(pid)).toBeUndefined();
  });

  test('it ends with the process that started it, however that one ends, and whatever it does about signals', async () => {
    const module = (path: string): string => JSON.stringify(join(import.meta.dirname, path));
    const args = ['-e', `process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1000)`];
    const owner = `
      const { createSystemClock } = await import(${module('../../src/lib/clock.ts')});
      const { startProgram } = await import(${module('process-group.ts')});
      const program = { name: 'orphan', command: process.execPath, args: ${JSON.stringify(args)} };
      console.log((await startProgram(program, ${JSON.stringify(parent)}, createSystemClock())).pid);
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', owner], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [pid] = await once(createInterface(child.stdout), 'line');
    expect(identify(Number(pid))).toBeDefined();
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    await expect.poll(() => identify(Number(pid))).toBeUndefined();
  });

  test('one that ignores SIGTERM is killed after the grace', async () => {
    const program = await start('deaf', [
      '-e',
      `process.on('SIGTERM', () => undefined); console.log('up'); setInterval(() => undefined, 1000)`,
    ]);
    await expect.poll(() => readLogTail(parent, 'deaf', 1)).toBe('up');
    await program.stop(100);
    expect(program.isRunning()).toBe(false);
  });

  test('a frozen one can be stopped', async () => {
    const program = await start('frozen', SLEEPER);
    program.signal('SIGSTOP');
    await program.stop(5_000);
    expect(program.isRunning()).toBe(false);
  });

  test('all that left a pid file are ended at once, whoever started them; a folder that is gone is no error', async () => {
    const programs = [await start('one', SLEEPER), await start('two', SLEEPER)];
    expect(programs.map((program) => program.ended())).toEqual([undefined, undefined]);
    killPrograms(parent);
    const killed = { code: null, signal: 'SIGKILL' };
    await expect.poll(() => programs.map((program) => program.ended())).toEqual([killed, killed]);
    killPrograms(join(parent, 'nowhere'));
  });

  test('one that ends by itself tells its code', async () => {
    const program = await start('failing', ['-e', 'process.exitCode = 3']);
    await expect.poll(() => program.ended()).toEqual({ code: 3, signal: null });
  });

  test('a missing program is an error that names it', async () => {
    await expect(startProgram({ name: 'etcd', command: '/nowhere/etcd', args: [] }, parent, clock)).rejects.toThrow(
      'cannot start etcd (/nowhere/etcd)',
    );
  });

  test('the tail of the log is what was written last', async () => {
    const program = await start('chatty', ['-e', 'for (let i = 0; i < 50; i++) console.log(i)']);
    await expect.poll(() => program.isRunning()).toBe(false);
    expect(readLogTail(parent, 'chatty', 2)).toBe('48\n49');
    expect(readLogTail(parent, 'nobody', 2)).toBe('(no log)');
  });
});
