/** Tells a process from a later one that was given the same id, by its start time. Needed before a stale lock is taken over or a leftover is killed. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque text, equal for equal processes: clock ticks since boot on Linux, a date elsewhere. */
  readonly started: string;
}

/**
 * Start time of a running process; undefined when there is none with that id, or only its exit status is left. While threads of a
 * killed process are still ending it is running: its ports are taken until the last one is gone, though its first is a zombie before.
 */
function startTimeOf(pid: number): string | undefined {
  if (existsSync('/proc/self/stat')) {
    try {
      // proc(5): the second field is the name in parentheses, which may itself contain spaces and parentheses.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const [state] = fields;
      const isOver = state === 'X' || (state === 'Z' && readdirSync(`/proc/${pid}/task`).length < 2);
      return isOver ? undefined : fields[19];
    } catch {
      return undefined;
    }
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** @returns undefined when no such process runs (any more). */
export function identify(pid: number): ProcessIdentity | undefined {
  const started = startTimeOf(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return startTimeOf(identity.pid) === identity.started;
}

export function formatIdentity(identity: ProcessIdentity): string {
  return `${identity.pid} ${identity.started}\n`;
}

/** @returns undefined for text that {@link formatIdentity} cannot have written, e.g. a half-written file. */
export function parseIdentity(text: string): ProcessIdentity | undefined {
  const match = /^(\d+) (.+)\n$/.exec(text);
  const [, pid, started] = match ?? [];
  return pid === undefined || started === undefined ? undefined : { pid: Number(pid), started };
}
