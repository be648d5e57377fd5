/** What a container does once it runs, by the script of its pod: becomes ready, fails its probe, crashes, completes. */
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Behaviour } from './behaviour.ts';
import type { ContainerRuntime } from './pod-status.ts';

export interface ScriptedRunOptions {
  readonly clock: Clock;
  readonly behaviour: Behaviour;
  /** A timer that ends with the pod. */
  readonly after: (delayMillis: number, action: () => void) => Timer;
  readonly report: () => void;
  readonly end: (container: ContainerRuntime, exitCode: number, reason: string) => void;
}

/** @returns starts a container; the script ends with this run of it. */
export function createScriptedRun({ clock, behaviour, after, report, end }: ScriptedRunOptions) {
  type Guarded = (action: () => void) => () => void;

  const becomeReady = (container: ContainerRuntime, ifSameRun: Guarded): void => {
    const { unreadyAfterMillis, unreadyForMillis } = behaviour;
    if (!container.isReady) {
      container.isReady = true;
      report();
    }
    if (unreadyAfterMillis === 'never') return;
    const recover = ifSameRun(() => becomeReady(container, ifSameRun));
    const fail = ifSameRun(() => {
      container.isReady = false;
      report();
      if (unreadyForMillis !== 'never') after(unreadyForMillis, recover);
    });
    after(unreadyAfterMillis, fail);
  };

  return (container: ContainerRuntime): void => {
    const startedAtMillis = clock.now();
    container.state = { kind: 'running', startedAtMillis };
    container.isReady = behaviour.readyMillis === 0;
    container.memoryBytes = 0;
    const ifSameRun: Guarded = (action) => () => {
      if (container.state.kind === 'running' && container.state.startedAtMillis === startedAtMillis) action();
    };
    const { readyMillis, unreadyAfterMillis, crashAfterMillis, completeAfterMillis } = behaviour;
    if (readyMillis !== 'never') {
      const ready = ifSameRun(() => becomeReady(container, ifSameRun));
      if (readyMillis > 0) after(readyMillis, ready);
      else if (unreadyAfterMillis !== 'never') ready();
    }
    if (crashAfterMillis !== 'never')
      after(
        crashAfterMillis,
        ifSameRun(() => end(container, 1, 'Error')),
      );
    if (completeAfterMillis !== 'never')
      after(
        completeAfterMillis,
        ifSameRun(() => end(container, 0, 'Completed')),
      );
  };
}
