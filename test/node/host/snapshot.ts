/** What a run could leave behind on the machine, as sorted lines that can be compared before and after it. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cgroupHierarchies } from './cgroups.ts';
import { namespaceLink } from './network-namespace.ts';
import { type NodeRun, RUN_PREFIX } from './node-run.ts';

export interface Snapshot {
  /** All that are in a network namespace other than this one's, as everything of a run is. */
  readonly processes: readonly string[];
  readonly mounts: readonly string[];
  readonly cgroups: readonly string[];
  readonly networkNamespaces: readonly string[];
  readonly links: readonly string[];
  readonly sysctls: readonly string[];
  readonly folders: readonly string[];
}

/** Those a kubelet, kube-proxy or the bridge plugin write. */
const SYSCTLS = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
  'net/ipv4/ip_forward',
  'net/netfilter/nf_conntrack_max',
];
/** Where containerd and the kubelet put things on an ordinary machine. */
const FOLDERS = ['/run/containerd', '/var/lib/kubelet', '/var/lib/containerd', '/var/lib/cni', '/var/log/pods'];

function readOr(path: string, fallback: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return fallback;
  }
}

function linkOr(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

const names = (directory: string): string[] => (existsSync(directory) ? readdirSync(directory) : []);

/** What runs in this namespace is somebody else's: the suites of the control plane have a metrics-server, too. */
function processes(others: readonly NodeRun[]): string[] {
  const foreign = [linkOr('/proc/self/ns/net'), '', ...others.map(({ directory }) => namespaceLink(directory))];
  return names('/proc')
    .filter((name) => /^\d+$/.test(name) && !foreign.includes(linkOr(`/proc/${name}/ns/net`)))
    .filter((pid) => {
      // Pods have a network namespace each, and the control group of their node.
      const groups = readOr(`/proc/${pid}/cgroup`, '');
      return !others.some(({ id }) => groups.includes(`/${id}-`));
    })
    .map((pid) => `${pid} ${linkOr(`/proc/${pid}/exe`)}`);
}

function cgroups(): string[] {
  return cgroupHierarchies().flatMap(({ path }) =>
    readdirSync(path, { withFileTypes: true })
      // By the id of a run: others make groups, too (stowage lab, the tests of the agent).
      .filter((each) => each.isDirectory() && /^(stowage-[a-z0-9]{6}-|kubepods)/.test(each.name))
      .map(({ name }) => join(path, name)),
  );
}

/** Mounts without their running numbers. */
function mounts(): string[] {
  return readOr('/proc/self/mountinfo', '')
    .split('\n')
    .map((line) => line.split(' ').slice(2).join(' '));
}

/** @param others runs whose things are left out: they come and go meanwhile. */
export function takeSnapshot(others: readonly NodeRun[] = []): Snapshot {
  const isOwn = (line: string): boolean =>
    !others.some(({ id, directory }) => line.includes(`/${id}-`) || line.includes(directory));
  const isOwnFolder = (name: string): boolean => isOwn(join(tmpdir(), name));
  return {
    processes: processes(others).sort(),
    mounts: mounts().filter(isOwn).sort(),
    cgroups: cgroups().filter(isOwn).sort(),
    networkNamespaces: names('/run/netns').sort(),
    links: names('/sys/class/net').sort(),
    sysctls: SYSCTLS.map((key) => `${key} = ${readOr(join('/proc/sys', key), 'absent')}`),
    folders: [
      ...FOLDERS.filter((path) => existsSync(path)),
      ...names(tmpdir()).filter((name) => name.startsWith(RUN_PREFIX) && isOwnFolder(name)),
    ].sort(),
  };
}

/** One line for each difference: `+ cgroups: …` for what came, `- cgroups: …` for what went. Empty when equal. */
export function compareSnapshots(before: Snapshot, after: Snapshot): string[] {
  const parts = Object.keys(before) as (keyof Snapshot)[];
  return parts.flatMap((part) => [
    ...after[part].filter((line) => !before[part].includes(line)).map((line) => `+ ${part}: ${line}`),
    ...before[part].filter((line) => !after[part].includes(line)).map((line) => `- ${part}: ${line}`),
  ]);
}
