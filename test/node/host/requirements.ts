/** Says what keeps a real node from running on this machine. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { cgroupHierarchies } from './cgroups.ts';

const TOOLS = ['ip', 'nsenter', 'unshare', 'mount'] as const;

function hasTool(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(`${folder}/${name}`));
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Creating namespaces needs CAP_SYS_ADMIN, which root in a container often lacks; trying it is the only sure answer. */
function canUnshare(): boolean {
  try {
    execFileSync('unshare', ['--mount', '--net', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** One sentence for each obstacle; empty when a real node can run here. */
export function obstacles(): string[] {
  const found: string[] = [];
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return [`it needs Linux on x64, this is ${process.platform} on ${process.arch}`];
  if (process.getuid?.() !== 0) found.push('it needs root: run it with sudo');
  const missing = TOOLS.filter((tool) => !hasTool(tool));
  if (missing.length > 0)
    found.push(`it needs ${missing.join(', ')} on PATH: install the packages iproute2 and util-linux`);
  if (found.length > 0) return found;
  const readOnly = cgroupHierarchies().filter(({ path }) => !canWrite(path));
  if (readOnly.length > 0)
    found.push(`it needs to make control groups, and ${readOnly.map(({ path }) => path).join(', ')} cannot be written`);
  if (cgroupHierarchies().length === 0) found.push('it needs control groups at /sys/fs/cgroup');
  if (!canUnshare()) found.push('it needs to make mount and network namespaces (CAP_SYS_ADMIN)');
  return found;
}
