/** The load of all simulated nodes: one beat for all of them, which rests while no pod has a load. */
import type { Clock, Timer } from '../../lib/clock.ts';
import type { EpochMillis, Millicores, Millis } from '../../lib/units.ts';
import { createNodeLoad, type NodeLoad } from '../load/node-load.ts';
import { createLoadReader } from '../load/pod-load.ts';
import type { Amounts } from '../pod-requests.ts';
import type { NodeUsage } from './node-usage.ts';
import type { PodWorker } from './pod-worker.ts';

export interface LoadOptions {
  /** How often load is looked at: growth of memory is noticed, and demand taken as even, in steps of this. Default 15 s. */
  readonly stepMillis?: Millis;
  /** Equal seeds and names of pods give equal luck. Default 0. */
  readonly seed?: number;
}

/** What runs on a node besides pods; metrics-server takes a node that uses nothing for one that does not answer. */
const SYSTEM = { cores: 0.02, memoryBytes: 256 * 1024 ** 2 } as const;

export interface LoadedMachine {
  readonly isAlive: boolean;
  readonly sinceMillis: EpochMillis;
  readonly allocatable: Amounts;
  readonly workers: ReadonlyMap<string, PodWorker>;
}

/** Counters grow when somebody looks and with the beat; between looks nothing is computed. */
export interface KubeletLoad {
  /** A pod was started or changed: it may have a load now. */
  notice(worker: PodWorker): void;
  /** What a node and its containers have used until now. */
  usage(machine: LoadedMachine): Pick<NodeUsage, 'at' | 'containers' | 'cpuSeconds' | 'memoryBytes'>;
  /** What the containers of a node got when somebody last looked: reading it computes nothing and changes no counter. */
  cpuInUse(machine: LoadedMachine): Millicores | undefined;
  stop(): void;
}

export interface KubeletLoadOptions extends LoadOptions {
  readonly clock: Clock;
  readonly machines: () => Iterable<LoadedMachine>;
  /** Told of each curve that cannot be read, in one sentence. */
  readonly onInvalid: (problem: string) => void;
}

/** The beat exists for what happens without a reader: containers that outgrow their memory limit. */
export function createKubeletLoad(options: KubeletLoadOptions): KubeletLoad {
  const { clock, machines, onInvalid, stepMillis = 15_000, seed = 0 } = options;
  const loads = createLoadReader(onInvalid);
  const byMachine = new WeakMap<LoadedMachine, NodeLoad>();
  let beat: Timer | undefined;

  const loadOf = (machine: LoadedMachine): NodeLoad => {
    const known = byMachine.get(machine);
    if (known !== undefined) return known;
    const load = createNodeLoad({
      capacityMillicores: () => machine.allocatable.get('cpu') ?? 0,
      loadOf: loads.of,
      stepMillis,
      seed,
    });
    byMachine.set(machine, load);
    return load;
  };

  const advance = (machine: LoadedMachine, now: EpochMillis): NodeLoad => {
    const load = loadOf(machine);
    load.advance(machine.isAlive ? machine.workers.values() : [], now);
    return load;
  };

  const arm = (): void => {
    beat ??= clock.setTimer(stepMillis, () => {
      beat = undefined;
      let isLoaded = false;
      for (const machine of machines()) {
        // Whoever reads often enough makes the beat unnecessary.
        const now = clock.now();
        if (loadOf(machine).isDue(now)) advance(machine, now);
        for (const worker of machine.workers.values()) isLoaded ||= loads.of(worker.pod()) !== undefined;
      }
      if (isLoaded) arm();
    });
  };

  return {
    notice(worker) {
      if (beat === undefined && loads.of(worker.pod()) !== undefined) arm();
    },
    usage(machine) {
      // One look: rates are told from counters and their time, whoever stands still in between.
      const at = clock.now();
      const node = advance(machine, at);
      const containers = node.usages();
      const memoryBytes = containers.reduce((total, usage) => total + usage.memoryBytes, 0);
      const systemSeconds = (SYSTEM.cores * (at - machine.sinceMillis)) / 1000;
      return {
        at,
        containers,
        memoryBytes: SYSTEM.memoryBytes + memoryBytes,
        cpuSeconds: systemSeconds + node.cpuSeconds(),
      };
    },
    cpuInUse: (machine) => byMachine.get(machine)?.cpuInUse(),
    stop() {
      beat?.cancel();
      beat = undefined;
    },
  };
}
