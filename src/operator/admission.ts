/** The admission side of the placement engine, put together: decides on every replica of the operator. */
import type { KubeApi } from '../api/kube-api.ts';
import type { ResourceType } from '../api/resources.ts';
import type { PlacementRules } from '../controllers/placement/rules.ts';
import type { SpotWatch } from '../controllers/spot-watch.ts';
import { createClaimLedger } from '../decide/placement/claims.ts';
import { type Clock, pause } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { OwnerReference } from '../model/records.ts';
import type { LiveView } from '../observe/live-view.ts';
import { createProjections } from '../observe/project.ts';
import { createPodInterners } from '../observe/project-pod.ts';
import { createCatchUp } from '../webhook/catch-up.ts';
import { type AdmissionObservation, createMutateHandler, type MutateHandler } from '../webhook/handler.ts';
import { createLiveOwners } from '../webhook/live-owners.ts';
import { mutationTypesOf } from '../webhook/mutation-types.ts';
import type { SizeNewPods } from '../webhook/size-new-pods.ts';

export interface AdmissionOptions {
  readonly api: KubeApi;
  readonly view: LiveView;
  readonly rules: () => PlacementRules;
  /** The type of an owner of ReplicaSets other than a Deployment, where such are followed. */
  readonly ownerTypeOf: (owner: OwnerReference) => ResourceType | undefined;
  readonly spot: SpotWatch;
  /** What rightsizing adds; undefined where it is off. */
  readonly sizes: SizeNewPods | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * What this replica answers for new pods. It reserves slots in a ledger of its own: where replicas coordinate, only the
 * leader's counts.
 */
export interface Admission {
  readonly handle: MutateHandler;
  /** Forgets expired claims now and then, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * For reading the owner of a pod that no cache shows yet; after that the pod is admitted unsteered (placement spec,
 * section 3). The webhook's own timeout is 2 s.
 */
const OWNER_BUDGET_MILLIS = 150;
/**
 * Expired claims count for nothing in the meantime either: sweeping frees memory. It also notices that pods are not
 * followed, while nobody asks for a place.
 */
const SWEEP_MILLIS = 30_000;
/** Templates and owners of the pods admitted lately. */
const MAX_INTERNED = 5_000;

/** Follows the view from the moment it is made, so it must be made before the view's first list. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { api, view, rules, metrics, clock } = options;
  const log = options.log.child('webhook');
  let unseenUntil = Number.NEGATIVE_INFINITY;
  const ledger = createClaimLedger({
    get ttlMillis() {
      return rules().settings.claimTtlMillis;
    },
    unseenUntil() {
      if (view.freshness().stale.includes('pods')) unseenUntil = clock.now();
      return unseenUntil;
    },
  });
  const projections = createProjections((message) => log.warn({}, message));
  const owners = createLiveOwners({
    view,
    api,
    projections,
    ownerTypeOf: options.ownerTypeOf,
    clock,
    log,
    budgetMillis: OWNER_BUDGET_MILLIS,
  });
  const handle = createMutateHandler({
    owners,
    rules,
    ledger,
    spot: options.spot.memory,
    catchUp: createCatchUp(view, clock),
    interners: createPodInterners(MAX_INTERNED),
    sizes: options.sizes,
    clock,
    log,
    onAnswer: (observation) => count(metrics, observation),
  });
  view.onPod((before, after) => {
    if (before === undefined && after?.admissionId !== undefined) ledger.podSeen(after.admissionId);
  });
  view.onChange((change) => {
    if (change.kind === 'workload-deleted') ledger.forgetWorkload(change.uid);
  });
  return {
    handle,
    async run(signal) {
      while (!signal.aborted) {
        await pause(clock, SWEEP_MILLIS, signal);
        ledger.sweep(clock.now());
      }
    },
  };
}

/**
 * What an API server may be configured to ask about. Whoever reaches the port may name anything, and each would be a
 * series.
 */
const OPERATIONS: readonly string[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
const KINDS: readonly string[] = ['Pod', 'Deployment', 'StatefulSet', 'ReplicaSet', 'DaemonSet'];
const oneOf = (known: readonly string[], name: string): string => (known.includes(name) ? name : 'other');

/** Of a dry run only that it was asked: no pod is admitted, and none is changed. */
function count(metrics: Metrics, { decision, dryRun, tookMillis, ...asked }: AdmissionObservation): void {
  const operation = oneOf(OPERATIONS, asked.operation);
  const resourceKind = oneOf(KINDS, asked.resourceKind);
  metrics.inc('spotalis_webhook_requests_total', { operation, resource_kind: resourceKind, result: 'allowed' });
  metrics.observe('spotalis_webhook_request_duration_seconds', {}, tookMillis / 1000);
  if (dryRun) return;
  if (decision.kind === 'unsteered') {
    metrics.inc('spotalis_admissions_unsteered_total', { reason: decision.reason });
    return;
  }
  for (const type of mutationTypesOf(decision.patch))
    metrics.inc('spotalis_webhook_mutations_total', { resource_kind: resourceKind, mutation_type: type });
}
