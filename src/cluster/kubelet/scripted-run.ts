/** What a container does once it runs, by the script of its pod: becomes ready, fails its probe, crashes, completes. */
import type { Clock, Timer } from '../../lib/clock.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { Behaviour } from './behaviour.ts';
import type { ContainerRuntime } from './pod-status.ts';
import { readinessAt } from './scripted-readiness.ts';

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
  /**
   * Goes on with one that runs since before: what is overdue happens at once.
   * @param reportedAt when its readiness changed last, as was reported; what the script brought later nobody saw.
   */
  goOn(container: ContainerRuntime, reportedAt: EpochMillis | undefined): void;
}

export function createScriptedRun({ clock, behaviour, after, report, end }: ScriptedRunOptions): ScriptedRun {
  /**
   * What is still to come of a run.
   * @param ranMillis how long it ran when its readiness was found: a change since then is not passed over.
   */
  const play = (container: ContainerRuntime, startedAtMillis: EpochMillis, ranMillis: Millis): void => {
    const at = (millis: number | 'never', action: () => void): void => {
      if (millis === 'never') return;
      after(Math.max(0, startedAtMillis + millis - clock.now()), () => {
        if (container.state.kind === 'running' && container.state.startedAtMillis === startedAtMillis) action();
      });
    };
    const followReadiness = (sinceMillis: Millis): void => {
      at(readinessAt(behaviour, sinceMillis).untilMillis, () => {
        const nowMillis = clock.now() - startedAtMillis;
        const { isReady } = readinessAt(behaviour, nowMillis);
        if (container.isReady !== isReady) {
          container.isReady = isReady;
          report();
        }
        followReadiness(nowMillis);
      });
    };
    followReadiness(ranMillis);
    at(behaviour.crashAfterMillis, () => end(container, 1, 'Error'));
    at(behaviour.completeAfterMillis, () => end(container, 0, 'Completed'));
  };

  return {
    start(container) {
      const startedAtMillis = clock.now();
      container.state = { kind: 'running', startedAtMillis };
      container.isReady = readinessAt(behaviour, 0).isReady;
      container.memoryBytes = 0;
      play(container, startedAtMillis, 0);
    },
    goOn(container, reportedAt) {
      if (container.state.kind !== 'running') return;
      const { startedAtMillis } = container.state;
      const ranMillis = clock.now() - startedAtMillis;
      const { isReady, sinceMillis } = readinessAt(behaviour, ranMillis);
      // What was reported since then is by somebody's order, and holds until the script brings something new.
      const isByOrder = reportedAt !== undefined && reportedAt >= startedAtMillis + sinceMillis;
      if (!isByOrder && container.isReady !== isReady) {
        container.isReady = isReady;
        report();
      }
      play(container, startedAtMillis, ranMillis);
    },
  };
}
