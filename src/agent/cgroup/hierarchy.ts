/**
 * Which control groups this machine has: one v2 tree, or v1 trees by controller with an optional v2 tree beside them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folders as this process sees them, below the mount that it was given. */
export interface Hierarchy {
  readonly version: 1 | 2;
  /** Folder of the tree that holds quotas and weights. Pods are searched here. */
  readonly cpu: string;
  /** Folder of the tree that counts usage; the same as `cpu` in v2. */
  readonly usage: string;
  /** Folder of the v2 tree beside the v1 ones, for pressure; in v2 the tree itself. */
  readonly pressure: string | undefined;
}

const V1_JOINT = ['cpu,cpuacct', 'cpuacct,cpu'];

/**
 * Of a hybrid machine (v1 trees with a v2 tree in `unified`, as systemd calls it) the v1 trees are taken where they
 * count CPU, as then they hold the quotas; else the v2 tree, where it has the CPU controller. One without it counts use all the same,
 * but of a pod under a quota somewhere else: whoever plans on that takes a throttled pod for one that needs no more.
 * @param mount where control groups are mounted, usually `/sys/fs/cgroup`.
 * @returns a sentence where there are none to read, saying what was looked for.
 */
export function findHierarchy(mount: string): Hierarchy | string {
  if (isV2(mount)) return v2At(mount);
  const unified = join(mount, 'unified');
  const pressure = isV2(unified) ? unified : undefined;
  const joint = V1_JOINT.map((name) => join(mount, name)).find((path) => existsSync(path));
  const cpu = joint ?? join(mount, 'cpu');
  const usage = joint ?? join(mount, 'cpuacct');
  if (existsSync(cpu) && existsSync(join(usage, 'cpuacct.usage'))) return { version: 1, cpu, usage, pressure };
  if (pressure !== undefined && hasCpuController(pressure)) return v2At(pressure);
  return (
    `${mount} holds no control groups with CPU accounting (neither cgroup.controllers of v2, beside v1 with the CPU controller among them, nor the folders cpu and cpuacct of v1); ` +
    'mount the host folder /sys/fs/cgroup there, or name another with --cgroup-root'
  );
}

/** In every v2 group, and in no v1 group. */
const isV2 = (folder: string): boolean => existsSync(join(folder, 'cgroup.controllers'));
const v2At = (tree: string): Hierarchy => ({ version: 2, cpu: tree, usage: tree, pressure: tree });

function hasCpuController(tree: string): boolean {
  try {
    return readFileSync(join(tree, 'cgroup.controllers'), 'utf8').trim().split(/\s+/).includes('cpu');
  } catch {
    return false;
  }
}
