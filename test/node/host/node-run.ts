/** One run of real nodes: its folder, its network namespace, and the removal of all it has brought into the world, also for runs that were killed. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, sleep } from '../../../src/lib/clock.ts';
import { signalGroup } from '../../controlplane/process-group.ts';
import {
  formatIdentity,
  identify,
  isRunning,
  type ProcessIdentity,
  parseIdentity,
} from '../../controlplane/process-identity.ts';
import { removeAbandonedRuns } from '../../controlplane/run-directory.ts';
import { cgroupProcesses, removeCgroup } from './cgroups.ts';
import { createNamespace, namespaceProcesses, removeNamespace } from './network-namespace.ts';

export const RUN_PREFIX = 'stowage-node-';
const OWNER_FILE = 'owner.pid';
const STATE_FILE = 'state.json';
/** A folder without an owner's name may be one that another run is making right now. */
const NAMELESS_STALE_MILLIS = 60_000;
const KILL_TIMEOUT_MILLIS = 10_000;

/** Written before each thing is made, so that nothing can exist that the file does not name. */
interface State {
  readonly cgroups: readonly string[];
}

export interface NodeRun {
  /** Prefix of the control groups. */
  readonly id: string;
  readonly directory: string;
}

function runOf(directory: string): NodeRun {
  // The random part of the folder's name, in what a control group may be called.
  const suffix = directory.slice(directory.lastIndexOf(RUN_PREFIX) + RUN_PREFIX.length);
  return { id: `stowage-${suffix.toLowerCase()}`, directory };
}

/** The run of this folder, for the processes of a run that did not make it. */
export function openNodeRun(directory: string): NodeRun {
  return runOf(directory);
}

function readState(directory: string): State {
  try {
    const value: unknown = JSON.parse(readFileSync(join(directory, STATE_FILE), 'utf8'));
    if (typeof value === 'object' && value !== null && 'cgroups' in value && Array.isArray(value.cgroups))
      return { cgroups: value.cgroups.map(String) };
  } catch {
    // No node was started yet.
  }
  return { cgroups: [] };
}

/** Notes a control group in the run's state; call before making it. */
export function recordCgroup({ directory }: NodeRun, name: string): void {
  const { cgroups } = readState(directory);
  const draft = join(directory, `${STATE_FILE}.tmp`);
  writeFileSync(draft, JSON.stringify({ cgroups: [...new Set([...cgroups, name])] }));
  renameSync(draft, join(directory, STATE_FILE));
}

/** Makes the folder and the network namespace. This process is the owner: once it is dead, the run is abandoned. */
export function createNodeRun(): NodeRun {
  const directory = mkdtempSync(join(tmpdir(), RUN_PREFIX));
  const self = identify(process.pid);
  if (self !== undefined) writeFileSync(join(directory, OWNER_FILE), formatIdentity(self));
  const run = runOf(directory);
  createNamespace(directory);
  return run;
}

function readIdentity(path: string): ProcessIdentity | undefined {
  try {
    return parseIdentity(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended in the meantime.
  }
}

/** Programs of the run by their pid files: those of nodes have a folder each. */
function pidFiles(directory: string): string[] {
  const isPidFile = (name: string): boolean => name.endsWith('.pid') && name !== OWNER_FILE;
  return readdirSync(directory, { withFileTypes: true }).flatMap((each) => {
    const path = join(directory, each.name);
    if (each.isDirectory())
      return readdirSync(path)
        .filter(isPidFile)
        .map((name) => join(path, name));
    return isPidFile(each.name) ? [path] : [];
  });
}

/**
 * Ends and removes everything of a run, in an order in which nothing can come back: the programs that start others, all
 * processes in its control groups and its namespace (both are the run's alone), the groups, the namespace, the folder.
 * The mounts were made in mount namespaces that go with their last process. Safe to repeat.
 * @throws Error naming what could not be removed.
 */
export async function destroyNodeRun(run: NodeRun, clock: Clock): Promise<void> {
  const { directory } = run;
  if (existsSync(directory))
    for (const file of pidFiles(directory)) {
      const program = readIdentity(file);
      if (program !== undefined) signalGroup(program, 'SIGKILL');
    }
  const { cgroups } = readState(directory);
  const deadline = clock.now() + KILL_TIMEOUT_MILLIS;
  for (;;) {
    const left = [...cgroups.flatMap(cgroupProcesses), ...namespaceProcesses(directory)].filter(
      (pid) => pid !== process.pid,
    );
    for (const pid of left) killQuietly(pid);
    // Removing may need several rounds: a group counts as busy for a moment after its last process has ended.
    const removed = left.length === 0 && cgroups.map(removeCgroup).every(Boolean);
    if (removed) break;
    if (clock.now() > deadline)
      throw new Error(`processes ${left.join(', ')} or control groups ${cgroups.join(', ')} do not go away`);
    await sleep(clock, 50);
  }
  removeNamespace(directory);
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

function isAbandoned(directory: string, now: number): boolean {
  const owner = readIdentity(join(directory, OWNER_FILE));
  if (owner !== undefined) return !isRunning(owner);
  return now - (statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? now) > NAMELESS_STALE_MILLIS;
}

/** All there are on the machine, living and abandoned. */
export function nodeRuns(): NodeRun[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith(RUN_PREFIX))
    .map((name) => runOf(join(tmpdir(), name)));
}

/** Those that another living process owns: what is theirs was not left behind by this one. */
export function runsOfOthers(): NodeRun[] {
  return nodeRuns().filter(({ directory }) => {
    const owner = readIdentity(join(directory, OWNER_FILE));
    return owner !== undefined && owner.pid !== process.pid && isRunning(owner);
  });
}

/** Destroys the runs whose owner is dead. @returns their folders. */
export async function removeAbandonedNodeRuns(clock: Clock): Promise<string[]> {
  const abandoned = nodeRuns()
    .map(({ directory }) => directory)
    .filter((directory) => isAbandoned(directory, clock.now()));
  for (const directory of abandoned) await destroyNodeRun(runOf(directory), clock);
  // After the nodes: control planes of the same runs, whose processes went with the namespace.
  removeAbandonedRuns(clock);
  return abandoned;
}
