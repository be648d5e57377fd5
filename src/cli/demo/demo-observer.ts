/** The observer of the demo: a view of its own of the cluster, and the decisions as they become visible there. */
import type { KubeApi } from '../../api/kube-api.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import type { PdbRecord } from '../../model/records.ts';
import { createLiveStores } from '../../observe/live-stores.ts';
import { createLiveView } from '../../observe/live-view.ts';
import { createAdmissionFeed } from './admission-feed.ts';
import type { Cleanup } from './cleanup.ts';
import { followDecisions } from './decision-feed.ts';
import type { DecisionLine } from './frame.ts';

export interface DemoObserver {
  readonly view: ClusterView;
  budgets(): readonly PdbRecord[];
  /** Told of admissions and of every event of the operator. Returns the function that ends it. */
  onDecision(listener: (line: DecisionLine) => void): () => void;
  /** Resolves when the view shows the whole cluster. */
  readonly onSynced: Promise<void>;
}

export interface DemoObserverOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly cleanup: Cleanup;
}

export function startDemoObserver({ cleanup, ...context }: DemoObserverOptions): DemoObserver {
  const listeners = new Set<(line: DecisionLine) => void>();
  const emit = (line: DecisionLine): void => {
    for (const listener of listeners) listener(line);
  };
  const stores = createLiveStores(context);
  const view = createLiveView(stores);
  const admissions = createAdmissionFeed({ view, clock: context.clock, emit });
  view.onPod((before, after) => {
    if (before === undefined && after !== undefined) admissions.add(after);
  });
  const ending = new AbortController();
  const running = Promise.all([view.run(ending.signal), followDecisions({ ...context, emit }, ending.signal)]);
  cleanup.defer(() => {
    ending.abort();
    return running;
  });
  cleanup.defer(() => admissions.stop());
  return {
    view,
    budgets: () => [...stores.pdbs.store.values()],
    onDecision(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onSynced: view.onSynced,
  };
}
