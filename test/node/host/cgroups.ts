/** The control group a node's pods live in: made before its kubelet starts, emptied and removed after it has ended. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Millicores } from '../../../src/lib/units.ts';

export interface Hierarchy {
  /** Controller, or `unified`. */
  readonly name: string;
  readonly path: string;
}

const ROOT = '/sys/fs/cgroup';
/** cgroup v1 controllers the kubelet asks for; it refuses to start when its root is missing in one of them. */
const V1_CONTROLLERS = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids', 'systemd'];
/**
 * The parent weighs like one single task of the root group otherwise, and a busy machine would starve its pods
 * (`cpu.shares` of v1 and `cpu.weight` of v2 are both relative to the siblings).
 */
const PARENT_SHARES = 20_480;
const PARENT_WEIGHT = 1000;

export function isUnified(): boolean {
  return existsSync(join(ROOT, 'cgroup.controllers'));
}

/** Every hierarchy in which a node leaves traces. */
export function cgroupHierarchies(): Hierarchy[] {
  if (isUnified()) return [{ name: 'unified', path: ROOT }];
  return [...V1_CONTROLLERS, 'unified']
    .map((name) => ({ name, path: join(ROOT, name) }))
    .filter(({ path }) => existsSync(path));
}

/** Of a CPU quota. Shorter than the kernel's 100 ms: all of a node's pods stand still when it is used up, and must not for long. */
const QUOTA_PERIOD_MICROS = 20_000;

/** @param name one path element, e.g. `stowage-ab12-spot-1`. @param mostCpu left out: no quota. */
export function createCgroup(name: string, mostCpu?: Millicores): void {
  const quota = mostCpu === undefined ? undefined : Math.round((QUOTA_PERIOD_MICROS * mostCpu) / 1000);
  for (const { name: hierarchy, path } of cgroupHierarchies()) {
    if (hierarchy === 'unified' && !isUnified()) continue; // runc makes what it needs there
    const directory = join(path, name);
    mkdirSync(directory, { recursive: true });
    if (hierarchy === 'cpuset')
      // A new cpuset group of v1 has no processors and no memory until they are written.
      for (const file of ['cpuset.cpus', 'cpuset.mems'])
        writeFileSync(join(directory, file), readFileSync(join(path, file)));
    if (hierarchy === 'cpu') writeFileSync(join(directory, 'cpu.shares'), String(PARENT_SHARES));
    if (existsSync(join(directory, 'cpu.weight'))) writeFileSync(join(directory, 'cpu.weight'), String(PARENT_WEIGHT));
    if (quota === undefined) continue;
    if (hierarchy === 'cpu') {
      writeFileSync(join(directory, 'cpu.cfs_period_us'), String(QUOTA_PERIOD_MICROS));
      writeFileSync(join(directory, 'cpu.cfs_quota_us'), String(quota));
    }
    if (hierarchy === 'unified') writeFileSync(join(directory, 'cpu.max'), `${quota} ${QUOTA_PERIOD_MICROS}`);
  }
}

/** The group and all below it, deepest first. */
function tree(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const children = readdirSync(directory, { withFileTypes: true }).filter((each) => each.isDirectory());
  return [...children.flatMap(({ name }) => tree(join(directory, name))), directory];
}

function processesIn(directory: string): number[] {
  try {
    return readFileSync(join(directory, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Ids of all processes in the group, wherever below it. */
export function cgroupProcesses(name: string): number[] {
  const all = cgroupHierarchies().flatMap(({ path }) => tree(join(path, name)).flatMap(processesIn));
  return [...new Set(all)].filter((pid) => pid > 0);
}

/** Removes the empty groups. @returns false while one is still in use. */
export function removeCgroup(name: string): boolean {
  let isGone = true;
  for (const { path } of cgroupHierarchies())
    for (const directory of tree(join(path, name))) {
      try {
        rmdirSync(directory);
      } catch {
        isGone = false;
      }
    }
  return isGone;
}
