/** Control group trees on disk as kernels, drivers and runtimes lay them out; for tests and the benchmark. */
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type Driver = 'systemd' | 'cgroupfs';
export type Runtime = 'containerd' | 'cri-o' | 'docker';
export type Qos = 'guaranteed' | 'burstable' | 'besteffort';

export interface TreeLayout {
  readonly version: 1 | 2;
  readonly driver: Driver;
  readonly runtime: Runtime;
  /** Folders above `kubepods`; systemd's nesting also prefixes the names. */
  readonly nesting?: readonly string[];
  /** v1: whether the CPU controllers share a folder, and whether a v2 tree lies beside them. */
  readonly isJoint?: boolean;
  readonly hasUnified?: boolean;
  /** v2: whether the CPU controller is on; without it `cpu.stat` only counts usage. */
  readonly hasCpuController?: boolean;
}

/** Everything a group's files say. */
export interface GroupFigures {
  readonly usageMicros: number;
  readonly periods?: number;
  readonly throttledPeriods?: number;
  readonly throttledMicros?: number;
  readonly pressureMicros?: number;
  /** Microseconds a period of 100 ms; absent is no quota. */
  readonly quotaMicros?: number;
  /** `cpu.weight` or `cpu.shares`. */
  readonly weight?: number;
}

export interface FakePod {
  readonly uid: string;
  readonly qos: Qos;
  /** Ids by container name. */
  readonly containers: Readonly<Record<string, string>>;
}

export interface FakeTree {
  readonly mount: string;
  readonly proc: string;
  /** Makes the pod's groups, or those of its containers that are not there yet. */
  add(pod: FakePod, figures?: GroupFigures): void;
  set(pod: FakePod, container: string | undefined, figures: GroupFigures): void;
  /** Sets the group at the top, of the whole node. */
  setTop(figures: GroupFigures): void;
  /** Sets the `kubepods` group. */
  setRoot(figures: GroupFigures): void;
  remove(pod: FakePod, container?: string): void;
  /** Path of a file of a pod's or container's group. */
  file(pod: FakePod, container: string | undefined, name: string): string;
  close(): void;
}

const runtimePrefix: Readonly<Record<Runtime, string>> = {
  containerd: 'cri-containerd',
  'cri-o': 'crio',
  docker: 'docker',
};
const PERIOD = 100_000;

