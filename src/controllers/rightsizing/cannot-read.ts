/**
 * Tells policies that the cluster cannot be read: an event and a count at once, conditions when it lasts or when a
 * right is missing, which does not pass by itself. Property 28.
 */
import { isForbidden } from '../../api/kube-error.ts';
import type { UnreadCluster } from '../../decide/rightsizing/unread-conditions.ts';
import { describeError } from '../../lib/errors.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { isValidPolicy, type PolicyRecord, policyKey } from '../../model/optimization-policy.ts';
import type { UnreadStore } from '../../observe/live-view.ts';
import type { RightsizingParts } from './parts.ts';

export interface CannotReadOptions extends Pick<RightsizingParts, 'books' | 'events' | 'metrics' | 'clock' | 'log'> {
  readonly view: { unread(): readonly UnreadStore[] };
}

export interface CannotRead {
  /** Harmless where all is known. @throws StatusWriteError */
  tell(policy: PolicyRecord, signal: AbortSignal): Promise<void>;
  /** The same for many, where one that fails keeps the others from nothing. Rejects only with the signal's reason. */
  tellAll(policies: readonly PolicyRecord[], signal: AbortSignal): Promise<void>;
  /** All is known: the next trouble is a new one. */
  isOver(): void;
}

/** A watch that breaks is opened again within seconds. */
const PATIENCE_MILLIS: Millis = 60_000;

export function createCannotRead({ view, books, events, metrics, clock, log }: CannotReadOptions): CannotRead {
  let since: EpochMillis | undefined;
  const tell: CannotRead['tell'] = async (policy, signal) => {
    const unread = unreadCluster(view.unread());
    if (unread === undefined) return;
    since ??= clock.now();
    const { namespace, name } = policy;
    metrics.inc('optipod_reconciliation_errors_total', { policy: name, error_type: 'discovery_error' });
    const message = renderReason('DiscoveryFailed', { namespace, name, cause: `${unread.what}: ${unread.cause}` });
    events.onPolicy(policy, { reason: 'DiscoveryFailed', message, lasts: true });
    if (!isValidPolicy(policy) || policy.deleting) return;
    if (unread.isForbidden || clock.now() - since >= PATIENCE_MILLIS) await books.writeUnread(policy, unread, signal);
  };
  return {
    tell,
    async tellAll(policies, signal) {
      for (const policy of policies) {
        await tell(policy, signal).catch((error: unknown) => {
          signal.throwIfAborted();
          log.warn({ policy: policyKey(policy), error }, 'A policy could not be told what cannot be read');
        });
      }
    },
    isOver() {
      since = undefined;
    },
  };
}

function unreadCluster(stores: readonly UnreadStore[]): UnreadCluster | undefined {
  if (stores.length === 0) return undefined;
  // Where several are wrong, what is forbidden is what somebody has to mend.
  const forbidden = stores.filter(({ error }) => isForbidden(error));
  const told = forbidden.length > 0 ? forbidden : stores;
  const error = told.find((store) => store.error !== undefined)?.error;
  return {
    what: told.map(({ name }) => name).join(', '),
    cause: error === undefined ? 'no answer yet' : describeError(error),
    isForbidden: forbidden.length > 0,
  };
}
