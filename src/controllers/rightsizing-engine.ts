/** The rightsizing engine's controllers, put together. */
import type { EventSink } from '../act/events.ts';
import type { Journal } from '../act/journal.ts';
import { createWritePolicyStatus } from '../act/policy-status.ts';
import { createRightsizingEvents } from '../act/rightsizing-events.ts';
import { createAnnotateWorkload } from '../act/workload-annotations.ts';
import type { KubeApi } from '../api/kube-api.ts';
import type { Leadership } from '../guard/context.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Random } from '../lib/random.ts';
import type { SizedWorkload } from '../model/sizing-records.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import type { PolicyStores } from '../observe/policy-stores.ts';
import type { LiveSizingView } from '../observe/sizing/live-sizing-view.ts';
import type { UsageCollector } from '../observe/usage/collector-port.ts';
import { createRightsizingController, type RightsizingController } from './rightsizing-controller.ts';
import { createHandBack } from './rightsizing-hand-back.ts';
import { createRightsizingMemory } from './rightsizing-memory.ts';
import { reportRightsizing } from './rightsizing-metrics.ts';
import { createPolicyBooks, type PolicyBooks } from './rightsizing-policies.ts';
import { isDryRun, type RightsizingSettings } from './rightsizing-settings.ts';
import { type ApplySizes, createWorkloadReconciler } from './rightsizing-workload.ts';

export interface RightsizingEngineOptions {
  readonly api: KubeApi;
  readonly view: LiveSizingView;
  readonly policies: PolicyStores;
  readonly usage: UsageCollector;
  readonly settings: () => RightsizingSettings;
  readonly leadership: () => Leadership;
  /** Why pods of the workload cannot be resized in place; undefined: they can. */
  readonly inPlaceProblem: (workload: SizedWorkload) => string | undefined;
  readonly isAllocated: (pod: SizedPod) => boolean;
  readonly events: EventSink;
  readonly journal: Journal;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly workers: number;
}

export interface RightsizingEngine {
  readonly controller: RightsizingController;
  readonly books: PolicyBooks;
}

export function createRightsizingEngine(options: RightsizingEngineOptions): RightsizingEngine {
  const { api, settings, policies, clock, metrics, leadership } = options;
  const log = options.log.child('rightsizing');
  const memory = createRightsizingMemory();
  const annotate = createAnnotateWorkload(api);
  const books = createPolicyBooks({
    writeStatus: createWritePolicyStatus(api),
    dryRun: () => isDryRun(settings()),
    clock,
    log,
  });
  const shared = {
    ...options,
    log,
    memory,
    annotate,
    books,
    events: createRightsizingEvents(options.events, clock),
    handBack: createHandBack({ annotate, memory }),
  };
  const apply: ApplySizes = async () => ({ status: 'Pending' });
  const reconciler = createWorkloadReconciler({ ...shared, apply });
  metrics.onRender(() => reportRightsizing(metrics, leadership().leader ? policies.policies() : [], books));
  return { controller: createRightsizingController({ ...shared, reconciler }), books };
}
