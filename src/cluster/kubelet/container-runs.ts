/** The runs of a pod's containers, one after the other: how each ends, and when the next begins. */
import type { Pod } from '../../api/core.ts';
import { nameOf, namespaceOf, uidOf } from '../objects.ts';
import { type ContainerRuntime, type Ended, willRestart } from './pod-status.ts';
import { restartDelay } from './restart-backoff.ts';
import { createScriptedRun, type ScriptedRun, type ScriptedRunOptions } from './scripted-run.ts';

export interface ContainerRunsOptions extends Omit<ScriptedRunOptions, 'end'> {
  readonly pod: () => Pod;
  /** What ends from now on stays so. */
  readonly isOver: () => boolean;
}

export interface ContainerRuns extends ScriptedRun {
  /** The process of a running container ended; another begins by the pod's policy. */
  end(container: ContainerRuntime, exitCode: number, reason: string): void;
  /** Stopped and started by the kubelet itself, which need not notice anything first. */
  restart(container: ContainerRuntime): void;
}

export function createContainerRuns(options: ContainerRunsOptions): ContainerRuns {
  const { clock, after, report, pod, isOver } = options;

  const end: ContainerRuns['end'] = (container, exitCode, reason) => {
    if (container.state.kind !== 'running') return;
    const { startedAtMillis } = container.state;
    const ended = { exitCode, reason, startedAtMillis, finishedAtMillis: clock.now(), run: container.restarts };
    container.state = { kind: 'terminated', ...ended };
    container.isReady = false;
    if (!isOver() && willRestart(pod(), exitCode !== 0)) beginLater(container, ended);
    report();
  };

  /** The first restart comes as soon as the end is noticed, later ones wait in CrashLoopBackOff. */
  const beginLater = (container: ContainerRuntime, ended: Ended): void => {
    const ranMillis = ended.finishedAtMillis - ended.startedAtMillis;
    const { backoffMillis, delayMillis } = restartDelay(container.restarts, ranMillis);
    if (backoffMillis > 0) {
      container.lastEnd = ended;
      const message = `back-off ${backoffMillis / 1000}s restarting failed container=${container.name} pod=${fullNameOf(pod())}`;
      container.state = { kind: 'waiting', reason: 'CrashLoopBackOff', message };
    }
    after(delayMillis, () => {
      if (!isOver()) begin(container, ended);
    });
  };

  const begin = (container: ContainerRuntime, lastEnd: Ended): void => {
    container.lastEnd = lastEnd;
    container.restarts++;
    script.start(container);
    report();
  };

  const script = createScriptedRun({ ...options, end });
  return {
    ...script,
    end,
    restart(container) {
      if (container.state.kind !== 'running') return;
      const { startedAtMillis } = container.state;
      const ended = { exitCode: 0, reason: 'Completed', startedAtMillis, finishedAtMillis: clock.now() };
      begin(container, { ...ended, run: container.restarts });
    },
  };
}

function fullNameOf(pod: Pod): string {
  return `${nameOf(pod)}_${namespaceOf(pod)}(${uidOf(pod)})`;
}
