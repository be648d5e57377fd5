/** How the simulated containers of a pod behave: the kubelet's defaults, overridden by annotations of the pod. */
import type { Pod } from '../../api/core.ts';
import { parseDuration } from '../../lib/duration.ts';
import { describeError } from '../../lib/errors.ts';
import type { Random } from '../../lib/random.ts';

/**
 * The annotations, each a duration like `3s` unless said otherwise:
 * `start-after` from binding to running containers; `ready-after` from running to ready, or `never`;
 * `unready-after` from ready to failing the readiness probe, for good or for `unready-for`;
 * `crash-after` from running to exit code 1, again after each restart; `complete-after` from running to exit code 0;
 * `stop-after` from SIGTERM to the end, or `never` (killed when the grace period is over); `image-error: "true"`.
 */
export const BEHAVIOUR_PREFIX = 'stowage.test/';

/** Durations in milliseconds; `never` where it does not happen. */
export interface Behaviour {
  readonly startMillis: number;
  readonly readyMillis: number | 'never';
  readonly unreadyAfterMillis: number | 'never';
  readonly unreadyForMillis: number | 'never';
  readonly crashAfterMillis: number | 'never';
  readonly completeAfterMillis: number | 'never';
  readonly stopMillis: number | 'never';
  readonly hasImageError: boolean;
}

/** The behaviour of pods without annotations. */
export interface BehaviourDefaults {
  /** Image pull and container creation, milliseconds; varied by up to `jitter` either way. */
  readonly startMillis: number;
  /** From running to the first successful readiness probe, beyond the probe's own initial delay. */
  readonly readyMillis: number;
  /** From the request to end to the object's end: most of it is the kubelet's own time. */
  readonly stopMillis: number;
  /** Share of a duration in 0..1. */
  readonly jitter: number;
}

/** Medians of a real node with the image at hand (docs/testing.md, "Measured on a real node"). */
export const DEFAULT_BEHAVIOUR: BehaviourDefaults = {
  startMillis: 400,
  readyMillis: 600,
  stopMillis: 2900,
  jitter: 0.3,
};

/** @param onInvalid told of each annotation that cannot be read, in one sentence; the default then applies. */
export function behaviourOf(
  pod: Pod,
  defaults: BehaviourDefaults,
  random: Random,
  onInvalid: (problem: string) => void,
): Behaviour {
  const vary = (millis: number): number => Math.round(millis * (1 + defaults.jitter * (2 * random.next() - 1)));
  const read = (key: string, fallback: number | 'never'): number | 'never' => {
    const name = `${BEHAVIOUR_PREFIX}${key}`;
    const text = pod.metadata?.annotations?.[name];
    if (text === undefined) return fallback;
    if (text === 'never') return 'never';
    try {
      return Math.max(0, parseDuration(text));
    } catch (error) {
      onInvalid(`annotation ${name}: ${describeError(error)}`);
      return fallback;
    }
  };
  // Drawn whether or not an annotation overrides it, so that one pod's annotations never change another pod's luck.
  const start = vary(defaults.startMillis);
  const ready = probeDelay(pod, vary(defaults.readyMillis));
  const startAfter = read('start-after', start);
  return {
    startMillis: startAfter === 'never' ? start : startAfter,
    readyMillis: read('ready-after', ready),
    unreadyAfterMillis: read('unready-after', 'never'),
    unreadyForMillis: read('unready-for', 'never'),
    crashAfterMillis: read('crash-after', 'never'),
    completeAfterMillis: read('complete-after', 'never'),
    stopMillis: read('stop-after', defaults.stopMillis),
    hasImageError: startAfter === 'never' || pod.metadata?.annotations?.[`${BEHAVIOUR_PREFIX}image-error`] === 'true',
  };
}

/** Without a readiness probe a running container is ready at once. */
function probeDelay(pod: Pod, readyMillis: number): number {
  const delays = (pod.spec?.containers ?? []).flatMap(({ readinessProbe: probe }) =>
    probe === undefined
      ? []
      : [((probe.initialDelaySeconds ?? 0) + (probe.periodSeconds ?? 10) * ((probe.successThreshold ?? 1) - 1)) * 1000],
  );
  return delays.length === 0 ? 0 : Math.max(...delays) + readyMillis;
}
