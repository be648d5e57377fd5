/** Which control groups this machine has: one v2 tree, or v1 trees by controller with an optional v2 tree beside them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

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
 * @param mount where control groups are mounted, usually `/sys/fs/cgroup`.
 * @returns a sentence where there are none to read, saying what was looked for.
 */
export function findHierarchy(mount: string): Hierarchy | string {
  if (existsSync(join(mount, 'cgroup.controllers'))) return { version: 2, cpu: mount, usage: mount, pressure: mount };
  const unified = join(mount, 'unified');
  const pressure = existsSync(join(unified, 'cgroup.controllers')) ? unified : undefined;
  const joint = V1_JOINT.map((name) => join(mount, name)).find((path) => existsSync(path));
  const cpu = joint ?? join(mount, 'cpu');
  const usage = joint ?? join(mount, 'cpuacct');
  if (existsSync(cpu) && existsSync(usage)) return { version: 1, cpu, usage, pressure };
  return (
    `${mount} holds no control groups with CPU accounting (neither cgroup.controllers of v2 nor the folders cpu and cpuacct of v1); ` +
    'mount the host folder /sys/fs/cgroup there, or name another with --cgroup-root'
  );
}
