/**
 * CPU use of the whole node and of all its pods, and so of everything that is not a pod: kubelet, runtime, system
 * services.
 */
import type { Millicores, Millis } from '../lib/units.ts';
import { type CounterRing, createCounterRing } from './cgroup/counter-ring.ts';
import type { CpuCounters, GroupReader } from './cgroup/counters.ts';
import type { FileReader } from './cgroup/file-reader.ts';
import { parseProcStat } from './cgroup/parse.ts';

/** Undefined where it cannot be told. */
export interface NodeUse {
  readonly total: Millicores | undefined;
  /** Of everything below the `kubepods` groups. */
  readonly pods: Millicores | undefined;
  /** The rest: what capacity for pods must leave free. */
  readonly system: Millicores | undefined;
}

/** One for the node; sampled together with the pods, so that their difference is of one moment. */
export interface NodeUseMeter {
  /** @param roots paths of the `kubepods` groups of this node. */
  sample(nowMillis: Millis, roots: readonly string[]): void;
  use(spanMillis: Millis): NodeUse;
  /** Keeps so many samples from now on. */
  grow(capacity: number): void;
}

export interface NodeUseOptions {
  readonly groups: GroupReader;
  readonly files: FileReader;
  readonly proc: string;
  readonly capacity: number;
}

export function createNodeUse({ groups, files, proc, ...options }: NodeUseOptions): NodeUseMeter {
  let { capacity } = options;
  const total = createCounterRing(capacity);
  const pods = new Map<string, CounterRing>();

  /** Where it was read last: the counters of two sources have nothing to do with each other. */
  let totalOf: 'top' | 'machine' | undefined;
  const readMachine = (): CpuCounters | undefined => {
    const stat = files.read(`${proc}/stat`);
    const usageMicros = stat.ok ? parseProcStat(stat.text) : undefined;
    if (usageMicros === undefined) return undefined;
    return { usageMicros, periods: 0, throttledPeriods: 0, throttledMicros: 0, pressureMicros: undefined };
  };
  /**
   * The top of the tree first: a node inside a container (kind) has its own, while `/proc/stat` is always the whole
   * machine's.
   */
  const sampleTotal = (nowMillis: Millis): void => {
    const top = groups.counters('');
    const source = top.ok ? 'top' : 'machine';
    const counters = top.ok ? top.value : readMachine();
    if (counters === undefined || source !== totalOf) total.reset();
    totalOf = source;
    if (counters !== undefined) total.push(nowMillis, counters);
  };

  return {
    sample(nowMillis, roots) {
      sampleTotal(nowMillis);
      for (const root of [...pods.keys()]) if (!roots.includes(root)) pods.delete(root);
      for (const root of roots) {
        const ring = pods.get(root) ?? createCounterRing(capacity);
        pods.set(root, ring);
        const reading = groups.counters(root);
        if (reading.ok) ring.push(nowMillis, reading.value);
        else ring.reset();
      }
    },
    grow(wanted) {
      capacity = wanted;
      for (const ring of [total, ...pods.values()]) ring.grow(wanted);
    },
    use(spanMillis) {
      const all = total.window(spanMillis)?.usageMillicores;
      const parts = [...pods.values()].map((ring) => ring.window(spanMillis)?.usageMillicores);
      const known = parts.filter((part) => part !== undefined);
      const used =
        parts.length > 0 && known.length === parts.length ? known.reduce((sum, part) => sum + part, 0) : undefined;
      return {
        total: all,
        pods: used,
        // Two counters are not read at one instant, so the difference may fall below zero.
        system: all === undefined || used === undefined ? undefined : Math.max(0, all - used),
      };
    },
  };
}
