/** What a candidate reads from and writes to the Lease object. Pure. */
import type { Lease } from '../api/core.ts';
import { formatMicroTime } from './micro-time.ts';

/** What this candidate would write. Names and durations must be the same for all candidates. */
export interface LeaseTerms {
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  /** Whole seconds, at least 1. */
  readonly leaseDurationSeconds: number;
  /** Published on the lease by the leader, e.g. its webhook address; removed on release. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** Empty when nobody holds it. */
export function holderOf(lease: Lease): string {
  return lease.spec?.holderIdentity ?? '';
}

/**
 * Changes exactly when somebody acquired, renewed or released the lease. Only this says that a holder is alive: its
 * times are of its clock, and the resourceVersion also changes when a stranger adds a label.
 */
export function heartbeatOf(lease: Lease): string {
  const { holderIdentity, acquireTime, renewTime, leaseTransitions, leaseDurationSeconds } = lease.spec ?? {};
  return JSON.stringify([holderIdentity, acquireTime, renewTime, leaseTransitions, leaseDurationSeconds]);
}

/** The lease held by us as of now; everything others put on the object is kept. */
export function heldLease(terms: LeaseTerms, known: Lease | undefined, nowMillis: number): Lease {
  const now = formatMicroTime(nowMillis);
  const wasOurs = known !== undefined && holderOf(known) === terms.identity;
  const transitions = known?.spec?.leaseTransitions ?? 0;
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      ...known?.metadata,
      namespace: terms.namespace,
      name: terms.name,
      annotations: { ...known?.metadata?.annotations, ...terms.annotations },
    },
    spec: {
      ...known?.spec,
      holderIdentity: terms.identity,
      leaseDurationSeconds: terms.leaseDurationSeconds,
      acquireTime: wasOurs ? (known.spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: known === undefined || wasOurs ? transitions : transitions + 1,
    },
  };
}

/**
 * The lease given up, so that others need not wait for it to run out. As client-go: no holder and one second to live.
 */
export function releasedLease(terms: LeaseTerms, held: Lease, nowMillis: number): Lease {
  const now = formatMicroTime(nowMillis);
  const others = Object.entries(held.metadata?.annotations ?? {}).filter(([key]) => !(key in terms.annotations));
  const { holderIdentity: _, ...spec } = held.spec ?? {};
  return {
    ...held,
    metadata: { ...held.metadata, annotations: Object.fromEntries(others) },
    spec: { ...spec, leaseDurationSeconds: 1, renewTime: now, acquireTime: now },
  };
}
