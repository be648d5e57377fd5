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

/** The script of one container; it ends with the run it was begun for. */
export interface ScriptedRun {
  /** Starts the container. */
  start(container: ContainerRuntime): void;
  /** Goes on with one that runs since before: what is overdue happens at once. */
  goOn(container: ContainerRuntime): void;
}

export function createScriptedRun({ clock, behaviour, after, report, end }: ScriptedRunOptions): ScriptedRun {
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

  const play = (container: ContainerRuntime, startedAtMillis: number): void => {
    const ifSameRun: Guarded = (action) => () => {
      if (container.state.kind === 'running' && container.state.startedAtMillis === startedAtMillis) action();
    };
    const at = (millis: number, action: () => void): void =>
      void after(Math.max(0, startedAtMillis + millis - clock.now()), ifSameRun(action));
    const { readyMillis, unreadyAfterMillis, crashAfterMillis, completeAfterMillis } = behaviour;
    if (readyMillis !== 'never') {
      const ready = ifSameRun(() => becomeReady(container, ifSameRun));
      if (readyMillis > 0) at(readyMillis, ready);
      else if (unreadyAfterMillis !== 'never' || !container.isReady) ready();
    }
    if (crashAfterMillis !== 'never') at(crashAfterMillis, () => end(container, 1, 'Error'));
    if (completeAfterMillis !== 'never') at(completeAfterMillis, () => end(container, 0, 'Completed'));
  };

  return {
    start(container) {
      const startedAtMillis = clock.now();
      container.state = { kind: 'running', startedAtMillis };
      container.isReady = behaviour.readyMillis === 0;
      container.memoryBytes = 0;
      play(container, startedAtMillis);
    },
    goOn(container) {
      if (container.state.kind === 'running') play(container, container.state.startedAtMillis);
    },
  };
}
