/** The operator's replicas, kept running as a Deployment keeps them: a replica that ends is replaced after a while. */
import { type Clock, sleep } from '../lib/clock.ts';
import { describeError } from '../lib/errors.ts';
import type { Millis } from '../lib/units.ts';
import type { SimulatedOperator } from './operator-port.ts';
import type { World } from './world.ts';

/** Of replicas named `simulated_1`, `simulated_2` and so on; no name comes back. */
export interface OperatorTeam {
  /** Starts one more replica. */
  start(): Promise<void>;
  /** Ends the replica that has run longest, in order or as if its machine were gone, and starts another after a time. */
  replace(how: 'stop' | 'crash', afterMillis: Millis): Promise<void>;
  /** The replica that has run longest does not reach the API server for a time. */
  isolate(forMillis: Millis): Promise<void>;
  /** The replica that makes the next write of the resource is gone in that moment, and another starts after a time. */
  replaceAtWrite(resource: string, moment: 'before' | 'after', afterMillis: Millis): Promise<void>;
  /** The clock of its machine is set, or those of all; negative is back. */
  setClock(byMillis: Millis, of: 'oldest' | 'all'): void;
}

export interface OperatorTeamOptions {
  readonly world: World<SimulatedOperator>;
  readonly clock: Clock;
  /** A sentence for each replica that could not be replaced is added here. */
  readonly problems: string[];
  /** Ends the keeping. */
  readonly signal: AbortSignal;
  /** A replica came or goes, or a clock was set. */
  readonly onChange: () => void;
}

/** The kubelet's first back-off for a container that ended. */
const RESTART_MILLIS: Millis = 10_000;

export function createOperatorTeam({ world, clock, problems, signal, onChange }: OperatorTeamOptions): OperatorTeam {
  let started = 0;
  const start = async (): Promise<void> => {
    const identity = `simulated_${++started}`;
    onChange();
    const operator = await world.startReplica(identity);
    operator.ended.catch((error: unknown) => void restart(identity, error));
  };
  /** A replica that lost its lease ends, so that another starts on fresh data. */
  const restart = async (identity: string, error: unknown): Promise<void> => {
    if (!world.replicas().has(identity)) return;
    try {
      await world.stopReplica(identity);
      await sleep(clock, RESTART_MILLIS, signal);
      await start();
    } catch (failure) {
      if (!signal.aborted)
        problems.push(`a replica ended (${describeError(error)}) and none took its place: ${describeError(failure)}`);
    }
  };
  const oldestOf = (): string | undefined => world.replicas().keys().next().value;
  return {
    start,
    async isolate(forMillis) {
      const oldest = oldestOf();
      if (oldest === undefined) return;
      const rejoin = world.isolate(oldest);
      try {
        await sleep(clock, forMillis, signal);
      } finally {
        rejoin();
      }
    },
    async replaceAtWrite(resource, moment, afterMillis) {
      const sprung = Promise.withResolvers<void>();
      const giveUp = world.trapWrite({ resource, moment, onSprung: sprung.resolve });
      const onAbort = (): void => sprung.reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        await sprung.promise;
        await sleep(clock, afterMillis, signal);
        await start();
      } finally {
        giveUp();
        signal.removeEventListener('abort', onAbort);
      }
    },
    setClock(byMillis, of) {
      onChange();
      const [oldest, ...others] = world.replicas().keys();
      for (const identity of [oldest, ...(of === 'all' ? others : [])])
        if (identity !== undefined) world.setClock(identity, byMillis);
    },
    async replace(how, afterMillis) {
      const oldest = oldestOf();
      onChange();
      if (oldest !== undefined && how === 'stop') await world.stopReplica(oldest);
      if (oldest !== undefined && how === 'crash') world.cutOff(oldest);
      await sleep(clock, afterMillis, signal);
      await start();
    },
  };
}
