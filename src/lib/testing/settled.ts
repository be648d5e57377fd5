import type { Millis } from '../units.ts';
import type { VirtualClock } from '../virtual-clock.ts';

/** Lets virtual time pass, step by step, until the work has an end, whatever that is. @returns what came of it. */
export async function settled<Result>(
  clock: Pick<VirtualClock, 'advance'>,
  work: Promise<Result>,
  stepMillis: Millis = 250,
): Promise<Result> {
  let isDone = false;
  const end = (): void => {
    isDone = true;
  };
  work.then(end, end);
  while (!isDone) await clock.advance(stepMillis);
  return work;
}
