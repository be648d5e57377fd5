/** The temporary folder of one control plane, and the removal of those that killed runs have left behind, programs included. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/lib/clock.ts';
import { signalGroup } from './process-group.ts';
import { formatIdentity, identify, isRunning, type ProcessIdentity, parseIdentity } from './process-identity.ts';

const PREFIX = 'stowage-controlplane-';
const OWNER_FILE = 'owner.pid';
/** A folder without an owner's name may be one that another run is making right now. */
const NAMELESS_STALE_MILLIS = 60_000;

export function createRunDirectory(parent: string = tmpdir()): string {
  const directory = mkdtempSync(join(parent, PREFIX));
  const self = identify(process.pid);
  if (self !== undefined) writeFileSync(join(directory, OWNER_FILE), formatIdentity(self));
  return directory;
}

function readIdentity(path: string): ProcessIdentity | undefined {
  try {
    return parseIdentity(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function isAbandoned(directory: string, now: number): boolean {
  const owner = readIdentity(join(directory, OWNER_FILE));
  if (owner !== undefined) return !isRunning(owner);
  return now - (statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? now) > NAMELESS_STALE_MILLIS;
}

/** Ends what still runs of the programs that have left their pid file in this folder or in one below, whoever started them. */
export function killPrograms(directory: string): void {
  if (!existsSync(directory)) return;
  const files = readdirSync(directory, { encoding: 'utf8', recursive: true });
  for (const file of files.filter((name) => name.endsWith('.pid') && name !== OWNER_FILE)) {
    const program = readIdentity(join(directory, file));
    if (program !== undefined) signalGroup(program, 'SIGKILL');
  }
}

/**
 * Kills the programs (only those whose id AND start time match their pid file) and removes the folders of runs whose owner is dead.
 * @returns the folders removed.
 */
export function removeAbandonedRuns(clock: Clock, parent: string = tmpdir()): string[] {
  const directories = readdirSync(parent)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(parent, name))
    .filter((directory) => isAbandoned(directory, clock.now()));
  for (const directory of directories) {
    killPrograms(directory);
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
  return directories;
}
