/** `GET /api/workload?of=Deployment/shop/web`: what every engine has to say about one workload. */
import type { ExplainedAllocation } from '../../controllers/allocation/explain.ts';
import type { WorkloadExplanation } from '../../controllers/placement/explain.ts';
import type { SizingStory } from '../../controllers/rightsizing/explain.ts';
import { costLines } from '../../decide/placement/cost-text.ts';
import { rulesOf } from '../../decide/rightsizing/policy-rules.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { type ClusterView, type WorkloadRef, workloadKey } from '../../model/cluster-view.ts';
import { ZONE_LABEL } from '../../model/spot-pool.ts';
import { entryTold } from './decision-told.ts';
import { replicasTold } from './replicas-told.ts';
import { shareHistory } from './share-history.ts';
import type { ShareRecorder } from './share-recorder.ts';
import type { DashboardSources, RightsizingSource } from './sources.ts';
import { cpuUsageTold, memoryUsageTold } from './usage-told.ts';
import type { AllocatedPodTold, WorkloadAnswer } from './workload-answer.ts';
import { toldBlock } from './workload-row.ts';

/**
 * Asked anew each time: plan, advice and allocation as the engines would tell them at this moment, never kept ones.
 * @param shares undefined where allocation is off; asking it makes it follow the workload for an hour.
 * @returns undefined for a workload that no engine knows.
 */
export function workloadStory(
  sources: DashboardSources,
  shares: ShareRecorder | undefined,
  ref: WorkloadRef,
  now: EpochMillis,
): WorkloadAnswer | undefined {
  const { view, explain, sizingView, rightsizing, allocation, journal, operator } = sources;
  const explained = explain(ref);
  const sized = sizingView?.workload(ref);
  const replicas = explained?.plan.replicas ?? sized?.replicas;
  if (replicas === undefined) return undefined;
  const sizing = rightsizing?.explain(ref);
  const entries = journal.entries(workloadKey(ref));
  const followed = shares?.look(ref);
  return {
    at: now,
    isLeader: operator().isLeader,
    kind: ref.kind,
    namespace: ref.namespace,
    name: ref.name,
    replicas,
    placement: explained && placementTold(explained, view),
    sizing: sizing && rightsizing && sizingTold(sizing, rightsizing, ref, now),
    allocation: (allocation?.explain(ref) ?? []).map(allocatedTold),
    shares: followed && shareHistory(followed, entries, now),
    journal: entries.map(entryTold).reverse(),
  };
}

function placementTold(
  { at, plan, story, cost, lastDisruption }: WorkloadExplanation,
  view: ClusterView,
): WorkloadAnswer['placement'] {
  return {
    policyState: plan.policy.state,
    headline: story.headline,
    policy: story.policy,
    next: story.next,
    notes: story.notes,
    blocks: story.blocks.map((block) => toldBlock(block, at)),
    actual: plan.actual,
    target: plan.target && { spot: plan.target.spot, onDemand: plan.target.onDemand },
    floor: plan.floor,
    drift: plan.drift,
    slots: story.pods.map(({ ref, slot, wantedSide, actualSide, node, ready, state, note, revision }) => ({
      pod: ref.name,
      slot,
      wanted: wantedSide,
      actual: actualSide,
      node,
      zone: node === undefined ? undefined : zoneOf(view, node),
      ready,
      state,
      note,
      revision,
    })),
    costLines: cost === undefined || plan.policy.state !== 'managed' ? [] : costLines(cost),
    lastDisruption,
  };
}

/** Undefined where the node says nothing of one. */
export function zoneOf(view: Pick<ClusterView, 'node'>, node: string): string | undefined {
  return view.node(node)?.labels[ZONE_LABEL];
}

/** Advice, its stages and what it went by are of the last look, usage is of now. */
function sizingTold(
  { policy, mode, others, entry, containers, isForNobody, ongoing }: SizingStory,
  rightsizing: RightsizingSource,
  ref: WorkloadRef,
  now: EpochMillis,
): WorkloadAnswer['sizing'] {
  const outcome = rightsizing.outcomeOf(ref);
  const rules = outcome && rulesOf(outcome.policy.spec);
  const replicas = outcome?.result?.replicas;
  return {
    policy,
    mode,
    others,
    status: entry?.status,
    reason: entry?.reason,
    message: entry?.message,
    lastRecommendation: entry?.lastRecommendation,
    lastApplied: entry?.lastApplied,
    containers: containers.map(({ container, current, cpu, memory }) => {
      const advised = entry?.recommendations?.find((each) => each.container === container);
      const profile = rightsizing.profileOf(ref, container);
      const question = profile && rules && { profile, rules, current, advised: advised ?? {}, now };
      return {
        container,
        ...current,
        cpu: advised?.cpu,
        memory: advised?.memory,
        explanation: advised?.explanation,
        cpuStages: cpu.map(({ stage, text }) => ({ stage, text })),
        memoryStages: memory.map(({ stage, text }) => ({ stage, text })),
        cpuUsage: question && cpuUsageTold(question),
        memoryUsage: question && memoryUsageTold(question),
      };
    }),
    replicaSizes: entry?.replicaSizes,
    replicas: replicas && replicasTold(replicas),
    isForNobody: isForNobody === true,
    ongoing: ongoing && { phase: ongoing.phase, method: ongoing.method, since: ongoing.since, note: ongoing.note },
  };
}

/** Field by field: what is told is decided here, not by whoever adds a field. */
function allocatedTold(each: ExplainedAllocation): AllocatedPodTold {
  const { pod, node, agent, share, ceiling, applied, appliedLimit, claim, want, usage, weight, mode, shadowPrice } =
    each;
  const { phase, reason, message, clamps } = each;
  return {
    pod,
    node,
    agent,
    share,
    ceiling,
    applied,
    appliedLimit,
    claim,
    want,
    usage,
    weight,
    mode,
    shadowPrice,
    phase,
    reason,
    message,
    clamps,
  };
}
