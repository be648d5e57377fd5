/**
 * What the pods with an allocation of a namespace request in all. Under a quota each node with such pods asks at each
 * look, hundreds of them within a second: one walk over the namespace is enough for all of these.
 */
import { sizeOf } from '../../decide/allocation/allocation-pod.ts';
import type { Clock } from '../../lib/clock.ts';
import type { EpochMillis, Millicores, Millis } from '../../lib/units.ts';
import { hasEnded } from '../../model/owners.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { AllocationStores } from '../../observe/allocation-stores.ts';

export interface AllocatedRequestsOptions {
  readonly view: Pick<SizingView, 'pod'>;
  readonly stores: Pick<AllocationStores, 'allIn'>;
  readonly clock: Clock;
}

/** As old as what agents and quotas say may be anyway. */
const LIFE: Millis = 1000;

interface Counted {
  readonly at: EpochMillis;
  readonly requests: Millicores;
}

/** @returns of a namespace, not older than a second. */
export function createAllocatedRequests({ view, stores, clock }: AllocatedRequestsOptions) {
  const known = new Map<string, Counted>();

  const count = (namespace: string): Millicores => {
    let sum = 0;
    for (const { podName } of stores.allIn(namespace)) {
      const found = view.pod(namespace, podName);
      // Of one that has ended the quota counts nothing, and it takes nothing of what is left.
      if (found !== undefined && !hasEnded(found.pod)) sum += sizeOf(found.sizing).request;
    }
    return sum;
  };
  return (namespace: string): Millicores => {
    const now = clock.now();
    // Namespaces come and go.
    for (const [key, { at }] of known) if (now - at >= LIFE) known.delete(key);
    const counted = known.get(namespace) ?? { at: now, requests: count(namespace) };
    known.set(namespace, counted);
    return counted.requests;
  };
}
