/** What the operator answers over plain HTTP: health on one port, metrics and explanations on another. */
import { setImmediate } from 'node:timers/promises';
import type { Journal } from '../act/journal.ts';
import type { AllocationExplainer } from '../controllers/allocation/explain.ts';
import type { Explainer } from '../controllers/placement/explain.ts';
import type { SizingExplainer } from '../controllers/rightsizing/explain.ts';
import { unplacedExplanation } from '../decide/placement/explain.ts';
import type { Clock } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';
import { type ClusterView, parseWorkloadKey, type WorkloadRef, workloadKey } from '../model/cluster-view.ts';
import { type Endpoint, type EndpointAnswer, jsonAnswer, type PiecewiseAnswer } from '../web/endpoint-server.ts';

/** In pieces: the text of a large cluster is megabytes, and need not be held at once. */
export function createMetricsEndpoint(metrics: Metrics): Endpoint<PiecewiseAnswer> {
  return () => ({ status: 200, contentType: metrics.contentType, body: metrics.pieces() });
}

export interface ExplainEndpointOptions {
  readonly explain: Explainer;
  /** Of rightsizing; left out where it is off. */
  readonly sizing?: SizingExplainer | undefined;
  /** Of allocation; left out where it is off. */
  readonly allocation?: AllocationExplainer | undefined;
  readonly journal: Pick<Journal, 'entries'>;
  readonly view: Pick<ClusterView, 'workloads' | 'freshness'>;
  readonly isLeader: () => boolean;
  readonly clock: Clock;
}

/**
 * `GET /explain?workload=Deployment/shop/web`, or without a workload all that are enabled, in short. Read-only; tells
 * nothing that the workloads' own objects and events do not.
 */
export function createExplainEndpoint(options: ExplainEndpointOptions): Endpoint {
  /** For all who ask meanwhile: whoever reaches the port may ask, and many who do must cost no more than one. */
  let fleet: Promise<EndpointAnswer> | undefined;
  const explainAll = async (): Promise<EndpointAnswer> => {
    fleet ??= explainFleet(options)
      .then((all) => jsonAnswer(200, all))
      .finally(() => {
        fleet = undefined;
      });
    return await fleet;
  };
  return async (query) => {
    const text = query.get('workload');
    if (text === null) return await explainAll();
    const ref = parseWorkloadKey(text);
    if (ref === undefined) {
      const message = `workload ${JSON.stringify(text)} is not valid; accepted: KIND/NAMESPACE/NAME such as Deployment/shop/web`;
      return jsonAnswer(400, { code: 'INVALID_WORKLOAD', message });
    }
    const sizing = options.sizing?.(ref);
    const allocation = options.allocation?.(ref) ?? [];
    const isSized = sizing !== undefined || allocation.length > 0;
    const explanation = options.explain(ref) ?? (isSized ? unplaced(ref, options) : undefined);
    const news = newsOf(options);
    if (explanation === undefined) {
      const message = news.synced
        ? `there is no ${text}`
        : `${text} is not known: the first lists are not complete yet`;
      return jsonAnswer(404, { code: 'NOT_FOUND', message });
    }
    const more = { ...(sizing !== undefined && { sizing }), ...(allocation.length > 0 && { allocation }) };
    return jsonAnswer(200, { ...explanation, ...more, ...news });
  };
}

/** Whether what is told is of now, and all. */
function newsOf({ view }: Pick<ExplainEndpointOptions, 'view'>) {
  const { synced, stale } = view.freshness();
  return { synced, stale };
}

/** What the explanation of a placed workload has, of one that is only sized. */
function unplaced(ref: WorkloadRef, { isLeader, journal, clock }: ExplainEndpointOptions) {
  return {
    at: clock.now(),
    plan: { policy: { state: 'unmanaged' } },
    story: unplacedExplanation(ref),
    isLeader: isLeader(),
    journal: journal.entries(workloadKey(ref)),
  };
}

/** So many workloads are planned in one go; admissions come first in between. */
const FLEET_BATCH = 50;

/** Each workload is planned for it: thousands take seconds, and admissions must not wait for them. */
async function explainFleet({ explain, view, isLeader, clock }: ExplainEndpointOptions) {
  const workloads = [];
  // A list of its own: the view goes on changing while others have their turn.
  const enabled = [...view.workloads()].filter((workload) => workload.enabled);
  for (const { kind, namespace, name } of enabled) {
    const found = explain({ kind, namespace, name });
    if (found === undefined) continue;
    const { story, lastDisruption, plan } = found;
    const { workload, headline, policy, blocks, next } = story;
    const why = plan.policy.state === 'managed' ? undefined : policy;
    workloads.push({ workload, headline, why, blocks, next, lastDisruption });
    if (workloads.length % FLEET_BATCH === 0) await setImmediate();
  }
  return { at: clock.now(), isLeader: isLeader(), ...newsOf({ view }), workloads };
}
