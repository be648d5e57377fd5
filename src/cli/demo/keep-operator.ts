/** Keeps the demo's operator running as a Deployment keeps a pod: one that ended because its machine stood still is started anew. */
import { type Clock, sleep } from '../../lib/clock.ts';
import { StowageError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Millis } from '../../lib/units.ts';
import type { RunningOperator } from '../operator-port.ts';

/** What stays the same, whichever process runs. */
export interface KeptOperator extends Pick<RunningOperator, 'ports' | 'synced'> {
  /** Started anew so often. */
  restarts(): number;
  /** Rejects when it ends by itself for another reason, or cannot be started anew. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

export interface KeepOptions {
  /** @param ports of the one before, to be had again; undefined for the first. */
  readonly start: (ports: RunningOperator['ports'] | undefined) => Promise<RunningOperator>;
  readonly clock: Clock;
  readonly log: Logger;
}

const PAUSE_MILLIS: Millis = 1_000;
const MAX_TRIES = 5;

/** @throws whatever keeps the first from starting. */
export async function keepOperator({ start, clock, log }: KeepOptions): Promise<KeptOperator> {
  const first = await start(undefined);
  const stopping = new AbortController();
  let current = first;
  let restarts = 0;

  /** Ports may take a moment to be free again. */
  const startAnew = async (): Promise<RunningOperator> => {
    for (let tries = 1; ; tries++) {
      await sleep(clock, PAUSE_MILLIS, stopping.signal);
      try {
        return await start(first.ports);
      } catch (error) {
        if (tries >= MAX_TRIES) throw error;
        log.warn({ error }, 'The operator could not be started anew; it is tried again');
      }
    }
  };

  const keep = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await current.ended;
        return;
      } catch (error) {
        if (!isOfTheMachine(error)) throw error;
        log.warn({ error }, 'The operator is started anew');
        current = await startAnew();
        restarts++;
      }
    }
    await current.stop();
  };

  const kept = keep();
  const failed = kept.then(
    () => new Promise<never>(() => {}),
    (error: unknown) => {
      if (stopping.signal.aborted) return new Promise<never>(() => {});
      throw error;
    },
  );
  failed.catch(() => {});
  return {
    ports: first.ports,
    synced: first.synced,
    restarts: () => restarts,
    failed,
    async stop() {
      stopping.abort(new Error('The demo is ending.'));
      await current.stop();
      await kept.catch(() => {});
    },
  };
}

/** A process that stood still for long has lost its lease, and a machine that slept has another time. */
function isOfTheMachine(error: unknown): boolean {
  return error instanceof StowageError && ['LEASE_LOST', 'CLOCK_SET'].includes(error.code);
}
