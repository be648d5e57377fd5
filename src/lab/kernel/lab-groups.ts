/**
 * The control groups of one experiment: a group for its pods, one for the process that steers them. Never touches a group it
 * did not make, and removes what an experiment that was killed has left.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GroupReader } from '../../agent/cgroup/counters.ts';
import { createGroupReader } from '../../agent/cgroup/counters.ts';
import { createFileReader } from '../../agent/cgroup/file-reader.ts';
import type { Hierarchy } from '../../agent/cgroup/hierarchy.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import { StowageError } from '../../lib/errors.ts';
import type { CpuSettings, PodCounters } from '../substrate.ts';

const PREFIX = 'stowage-lab-';
/** Pods together against the rest of the machine, and the steering process against the pods: it must never wait behind them. */
const PODS_SHARES = 20_480;
const STEERING_SHARES = 81_920;
const PERIOD_MICROS = 100_000;
/** The kernel's least quota. */
const MIN_QUOTA_MICROS = 1000;

/** Groups of one process; `close` removes them with all that runs in them. */
export interface LabGroups {
  make(pod: string, settings: CpuSettings): void;
  /** Puts a process and its threads into the group of a pod. */
  enter(pod: string, pid: number): void;
  set(pod: string, settings: CpuSettings): void;
  counters(pod: string): PodCounters;
  remove(pod: string): Promise<void>;
  /** Everything of this experiment; the steering process goes back to where it was. */
  close(): Promise<void>;
}

/** Where the groups of one process are, in every tree. */
function treesOf({ cpu, usage, pressure }: Hierarchy): string[] {
  return [...new Set([cpu, usage, ...(pressure === undefined ? [] : [pressure])])];
}

/** @throws StowageError LAB_GROUPS where groups cannot be made; the message says which file refused what. */
export function createLabGroups(hierarchy: Hierarchy, clock: Clock): LabGroups {
  const trees = treesOf(hierarchy);
  const top = `${PREFIX}${process.pid}-${startOf(process.pid)}`;
  const steering = `${top}/steering`;
  const before = trees.map((tree) => ({ tree, path: ownGroup(tree, hierarchy) }));
  const files = createFileReader();
  const reader = createGroupReader(hierarchy, files);
  const write = (tree: string, group: string, file: string, text: string): void => {
    const path = join(tree, group, file);
    try {
      writeFileSync(path, text);
    } catch (error) {
      throw new StowageError(
        'LAB_GROUPS',
        `${path} does not take ${text}: ${error instanceof Error ? error.message : error}`,
      );
    }
  };
  const makeGroup = (group: string): void => {
    for (const tree of trees) mkdirSync(join(tree, group), { recursive: true });
  };
  const shares = (group: string, value: number): void => {
    const { version, cpu } = hierarchy;
    if (version === 1) write(cpu, group, 'cpu.shares', `${Math.max(2, Math.floor(value))}`);
    // In proportion; what a container runtime makes of shares is another matter (KEP-2254).
    else write(cpu, group, 'cpu.weight', `${Math.min(10_000, Math.max(1, Math.round(value / 10.24)))}`);
  };
  const quota = (group: string, limit: number | undefined): void => {
    const micros = limit === undefined ? -1 : Math.max(MIN_QUOTA_MICROS, Math.floor((limit * PERIOD_MICROS) / 1000));
    if (hierarchy.version === 1) write(hierarchy.cpu, group, 'cpu.cfs_quota_us', `${micros}`);
    else write(hierarchy.cpu, group, 'cpu.max', `${micros < 0 ? 'max' : micros} ${PERIOD_MICROS}`);
  };
  const enter = (group: string, pid: number): void => {
    for (const tree of trees) write(tree, group, 'cgroup.procs', `${pid}`);
  };
  /** v2 has the files of a controller in the groups of those above that let them have it. */
  const delegate = (group: string): void => {
    const { version, cpu } = hierarchy;
    const controls = join(cpu, group, 'cgroup.subtree_control');
    // Written again it would ask for rights that are not needed.
    const isThere = version === 1 || (existsSync(controls) && /\bcpu\b/.test(readFileSync(controls, 'utf8')));
    if (!isThere) write(cpu, group, 'cgroup.subtree_control', '+cpu');
  };
  const podGroup = (pod: string): string => `${top}/pods/${pod}`;
  const set = (pod: string, { request, limit }: CpuSettings): void => {
    shares(podGroup(pod), request * 1.024);
    quota(podGroup(pod), limit);
  };

  delegate('');
  makeGroup(`${top}/pods`);
  makeGroup(steering);
  delegate(top);
  delegate(`${top}/pods`);
  shares(top, PODS_SHARES + STEERING_SHARES);
  shares(`${top}/pods`, PODS_SHARES);
  shares(steering, STEERING_SHARES);
  enter(steering, process.pid);

  return {
    make(pod, settings) {
      makeGroup(podGroup(pod));
      set(pod, settings);
    },
    enter: (pod, pid) => enter(podGroup(pod), pid),
    set,
    counters: (pod) => countersOf(reader, podGroup(pod)),
    async remove(pod) {
      reader.forget(podGroup(pod));
      await removeGroup(trees, podGroup(pod), clock);
    },
    async close() {
      for (const { tree, path } of before) write(tree, path, 'cgroup.procs', `${process.pid}`);
      files.close();
      await removeGroup(trees, top, clock);
    },
  };
}

