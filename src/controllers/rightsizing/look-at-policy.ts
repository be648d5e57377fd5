/** Looks at one policy: every workload it is about, one after the other; then its status. */
import { largestNode } from '../../decide/rightsizing/largest-node.ts';
import { requeueAfter } from '../../decide/rightsizing/requeue.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { Millis } from '../../lib/units.ts';
import { isValidPolicy, type PolicyRecord, type ValidPolicy } from '../../model/optimization-policy.ts';
import type { WorkloadLooks } from './look-at-workload.ts';
import type { RightsizingParts } from './parts.ts';
import type { PolicyBook } from './policies.ts';
import { discover, type SelectPolicy } from './policy-selector.ts';
import type { RightsizingQueue } from './reconcile-triggers.ts';

export interface LookAtPolicyOptions
  extends Pick<RightsizingParts, 'view' | 'usage' | 'books' | 'settings' | 'events' | 'metrics' | 'clock' | 'random'> {
  readonly select: SelectPolicy;
  readonly workloads: Pick<WorkloadLooks, 'inPass'>;
  readonly wake: RightsizingQueue['wake'];
}

/** @returns when the next pass is due; undefined: once the policy changes. */
export type LookAtPolicy = (policy: PolicyRecord, signal: AbortSignal) => Promise<Millis | undefined>;

export function createLookAtPolicy(options: LookAtPolicyOptions): LookAtPolicy {
  const { view, usage, select, workloads, books, settings, wake, events, metrics, clock, random } = options;

  /** Finds out which workloads are the policy's now. @returns their keys. */
  const takeStock = (policy: ValidPolicy, book: PolicyBook): ReadonlySet<string> => {
    const { discovered, owned, tie } = discover(policy, view.workloads(), select);
    book.discovered = discovered;
    book.owned = owned.size;
    book.tie = tie;
    for (const key of book.results.keys()) {
      if (owned.has(key)) continue;
      book.results.delete(key);
      // Another policy's by now, or nobody's: then what is ours on it is given back.
      wake('workload', key);
    }
    if (policy.spec.mode === 'Disabled') book.results.clear();
    return owned;
  };

  const passOver = async (policy: ValidPolicy, signal: AbortSignal): Promise<Millis> => {
    const { uid, name, spec } = policy;
    const startedAt = clock.now();
    const book = books.of(uid);
    const owned = takeStock(policy, book);
    const largest = largestNode(view);
    for (const key of owned) await workloads.inPass(key, policy, largest, signal);
    const fallback = usage.healthOf(policy)?.fallback;
    if (fallback !== undefined) {
      const { provider, because } = fallback;
      const message = renderReason('UsageFromFallback', { provider, cause: because.message });
      events.onPolicy(policy, { reason: 'UsageFromFallback', message, lasts: true });
    }
    await books.write(policy, signal);
    metrics.observe('optipod_reconciliation_duration_seconds', { policy: name }, (clock.now() - startedAt) / 1000);
    const counts = {
      discovered: Object.values(book.discovered).reduce((sum, each) => sum + each, 0),
      processed: [...book.results.values()].filter(({ failure }) => failure === undefined).length,
    };
    return requeueAfter(spec.mode, Math.max(settings().minIntervalMillis, spec.intervalMillis), counts, random);
  };

  return async (policy, signal) => {
    if (isValidPolicy(policy)) return passOver(policy, signal);
    const { uid, namespace, name, generation, problems } = policy;
    books.of(uid).results.clear();
    metrics.inc('optipod_reconciliation_errors_total', { policy: name, error_type: 'validation_error' });
    const message = renderReason('ValidationFailed', { namespace, name, cause: problems.join('; ') });
    events.onPolicy(policy, { reason: 'ValidationFailed', message, lasts: true, about: String(generation) });
    await books.write(policy, signal);
    return undefined;
  };
}
