/** Whether what is in force on the node is what the spec says: "Applied" is claimed of nothing else. */
import { type AllocationPod, actualSizeOf, sizeOf } from './allocation-pod.ts';
import { isResizing } from './seat.ts';

/** Kubelets read sizes back from cgroups: quotas rounded to 10m by the systemd driver, requests off by one from shares. */
const LIMIT_TOLERANCE = 10;
const REQUEST_TOLERANCE = 2;

/**
 * `differs`: the kubelet says that it is done, and yet something else is in force (a daemon reload, another writer, k/k#118371):
 * put right once, then told, never in a loop. `unknown`: the kubelet does not say.
 */
export type Actuation = 'in-force' | 'on-its-way' | 'differs' | 'unknown';

export function actuationOf(pod: AllocationPod): Actuation {
  if (isResizing(pod)) return 'on-its-way';
  const actual = actualSizeOf(pod);
  if (actual === undefined) return 'unknown';
  const spec = sizeOf(pod);
  const sameRequest = Math.abs(actual.request - spec.request) <= REQUEST_TOLERANCE * pod.containers.length;
  const sameLimit =
    actual.limit === undefined || spec.limit === undefined
      ? actual.limit === spec.limit
      : Math.abs(actual.limit - spec.limit) <= LIMIT_TOLERANCE * pod.containers.length;
  return sameRequest && sameLimit ? 'in-force' : 'differs';
}
