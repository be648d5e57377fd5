/** Open-loop traffic to pods: the load program sends what was drawn before, at the times drawn, and reports how long each answer took. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { arrivalsOf } from '../../../src/lab/open-loop.ts';
import { PATIENCE_MILLIS, type Reply } from '../../../src/lab/substrate.ts';
import { createSeededRandom } from '../../../src/lib/random.ts';
import type { Millis } from '../../../src/lib/units.ts';

export interface Target {
  readonly name: string;
  readonly address: string;
  readonly ratePerSecond: (millis: Millis) => number;
}

export interface TrafficOptions {
  /** Path of the load program. */
  readonly load: string;
  readonly targets: readonly Target[];
  readonly lengthMillis: Millis;
  readonly seed: number;
  readonly wrap: (command: readonly string[]) => readonly string[];
}

export interface Traffic {
  /** Resolves when the last answer has come or was given up. */
  readonly replies: Promise<ReadonlyMap<string, readonly Reply[]>>;
  stop(): void;
}

/** Of CPU for each request, always the same. */
const WORK_MILLIS = 4;

/** Resolves when the first request is about to be sent. */
export async function startTraffic({ load, targets, lengthMillis, seed, wrap }: TrafficOptions): Promise<Traffic> {
  const arrivals = targets.map(({ ratePerSecond }, index) => {
    const random = createSeededRandom(1000 * seed + index);
    return arrivalsOf({ ratePerSecond, workMillis: WORK_MILLIS, from: 0, until: lengthMillis, random });
  });
  const plan = {
    timeoutMillis: PATIENCE_MILLIS,
    targets: targets.map(({ address }, index) => ({
      url: `http://${address}/work`,
      arrivals: (arrivals[index] ?? []).map(({ atMillis }) => Math.round(1000 * atMillis)),
      workMicros: (arrivals[index] ?? []).map(() => 1000 * WORK_MILLIS),
    })),
  };
  const [command = '', ...args] = wrap([load, 'generate']);
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(plan));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done === true) throw new Error('the load generator ended before it began');
  const read = async (): Promise<ReadonlyMap<string, readonly Reply[]>> => {
    const found = new Map<string, readonly Reply[]>();
    for (const [index, { name }] of targets.entries()) {
      const line = await lines.next();
      if (line.done === true) throw new Error('the load generator ended before it was done');
      const latencies: unknown = JSON.parse(line.value);
      if (!Array.isArray(latencies)) throw new Error(`the load generator printed ${line.value.slice(0, 80)}`);
      found.set(
        name,
        (arrivals[index] ?? []).map(({ atMillis }, position) => ({
          sentAt: atMillis,
          latencyMillis: latencies[position] < 0 ? undefined : Number(latencies[position]) / 1000,
        })),
      );
    }
    return found;
  };
  return { replies: read(), stop: () => child.kill('SIGKILL') };
}
