/** Whole runs that end badly: whatever a killed run has left is found and removed by the next start. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSystemClock } from '../../src/lib/clock.ts';
import { removeAbandonedNodeRuns } from './host/node-run.ts';
import { compareSnapshots, type Snapshot, takeSnapshot } from './host/snapshot.ts';

const clock = createSystemClock();
let before: Snapshot;
let child: ChildProcess | undefined;

/** Boots a control plane and a node with a running pod in processes of its own. @returns once the pod runs. */
function boot(): Promise<ChildProcess> {
  const started = spawn(process.execPath, [join(import.meta.dirname, 'boot.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  return new Promise((done, fail) => {
    let output = '';
    started.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('running')) done(started);
    });
    started.once('exit', (code, signal) => fail(new Error(`booting ended with ${signal ?? code}: ${output}`)));
  });
}

const ended = (process: ChildProcess): Promise<void> =>
  vi.waitFor(() => expect(process.exitCode ?? process.signalCode).not.toBeNull(), { timeout: 60_000, interval: 50 });

beforeEach(async () => {
  await removeAbandonedNodeRuns(clock);
  before = takeSnapshot();
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await removeAbandonedNodeRuns(clock);
});

test('a run that is killed with its pods running is removed by the next start: processes, mounts, control groups, namespace, settings', async () => {
  const running = await boot();
  const during = takeSnapshot();
  // The comparison can see what there is to see.
  const seen = compareSnapshots(before, during).map((line) => line.slice(0, line.indexOf(':')));
  expect(new Set(seen)).toEqual(new Set(['+ processes', '+ mounts', '+ cgroups', '+ folders']));
  expect(during.processes.join('\n')).toMatch(/kubelet.*containerd-shim-runc-v2|containerd-shim-runc-v2.*kubelet/s);

  running.kill('SIGKILL');
  await ended(running);
  expect(compareSnapshots(during, takeSnapshot()).filter((line) => line.includes('shim'))).toEqual([]);
  const removed = await removeAbandonedNodeRuns(clock);
  expect(removed).toHaveLength(1);
  expect(removed.filter((directory) => existsSync(directory))).toEqual([]);
  expect(compareSnapshots(before, takeSnapshot())).toEqual([]);
});

test('a live run is left alone by the start of another, and leaves nothing when it is told to end', async () => {
  const running = await boot();
  expect(await removeAbandonedNodeRuns(clock)).toEqual([]);
  expect(compareSnapshots(before, takeSnapshot())).not.toEqual([]);
  running.kill('SIGTERM');
  await ended(running);
  expect(running.exitCode).toBe(0);
  expect(compareSnapshots(before, takeSnapshot())).toEqual([]);
});
