/** What the parts of the autoscaler have in common. */
import type { StandInContext } from '../stand-in.ts';
import type { MachineProvider } from './autoscaler-api.ts';
import { createFleet, type Fleet } from './fleet.ts';

export interface AutoscalerScope {
  readonly context: StandInContext;
  readonly fleet: Fleet;
  readonly provider: MachineProvider;
  /** Aborts when the autoscaler stops. */
  readonly signal: AbortSignal;
  /** Work nobody waits for: ending with the autoscaler is normal, anything else is worth a line. */
  inBackground(work: Promise<unknown>): void;
}

export function createScope(context: StandInContext, provider: MachineProvider, signal: AbortSignal): AutoscalerScope {
  return {
    context,
    fleet: createFleet(context.clock),
    provider,
    signal,
    inBackground(work) {
      work.catch((error: unknown) => {
        const isAbort = signal.aborted || (error instanceof Error && error.name === 'AbortError');
        if (!isAbort) context.log.warn({ error }, 'The autoscaler could not finish a step');
      });
    },
  };
}