export function createFakeTree(layout: TreeLayout): FakeTree {
  const { version, driver, runtime, nesting = [], isJoint = false, hasUnified = false } = layout;
  const base = mkdtempSync(join(tmpdir(), 'stowage-cgroups-'));
  const mount = join(base, 'cgroup');
  const proc = join(base, 'proc');
  const joint = join(mount, 'cpu,cpuacct');
  const cpu = version === 2 ? mount : isJoint ? joint : join(mount, 'cpu');
  const usage = version === 2 ? mount : isJoint ? joint : join(mount, 'cpuacct');
  const pressure = version === 2 ? mount : hasUnified ? join(mount, 'unified') : undefined;

  const texts = new Map<string, string>();
  /** Readers at the same time see old or new figures, as with the kernel's files, never an empty one. */
  const put = (path: string, text: string): void => {
    if (texts.get(path) === text && existsSync(path)) return;
    texts.set(path, text);
    if (existsSync(path)) {
      const descriptor = openSync(path, 'r+');
      writeSync(descriptor, text, 0);
      ftruncateSync(descriptor, Buffer.byteLength(text));
      closeSync(descriptor);
    } else {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  };

  for (const folder of [mount, proc, cpu, usage, ...(pressure === undefined ? [] : [pressure])])
    mkdirSync(folder, { recursive: true });
  if (pressure !== undefined) writeFileSync(join(pressure, 'cgroup.controllers'), 'cpuset cpu io memory pids\n');

  const write = (path: string, figures: GroupFigures): void => {
    const folder = (tree: string): string => join(tree, path);
    const { usageMicros, periods = 0, throttledPeriods = 0, throttledMicros = 0, quotaMicros, weight } = figures;
    const { pressureMicros } = figures;
    const bandwidth = (timeKey: string, time: number): string =>
      `nr_periods ${periods}\nnr_throttled ${throttledPeriods}\n${timeKey} ${time}\n`;
    if (version === 2) {
      const halves = `user_usec ${Math.floor(usageMicros / 2)}\nsystem_usec ${Math.ceil(usageMicros / 2)}\n`;
      const hasController = layout.hasCpuController ?? true;
      const rest = hasController ? `${bandwidth('throttled_usec', throttledMicros)}nr_bursts 0\nburst_usec 0\n` : '';
      put(join(folder(cpu), 'cpu.stat'), `usage_usec ${usageMicros}\n${halves}${rest}`);
      if (hasController && path !== '') {
        put(join(folder(cpu), 'cpu.max'), `${quotaMicros ?? 'max'} ${PERIOD}\n`);
        put(join(folder(cpu), 'cpu.weight'), `${weight ?? 100}\n`);
      }
    } else {
      put(join(folder(usage), 'cpuacct.usage'), `${BigInt(usageMicros) * 1000n}\n`);
      put(join(folder(cpu), 'cpu.stat'), bandwidth('throttled_time', throttledMicros * 1000));
      put(join(folder(cpu), 'cpu.cfs_quota_us'), `${quotaMicros ?? -1}\n`);
      put(join(folder(cpu), 'cpu.cfs_period_us'), `${PERIOD}\n`);
      put(join(folder(cpu), 'cpu.shares'), `${weight ?? 1024}\n`);
    }
    if (pressure !== undefined && pressureMicros !== undefined) {
      const line = (kind: string): string => `${kind} avg10=0.00 avg60=0.00 avg300=0.00 total=${pressureMicros}\n`;
      put(join(folder(pressure), 'cpu.pressure'), line('some') + line('full'));
    }
  };

  const rootPath = (): string => {
    if (driver === 'cgroupfs') return [...nesting, 'kubepods'].join('/');
    // systemd: each slice's name repeats those above it.
    const slices = [...nesting, 'kubepods'].map((_, index, all) => `${all.slice(0, index + 1).join('-')}.slice`);
    return slices.join('/');
  };
  const podPath = ({ uid, qos }: FakePod): string => {
    const root = rootPath();
    if (driver === 'cgroupfs') return qos === 'guaranteed' ? `${root}/pod${uid}` : `${root}/${qos}/pod${uid}`;
    const prefix = [...nesting, 'kubepods'].join('-');
    const escaped = uid.replaceAll('-', '_');
    return qos === 'guaranteed'
      ? `${root}/${prefix}-pod${escaped}.slice`
      : `${root}/${prefix}-${qos}.slice/${prefix}-${qos}-pod${escaped}.slice`;
  };
  const containerName = (id: string): string => {
    if (driver === 'systemd') return `${runtimePrefix[runtime]}-${id}.scope`;
    return runtime === 'cri-o' ? `crio-${id}` : id;
  };
  const pathOf = (pod: FakePod, container: string | undefined): string => {
    if (container === undefined) return podPath(pod);
    const id = pod.containers[container];
    if (id === undefined) throw new Error(`the pod has no container ${container}`);
    return `${podPath(pod)}/${containerName(id)}`;
  };
  const nothing: GroupFigures = { usageMicros: 0 };

  write('', nothing);
  write(rootPath(), nothing);
  writeFileSync(join(proc, 'stat'), 'cpu  0 0 0 0 0 0 0 0 0 0\n');

  return {
    mount,
    proc,
    add(pod, figures = nothing) {
      write(podPath(pod), figures);
      for (const name of Object.keys(pod.containers)) write(pathOf(pod, name), figures);
      // CRI-O's monitor has a group of its own beside the container's.
      if (runtime === 'cri-o')
        for (const id of Object.values(pod.containers))
          write(`${podPath(pod)}/crio-conmon-${id}${driver === 'systemd' ? '.scope' : ''}`, {
            usageMicros: 99_000_000,
          });
    },
    set: (pod, container, figures) => write(pathOf(pod, container), figures),
    setTop: (figures) => write('', figures),
    setRoot: (figures) => write(rootPath(), figures),
    remove(pod, container) {
      for (const tree of new Set([cpu, usage, ...(pressure === undefined ? [] : [pressure])]))
        removeGroup(join(tree, pathOf(pod, container)));
    },
    file(pod, container, name) {
      const tree = name.startsWith('cpuacct.') ? usage : name === 'cpu.pressure' ? (pressure ?? cpu) : cpu;
      return join(tree, pathOf(pod, container), name);
    },
    close: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** Files held open of a group that is gone give nothing more, as the kernel's do. */
function removeGroup(folder: string): void {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) truncateSync(join(entry.parentPath, entry.name));
  rmSync(folder, { recursive: true });
}

/** A uid and a container id that look real, the same for the same number. */
export const fakeUid = (index: number): string => `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
export const fakeContainerId = (index: number): string => index.toString(16).padStart(64, 'c');
