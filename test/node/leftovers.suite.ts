/** Whole runs that end badly: whatever a killed run has left is found and removed by the next start, and nothing of a run that lives. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createSystemClock } from '../../src/lib/clock.ts';
import { type NodeRun, nodeRuns, openNodeRun, removeAbandonedNodeRuns } from './host/node-run.ts';
import { compareSnapshots, type Snapshot, takeSnapshot } from './host/snapshot.ts';

interface Booted {
  readonly process: ChildProcess;
  readonly run: NodeRun;
}

const clock = createSystemClock();
/** Of the suites beside this one. */
let others: readonly NodeRun[];
let before: Snapshot;
let killed: Booted;
let living: Booted;
const started: ChildProcess[] = [];

/** Boots a control plane and a node with a running pod in processes of its own. @returns once the pod runs. */
function boot(): Promise<Booted> {
  const process_ = spawn(process.execPath, [join(import.meta.dirname, 'boot.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(process_);
  return new Promise((done, fail) => {
    let output = '';
    process_.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const [, directory] = /^running (.+)\n/.exec(output) ?? [];
      if (directory !== undefined) done({ process: process_, run: openNodeRun(directory) });
    });
    process_.once('exit', (code, signal) => fail(new Error(`booting ended with ${signal ?? code}: ${output}`)));
  });
}

const ended = ({ process: child }: Booted): Promise<void> =>
  vi.waitFor(() => expect(child.exitCode ?? child.signalCode).not.toBeNull(), { timeout: 60_000, interval: 50 });

/** What has come and gone since the beginning, apart from what belongs to `except`. */
const changes = (...except: readonly Booted[]): string[] =>
  compareSnapshots(before, takeSnapshot([...others, ...except.map(({ run }) => run)]));

beforeAll(async () => {
  await removeAbandonedNodeRuns(clock);
  others = nodeRuns();
  before = takeSnapshot(others);
  [killed, living] = await Promise.all([boot(), boot()]);
});
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await removeAbandonedNodeRuns(clock);
});

test('a run that is killed with its pods running is removed by the next start: processes, mounts, control groups, namespace, settings', async () => {
  const during = changes(living);
  // The comparison can see what there is to see.
  const seen = during.map((line) => line.slice(0, line.indexOf(':')));
  expect(new Set(seen)).toEqual(new Set(['+ processes', '+ mounts', '+ cgroups', '+ folders']));
  expect(during.join('\n')).toMatch(/kubelet.*containerd-shim-runc-v2|containerd-shim-runc-v2.*kubelet/s);

  killed.process.kill('SIGKILL');
  await ended(killed);
  expect(changes(living).filter((line) => line.includes('shim'))).not.toEqual([]);
  expect(await removeAbandonedNodeRuns(clock)).toEqual([killed.run.directory]);
  expect(existsSync(killed.run.directory)).toBe(false);
  expect(changes(living)).toEqual([]);
});

test('a live run is left alone by the start of another, and leaves nothing when it is told to end', async () => {
  expect(await removeAbandonedNodeRuns(clock)).toEqual([]);
  expect(changes().join('\n')).toMatch(/kubelet.*containerd-shim-runc-v2|containerd-shim-runc-v2.*kubelet/s);
  living.process.kill('SIGTERM');
  await ended(living);
  expect(living.process.exitCode).toBe(0);
  expect(changes()).toEqual([]);
});