function countersOf(reader: GroupReader, group: string): PodCounters {
  const read = reader.counters(group);
  if (!read.ok) throw new StowageError('LAB_GROUPS', read.message);
  const { usageMicros, periods, throttledPeriods, throttledMicros, pressureMicros = 0 } = read.value;
  return {
    usedMillis: usageMicros / 1000,
    periods,
    throttledPeriods,
    throttledMillis: throttledMicros / 1000,
    waitedMillis: pressureMicros / 1000,
  };
}

/** Removes the groups of experiments whose process is gone, with the pods that still run in them. @returns their names. */
export async function removeAbandonedLabs(hierarchy: Hierarchy, clock: Clock): Promise<string[]> {
  const trees = treesOf(hierarchy);
  const names = new Set(trees.flatMap((tree) => readdirSync(tree).filter((name) => name.startsWith(PREFIX))));
  const abandoned = [...names].filter((name) => {
    const [, pid, start] = /^stowage-lab-(\d+)-(\d+)$/.exec(name) ?? [];
    return pid !== undefined && startOf(Number(pid)) !== start;
  });
  for (const name of abandoned) await removeGroup(trees, name, clock);
  return abandoned;
}

const TRIES = 100;
const PAUSE_MILLIS = 50;

/** Ends what runs in the group and below, then removes it; a group goes only when the kernel has seen the last of its tasks off. */
async function removeGroup(trees: readonly string[], group: string, clock: Clock): Promise<void> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const left = trees.map((tree) => join(tree, group)).filter((path) => existsSync(path));
    if (left.length === 0) return;
    for (const path of left) {
      for (const folder of foldersBelow(path)) for (const pid of processesIn(folder)) kill(pid);
    }
    if (left.map(removeFolders).every((isGone) => isGone)) return;
    await sleep(clock, PAUSE_MILLIS);
  }
  throw new StowageError('LAB_GROUPS', `the control group ${group} cannot be removed: something in it does not end`);
}

/** The deepest first. */
function foldersBelow(path: string): string[] {
  const children = readdirSync(path, { withFileTypes: true }).filter((each) => each.isDirectory());
  return [...children.flatMap(({ name }) => foldersBelow(join(path, name))), path];
}

function removeFolders(path: string): boolean {
  try {
    for (const folder of foldersBelow(path)) rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function processesIn(folder: string): number[] {
  try {
    return readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  // A process that steers an experiment is never a pod of one.
  if (pid === process.pid) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** When a process started, in clock ticks since boot: with its number it names it for good. Undefined where there is none. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets, and may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** The group this process is in, in one tree; the root where the kernel does not say. */
function ownGroup(tree: string, { version, cpu, usage, pressure }: Hierarchy): string {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n');
  const wanted = (controllers: string): boolean => {
    if (version === 2 || tree === pressure) return controllers === '';
    const controller = tree === cpu ? 'cpu' : tree === usage ? 'cpuacct' : '';
    return controllers.split(',').includes(controller);
  };
  for (const line of lines) {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (wanted(controllers) && existsSync(join(tree, path))) return path;
  }
  return '';
}
