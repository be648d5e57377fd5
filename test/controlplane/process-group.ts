/** A program that runs in a process group of its own, logs into a file, and leaves a file that says who it is. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { type Clock, sleep } from '../../src/lib/clock.ts';
import { formatIdentity, identify, isRunning, type ProcessIdentity } from './process-identity.ts';

const POLL_MILLIS = 20;

export interface ProgramSpec {
  /** Names the files `<name>.log` and `<name>.pid` in the run's folder. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How many pipes it has from file descriptor 3 on. */
  readonly pipes?: number;
}

/** How a program ended; both are null where it is not known any more. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Program {
  readonly name: string;
  readonly pid: number;
  /** Our ends; they close when this process ends, however it ends. */
  readonly pipes: readonly Socket[];
  isRunning(): boolean;
  /** Undefined while it runs. */
  ended(): Ended | undefined;
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM to the group, then SIGKILL after `graceMillis`; resolves when the program has ended. */
  stop(graceMillis: number): Promise<void>;
}

/** Signals a whole group; one that has ended already is no error. */
export function signalGroup(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(-identity.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Last lines of a program's log, for error messages. */
export function readLogTail(directory: string, name: string, lines: number): string {
  try {
    return readFileSync(join(directory, `${name}.log`), 'utf8')
      .trimEnd()
      .split('\n')
      .slice(-lines)
      .join('\n');
  } catch {
    return '(no log)';
  }
}

/**
 * Ends a group when this process does, also by SIGKILL: its input is a pipe that closes then. In a group of its own, as a signal
 * to all that a terminal or a script has started comes to them before anybody has cleaned up.
 */
function guardGroup(child: ChildProcess, pid: number): void {
  const guard = spawn('sh', ['-c', 'read -r _; kill -s KILL -- "-$1"', 'guard', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.once('error', () => undefined);
  guard.unref();
  if (guard.stdin instanceof Socket) guard.stdin.unref();
  child.once('exit', () => guard.kill('SIGKILL'));
}

/** It ends with this process at the latest. @throws Error when the program cannot be started at all. */
export async function startProgram(spec: ProgramSpec, directory: string, clock: Clock): Promise<Program> {
  const log = openSync(join(directory, `${spec.name}.log`), 'a');
  const pidFile = join(directory, `${spec.name}.pid`);
  // `detached` makes the child the leader of a new process group, so that a signal to -pid reaches its children too.
  const child = spawn(spec.command, spec.args, {
    detached: true,
    stdio: ['ignore', log, log, ...Array.from({ length: spec.pipes ?? 0 }, () => 'pipe' as const)],
    env: spec.env ?? process.env,
  });
  closeSync(log);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new Error(`cannot start ${spec.name} (${spec.command}): ${error.message}`)));
  });
  // Not waiting for the child: a test runner that is done must be able to end.
  child.unref();
  const { pid } = child;
  if (pid === undefined) throw new Error(`${spec.name} started without a process id`);
  const identity = identify(pid) ?? { pid, started: 'ended at once' };
  writeFileSync(pidFile, formatIdentity(identity));
  guardGroup(child, pid);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null || !isRunning(identity);
  return {
    name: spec.name,
    pid,
    pipes: child.stdio.slice(3).filter((stream) => stream instanceof Socket),
    isRunning: () => !hasEnded(),
    ended: () => (hasEnded() ? { code: child.exitCode, signal: child.signalCode } : undefined),
    signal: (signal) => signalGroup(identity, signal),
    async stop(graceMillis) {
      const deadline = clock.now() + graceMillis;
      signalGroup(identity, 'SIGTERM');
      // A stopped process (SIGSTOP of a fault test) sees no SIGTERM until it runs again.
      signalGroup(identity, 'SIGCONT');
      while (!hasEnded() && clock.now() < deadline) await sleep(clock, POLL_MILLIS);
      signalGroup(identity, 'SIGKILL');
      while (!hasEnded()) await sleep(clock, POLL_MILLIS);
      rmSync(pidFile, { force: true });
    },
  };
}
