/** The private view of the file system in which one node's containerd and kubelet run: their fixed paths are folders of the run, and nothing outside changes. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Hidden behind folders of the node. Containerd, the kubelet and cAdvisor keep everything below these, some of it at
 * paths that cannot be set; making them on the machine would leave them there after a kill.
 */
const FOLDERS = { run: '/run', lib: '/var/lib', log: '/var/log', opt: '/opt' } as const;

/**
 * What the kubelet sets for the whole machine (pkg/kubelet/cm setupKernelTunables), with the values it wants: it finds
 * them in place, and writes into files of the node where it does not.
 */
const KERNEL_SETTINGS: Readonly<Record<string, string>> = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

export interface NodeFolders {
  readonly run: string;
  readonly lib: string;
  readonly log: string;
}

export function nodeFolders(directory: string): NodeFolders {
  return { run: join(directory, 'run'), lib: join(directory, 'lib'), log: join(directory, 'log') };
}

/** Makes the folders and returns the command that runs `command` in the new namespace; the process id stays the same. */
export function insideNewMountNamespace(directory: string, command: readonly string[]): string[] {
  const steps: string[] = [];
  const bind = (source: string, target: string): void => {
    steps.push(`mount --bind '${source}' '${target}'`);
  };
  for (const [name, target] of Object.entries(FOLDERS)) {
    if (directory.startsWith(`${target}/`) || process.execPath.startsWith(`${target}/`))
      throw new Error(`the node would hide ${target}, where it lives itself: set TMPDIR to a folder elsewhere`);
    mkdirSync(join(directory, name), { recursive: true });
    bind(join(directory, name), target);
  }
  // Where network namespaces of pods are mounted; containerd expects the folder.
  mkdirSync(join(directory, 'run', 'netns'), { recursive: true });
  for (const [key, value] of Object.entries(KERNEL_SETTINGS)) {
    const target = join('/proc/sys', key);
    if (!existsSync(target)) continue;
    const source = join(directory, `sysctl-${key.replaceAll('/', '-')}`);
    writeFileSync(source, `${value}\n`);
    bind(source, target);
  }
  const script = `set -e; ${steps.join('; ')}; exec "$@"`;
  return ['unshare', '--mount', '--propagation', 'private', '--', '/bin/sh', '-c', script, 'sh', ...command];
}

/** The command that runs `command` where the process `pid` is. */
export function insideMountNamespaceOf(pid: number, command: readonly string[]): string[] {
  return ['nsenter', `--mount=/proc/${pid}/ns/mnt`, '--', ...command];
}
