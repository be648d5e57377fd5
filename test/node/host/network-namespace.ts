/** A network namespace of its own for each run: no port, address, bridge or firewall rule of it is ever seen outside. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Address of the nodes and of the API server, inside the namespace only. Loopback will not do: pods have their own. */
export const NODE_ADDRESS = '10.99.0.2';

/**
 * The namespace is kept alive by a mount on this file of the run. (`ip netns add` would keep it in /run/netns, and
 * would make a shared mount of that folder which stays on the machine for good.)
 */
const fileOf = (directory: string): string => join(directory, 'network-namespace');

export function createNamespace(directory: string): void {
  writeFileSync(fileOf(directory), '');
  execFileSync('unshare', [`--net=${fileOf(directory)}`, 'true']);
  const ip = (...args: string[]): void => {
    const [command = '', ...rest] = insideNamespace(directory, ['ip', ...args]);
    execFileSync(command, rest, { stdio: ['ignore', 'ignore', 'pipe'] });
  };
  ip('link', 'set', 'lo', 'up');
  ip('addr', 'add', `${NODE_ADDRESS}/32`, 'dev', 'lo');
  // kubelet and API server look for their own address along the default route.
  ip('route', 'add', 'default', 'dev', 'lo');
}

/** The command that runs another one inside. Not `ip netns exec`, which mounts a new /sys and so hides the control groups. */
export function insideNamespace(directory: string, command: readonly string[]): string[] {
  return ['nsenter', `--net=${fileOf(directory)}`, '--', ...command];
}

export function removeNamespace(directory: string): void {
  try {
    execFileSync('umount', [fileOf(directory)], { stdio: 'ignore' });
  } catch {
    // Not mounted: the run was killed before it was, or is being removed a second time.
  }
}

/** As /proc names it, e.g. `net:[4026532300]`; undefined for a run that has none. */
export function namespaceLink(directory: string): string | undefined {
  const file = statSync(fileOf(directory), { throwIfNoEntry: false });
  return file === undefined ? undefined : `net:[${file.ino}]`;
}

/** Ids of all processes inside. */
export function namespaceProcesses(directory: string): number[] {
  const own = namespaceLink(directory);
  if (own === undefined) return [];
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/ns/net`) === own;
      } catch {
        return false;
      }
    });
}
