/** `GET /api/overview`: the fleet in numbers. */
import { sumCosts } from '../../decide/placement/cost.ts';
import type { Storm } from '../../decide/placement/spot-outlook.ts';
import { sumSavings } from '../../decide/rightsizing/savings.ts';
import { describeReason, renderReason } from '../../lib/reasons.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { type ClusterView, workloadKey } from '../../model/cluster-view.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import type { BlockTold, OperatorTold, OverviewAnswer, WorkloadRow } from './answers.ts';
import { decisionTold } from './decision-told.ts';
import { countRows, isManaged } from './fleet-counts.ts';
import type { Fleet } from './fleet-scan.ts';
import { latestDecision } from './node-allocation.ts';
import { nodeClassesTold } from './node-list.ts';
import type { AllocationSource, DashboardSources, RightsizingSource } from './sources.ts';
import { tally } from './tally.ts';

/** The view of sizing knows of all stores that the other one knows of. */
interface FreshnessSources {
  readonly view: Pick<ClusterView, 'freshness'>;
  readonly sizingView: Pick<SizingView, 'freshness'> | undefined;
}

/** Told at once; those made later come one by one (`/api/decisions`). */
const DECISIONS = 50;
/** The rest of the reasons is in the list of workloads that wait. */
const REASONS = 8;

/**
 * Counts, sums and blocks are as of the scan (`scannedAt`); nodes, decisions, allocation and what is told of the
 * operator as of now.
 */
export function overview(sources: DashboardSources, fleet: Fleet, now: EpochMillis): OverviewAnswer {
  const { journal, rightsizing, allocation } = sources;
  const rows = fleet.workloads.map(({ row }) => row);
  const managed = rows.filter(isManaged);
  const sum = (of: (row: WorkloadRow) => number): number => managed.reduce((total, row) => total + of(row), 0);
  return {
    at: now,
    scannedAt: fleet.at,
    operator: operatorTold(sources),
    counts: countRows(rows),
    driftedReplicas: sum(({ drift }) => drift),
    actual: {
      spot: sum(({ actual }) => actual.spot),
      onDemand: sum(({ actual }) => actual.onDemand),
      unknown: sum(({ actual }) => actual.unknown),
      pending: sum(({ pending }) => pending),
    },
    target: { spot: sum(({ target }) => target?.spot ?? 0), onDemand: sum(({ target }) => target?.onDemand ?? 0) },
    cost: costTold(sources, fleet),
    storm: stormTold(sources.storm()),
    blocks: blocksTold(rows),
    sizing: rightsizing && sizingTold(rightsizing, rows),
    allocation: allocation && allocationTold(allocation),
    nodes: nodeClassesTold(sources),
    decisions: journal.recent(DECISIONS).map(decisionTold),
  };
}

/** `GET /api/operator`: which replica answers, and how it is. Where an engine sizes, its stores count, too. */
export function operatorTold({
  operator,
  view,
  sizingView = view,
}: Pick<DashboardSources, 'operator'> & FreshnessSources): OperatorTold {
  const { synced, stale } = sizingView.freshness();
  return { ...operator(), synced, stale };
}

/** Undefined without a price list: zeros would look like a cluster that costs nothing. */
function costTold({ rules }: DashboardSources, { workloads }: Fleet): OverviewAnswer['cost'] {
  if (rules().prices === undefined) return undefined;
  const { actual, allOnDemand, target, floors, pods, pricedPods } = sumCosts(
    workloads.flatMap(({ cost }) => cost ?? []),
  );
  return { actual, allOnDemand, target, floors, pods, pricedPods };
}

function blocksTold(rows: readonly WorkloadRow[]): OverviewAnswer['blocks'] {
  const byReason = new Map<string, { row: WorkloadRow; block: BlockTold; count: number }>();
  for (const row of rows) {
    if (row.blockedBy === undefined) continue;
    const { reason } = row.blockedBy;
    const known = byReason.get(reason) ?? { row, block: row.blockedBy, count: 0 };
    known.count++;
    byReason.set(reason, known);
  }
  return [...byReason.values()]
    .map(({ row, block, count }) => ({ ...block, example: workloadKey(row), count }))
    .sort((a, b) => b.count - a.count)
    .slice(0, REASONS);
}

/** It holds back what would be moved, whether or not anything is to be moved now. */
export function stormTold(storm: Storm | undefined): BlockTold | undefined {
  if (storm === undefined) return undefined;
  const { lost, calmAt } = storm;
  const values = { interruptions: lost, period: 'a short time', calmAt: new Date(calmAt).toISOString() };
  const { advice } = describeReason('StormCalm');
  return { reason: 'StormCalm', message: renderReason('StormCalm', values), advice };
}

/** What is advised of such workloads is of before. */
export function unreadTold({ policies, bookOf }: Pick<RightsizingSource, 'policies' | 'bookOf'>) {
  const problems = policies().flatMap(({ uid }) =>
    [...bookOf(uid).results.values()].flatMap(({ metricsProblem }) => metricsProblem ?? []),
  );
  const [why] = problems;
  return why === undefined ? undefined : { workloads: problems.length, why };
}

function sizingTold(rightsizing: RightsizingSource, rows: readonly WorkloadRow[]): OverviewAnswer['sizing'] {
  const sized = rows.flatMap(({ size }) => size ?? []);
  return {
    policies: rightsizing.policies().length,
    workloads: sized.length,
    results: tally(sized.map(({ status }) => status ?? 'Unknown')),
    saving: sumSavings(sized.flatMap(({ saving }) => saving ?? [])),
    unread: unreadTold(rightsizing),
  };
}

function allocationTold(allocation: AllocationSource): OverviewAnswer['allocation'] {
  const phases: string[] = [];
  const byNode = new Map<string, AllocationRecord[]>();
  for (const record of allocation.all()) {
    const { phase = 'Pending', nodeName } = record;
    phases.push(phase);
    if (nodeName === undefined) continue;
    const records = byNode.get(nodeName);
    if (records === undefined) byNode.set(nodeName, [record]);
    else records.push(record);
  }
  const modes = [...byNode.values()].map((records) => latestDecision(records)?.mode);
  return {
    pods: phases.length,
    nodes: byNode.size,
    congested: modes.filter((mode) => mode === 'congested').length,
    overloaded: modes.filter((mode) => mode === 'overloaded').length,
    phases: tally(phases),
  };
}
