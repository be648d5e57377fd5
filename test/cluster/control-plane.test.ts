/** The harness itself: what is started ends, by whichever way its owner goes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSystemClock } from '../../src/lib/clock.ts';
import { ensureBinaries } from '../controlplane/build.ts';
import { startControlPlane } from '../controlplane/control-plane.ts';
import { isRunning, type ProcessIdentity, parseIdentity } from '../controlplane/process-identity.ts';
import { removeAbandonedRuns } from '../controlplane/run-directory.ts';
import { componentNames } from '../controlplane/versions.ts';

const clock = createSystemClock();
/** Of killed programs, on a machine that is busy. */
const PATIENCE = { timeout: 150_000 };
const binaries = () => ensureBinaries({ clock, env: process.env, report: () => undefined });

let parent = '';
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'stowage-harness-'));
});
afterEach(() => {
  removeAbandonedRuns(clock, parent);
  rmSync(parent, { recursive: true, force: true });
});

function programsIn(directory: string): ProcessIdentity[] {
  return componentNames.flatMap((name) => parseIdentity(readFileSync(join(directory, `${name}.pid`), 'utf8')) ?? []);
}

/** Runs a control plane in another process, whose temporary folder is `parent`. */
async function startElsewhere(): Promise<{ kill: (signal: NodeJS.Signals) => Promise<void>; directory: string }> {
  const harness = join(import.meta.dirname, '..', 'controlplane');
  const script = `
    const { createSystemClock } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/lib/clock.ts'))});
    const { startControlPlane } = await import(${JSON.stringify(join(harness, 'control-plane.ts'))});
    const { directory } = await startControlPlane({ clock: createSystemClock(), binaries: JSON.parse(process.argv[1]) });
    process.on('SIGTERM', () => process.exit(1));
    setInterval(() => undefined, 1000);
    // Last: it is what the test waits for.
    console.log(directory);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(await binaries())], {
    env: { ...process.env, TMPDIR: parent },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [directory] = await once(createInterface(child.stdout), 'line');
  return {
    directory: String(directory),
    kill: async (signal) => {
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
  };
}

describe('a control plane', () => {
  test('that was stopped leaves no process and no folder', async () => {
    const controlPlane = await startControlPlane({ binaries: await binaries(), clock });
    const programs = programsIn(controlPlane.directory);
    expect(programs).toHaveLength(4);
    expect(programs.every(isRunning)).toBe(true);
    await controlPlane.stop();
    expect(programs.filter(isRunning)).toEqual([]);
    expect(existsSync(controlPlane.directory)).toBe(false);
    await controlPlane.stop();
  });

  test('whose owner exits without stopping it ends with the owner', async () => {
    const { kill, directory } = await startElsewhere();
    const programs = programsIn(directory);
    expect(programs.every(isRunning)).toBe(true);
    await kill('SIGTERM');
    await expect.poll(() => programs.filter(isRunning), PATIENCE).toEqual([]);
    expect(existsSync(directory)).toBe(false);
  });

  test('whose owner was killed ends with it too; its folder goes with the next start', async () => {
    const { kill, directory } = await startElsewhere();
    const programs = programsIn(directory);
    await kill('SIGKILL');
    await expect.poll(() => programs.filter(isRunning), PATIENCE).toEqual([]);
    expect(removeAbandonedRuns(clock, parent)).toEqual([directory]);
    expect(readdirSync(parent)).toEqual([]);
  });

  test('that cannot start says why, and leaves nothing', async () => {
    const extraApiServerFlags = ['--no-such-flag'];
    const starting = startControlPlane({ binaries: await binaries(), clock, extraApiServerFlags });
    await expect(starting).rejects.toThrow(/kube-apiserver ended while starting[\s\S]*unknown flag: --no-such-flag/);
  });
});
