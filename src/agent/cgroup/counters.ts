/** Reads what a control group has used and been denied, in the same units for v1 and v2. */
import type { FileReader } from './file-reader.ts';
import type { Hierarchy } from './hierarchy.ts';
import { type CpuQuota, parseCfsQuota, parseCount, parseCpuMax, parsePressure, readKey } from './parse.ts';

/** Counters since the group was made. Microseconds of CPU time, summed over CPUs. */
export interface CpuCounters {
  readonly usageMicros: number;
  /** Periods in which the group had work and a quota; 0 without a quota. */
  readonly periods: number;
  readonly throttledPeriods: number;
  readonly throttledMicros: number;
  /** Time in which some task waited for a CPU; undefined where the kernel does not say. */
  readonly pressureMicros: number | undefined;
}

/** What is set on the group. */
export interface CpuSettings {
  readonly quota: CpuQuota | undefined;
  /**
   * `cpu.weight` (1..10000) in v2, `cpu.shares` (2..262144) in v1. Read, never computed: the conversion differs by
   * runtime.
   */
  readonly weight: number | undefined;
}

/** `gone`: no such group. Otherwise `message` says which file is wrong and how. */
export type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly why: 'gone' | 'unreadable'; readonly message: string };

/** Reads one tree of control groups, v1 or v2. Never throws: a group may go away between any two reads. */
export interface GroupReader {
  /**
   * @param path of the group below the tree; empty for the tree itself.
   * @param hasPressure false: it is not asked for. A file more, for which the kernel adds up all its CPUs.
   */
  counters(path: string, hasPressure?: boolean): Reading<CpuCounters>;
  settings(path: string): Reading<CpuSettings>;
  /** Closes the files of a group and of those below it. */
  forget(path: string): void;
}

const NANOS_PER_MICRO = 1000;

/** Paths of what is read of a group each second, joined once. */
interface CounterFiles {
  readonly stat: string;
  readonly usage: string;
  /** Undefined where there is none: asked once, and not again before the group is forgotten. */
  pressure: string | undefined;
}

export function createGroupReader(hierarchy: Hierarchy, files: FileReader): GroupReader {
  const { version, cpu, usage, pressure } = hierarchy;
  const at = (tree: string, path: string, file: string): string => `${path === '' ? tree : `${tree}/${path}`}/${file}`;
  /** Optional files: not every kernel has them, and they hold nothing we cannot do without. */
  const optional = (path: string): string | undefined => {
    const read = files.read(path);
    return read.ok ? read.text : undefined;
  };
  const garbled = (path: string, text: string): Reading<never> => ({
    ok: false,
    why: 'unreadable',
    message: `${path} is not understood: ${JSON.stringify(text.slice(0, 60))}`,
  });
  const groups = new Map<string, CounterFiles>();
  const filesOf = (path: string): CounterFiles => {
    const known = groups.get(path);
    if (known !== undefined) return known;
    const group: CounterFiles = {
      stat: at(cpu, path, 'cpu.stat'),
      usage: at(usage, path, 'cpuacct.usage'),
      pressure: pressure === undefined ? undefined : at(pressure, path, 'cpu.pressure'),
    };
    groups.set(path, group);
    return group;
  };
  /** Undefined where the kernel keeps none (CONFIG_PSI), and then not asked again. */
  const pressureOf = (group: CounterFiles): number | undefined => {
    if (group.pressure === undefined) return undefined;
    const text = optional(group.pressure);
    const total = text === undefined ? undefined : parsePressure(text);
    if (total === undefined) group.pressure = undefined;
    return total;
  };

  const v2Counters = (path: string, hasPressure = true): Reading<CpuCounters> => {
    const group = filesOf(path);
    const read = files.read(group.stat);
    if (!read.ok) return read;
    const usageMicros = readKey(read.text, 'usage_usec');
    if (usageMicros === undefined) return garbled(group.stat, read.text);
    const pressureMicros = hasPressure ? pressureOf(group) : undefined;
    return { ok: true, value: withThrottling(usageMicros, read.text, 'throttled_usec', 1, pressureMicros) };
  };
  const v1Counters = (path: string, hasPressure = true): Reading<CpuCounters> => {
    const group = filesOf(path);
    const used = files.read(group.usage);
    if (!used.ok) return used;
    const usageNanos = parseNanos(used.text);
    if (usageNanos === undefined) return garbled(group.usage, used.text);
    const stat = optional(group.stat) ?? '';
    const usageMicros = Math.floor(usageNanos / NANOS_PER_MICRO);
    const pressureMicros = hasPressure ? pressureOf(group) : undefined;
    return { ok: true, value: withThrottling(usageMicros, stat, 'throttled_time', NANOS_PER_MICRO, pressureMicros) };
  };
  const setting = (path: string, file: string): string | undefined => {
    const read = files.readOnce(at(cpu, path, file));
    return read.ok ? read.text : undefined;
  };
  /** Undefined where the files are not there or not understood: nothing is concluded from that. */
  const quotaOf = (path: string): CpuQuota | undefined => {
    if (version === 2) return parseCpuMax(setting(path, 'cpu.max') ?? '');
    const quota = setting(path, 'cpu.cfs_quota_us') ?? '';
    return parseCfsQuota(quota, setting(path, 'cpu.cfs_period_us') ?? '');
  };

  return {
    counters: version === 2 ? v2Counters : v1Counters,
    settings(path) {
      const weight = setting(path, version === 2 ? 'cpu.weight' : 'cpu.shares');
      const quota = quotaOf(path);
      if (weight === undefined && quota === undefined)
        return { ok: false, why: 'gone', message: `${at(cpu, path, '')} has no CPU settings` };
      return { ok: true, value: { quota, weight: weight === undefined ? undefined : parseCount(weight) } };
    },
    forget(path) {
      for (const tree of new Set([cpu, usage, pressure ?? cpu])) files.forget(path === '' ? tree : `${tree}/${path}`);
      for (const known of groups.keys()) if (known === path || known.startsWith(`${path}/`)) groups.delete(known);
    },
  };
}

/** Without the CPU controller, and in the tree's root, `cpu.stat` has no throttling: that is none. */
function withThrottling(
  usageMicros: number,
  stat: string,
  timeKey: string,
  perMicro: number,
  pressureMicros: number | undefined,
): CpuCounters {
  return {
    usageMicros,
    periods: readKey(stat, 'nr_periods') ?? 0,
    throttledPeriods: readKey(stat, 'nr_throttled') ?? 0,
    throttledMicros: Math.floor((readKey(stat, timeKey) ?? 0) / perMicro),
    pressureMicros,
  };
}

/**
 * `cpuacct.usage` in nanoseconds passes 2^53 after 104 days of one core: too long for an exact number, so read apart.
 */
function parseNanos(text: string): number | undefined {
  const trimmed = text.trim();
  return /^\d{1,20}$/.test(trimmed) ? Number(trimmed) : undefined;
}
