/**
 * Integration 2, ResourceQuota: how much the pods of a namespace may still grow. On a node that is a cap on their sum,
 * in the operator a check of every write against fresh figures and growth that is on its way.
 */
import type { Millicores } from '../../../lib/units.ts';
import { countsIn, type QuotaSubject } from '../../../model/quota-scopes.ts';
import type { QuotaRecord } from '../../../model/sizing-records.ts';

/** Undefined: not limited. Never negative: a namespace that is over its quota may shrink, not grow. */
export interface QuotaRoom {
  readonly cpuRequest: Millicores | undefined;
  readonly cpuLimit: Millicores | undefined;
}

/**
 * The least that any quota leaves which counts one of the pods. Of pods that are told apart by their quotas, a node's
 * cap is that of the tightest: each write is checked against its own.
 */
export function quotaRoom(quotas: readonly QuotaRecord[], pods: readonly QuotaSubject[]): QuotaRoom {
  const counted = quotas.filter(({ scopes }) => pods.some((pod) => countsIn(scopes, pod)));
  return { cpuRequest: least(counted, 'cpuRequest'), cpuLimit: least(counted, 'cpuLimit') };
}

function least(quotas: readonly QuotaRecord[], key: 'cpuRequest' | 'cpuLimit'): Millicores | undefined {
  const rooms = quotas
    .map(({ hard, used }) => {
      const limit = hard[key];
      return limit === undefined ? undefined : Math.max(0, limit - (used[key] ?? 0));
    })
    .filter((room) => room !== undefined);
  return rooms.length === 0 ? undefined : Math.min(...rooms);
}

export interface NodeQuota {
  readonly room: QuotaRoom | 'unknown';
  /**
   * This node's part of the namespace's managed CPU, 0..1: nodes decide apart, and together must not exceed the room.
   */
  readonly nodeShare: number;
}

/**
 * The cap on the sum of the namespace's shares on this node; undefined: none. `ratio` is request by limit where the
 * share is the limit, so that both quotas bound it. What is not known leaves no room to grow.
 */
export function quotaCap(
  current: Millicores,
  quota: NodeQuota,
  shareIs: 'request' | 'limit',
  ratio: number,
): number | undefined {
  if (quota.room === 'unknown') return current;
  const { cpuRequest, cpuLimit } = quota.room;
  const rooms =
    shareIs === 'request' ? [cpuRequest] : [cpuLimit, cpuRequest === undefined ? undefined : cpuRequest / ratio];
  const known = rooms.filter((room) => room !== undefined);
  if (known.length === 0) return undefined;
  return current + Math.floor(Math.min(...known) * Math.min(1, Math.max(0, quota.nodeShare)));
}

/**
 * Growth that has been sent and is not yet in `used`; `denied`: a 403 said there is no room until the quota changes.
 */
export interface QuotaLedger {
  readonly cpuRequest: Millicores;
  readonly cpuLimit: Millicores;
  readonly denied: boolean;
}

/** What is missing for the pod's growth, or undefined where it fits. Shrinking always does. */
export function quotaShortfall(
  pod: QuotaSubject,
  growth: { readonly cpuRequest: Millicores; readonly cpuLimit: Millicores },
  quotas: readonly QuotaRecord[] | undefined,
  ledger: QuotaLedger | undefined,
): { readonly resource: 'requests.cpu' | 'limits.cpu'; readonly room: Millicores | undefined } | undefined {
  const { cpuRequest, cpuLimit } = growth;
  if (cpuRequest <= 0 && cpuLimit <= 0) return undefined;
  const resource = cpuRequest > 0 ? 'requests.cpu' : 'limits.cpu';
  if (quotas === undefined) return { resource, room: undefined };
  // Also where no quota is known that would say so: the server knows of one.
  if (ledger?.denied === true) return { resource, room: 0 };
  const room = quotaRoom(quotas, [pod]);
  const left = (amount: Millicores | undefined, sent: Millicores | undefined): Millicores =>
    amount === undefined ? Number.POSITIVE_INFINITY : Math.max(0, amount - (sent ?? 0));
  const requests = left(room.cpuRequest, ledger?.cpuRequest);
  if (cpuRequest > 0 && cpuRequest > requests) return { resource: 'requests.cpu', room: requests };
  const limits = left(room.cpuLimit, ledger?.cpuLimit);
  if (cpuLimit > 0 && cpuLimit > limits) return { resource: 'limits.cpu', room: limits };
  return undefined;
}
