/** The fleet in numbers, as `stowage status` prints and exports it. */
import { type FleetCost, sumCosts, type WorkloadCost } from '../../decide/placement/cost.ts';
import { isMove, type Standing, standingOf } from '../../decide/placement/standing.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { workloadText } from '../../model/cluster-view.ts';
import { type NodeClassSums, sumNodeClasses } from '../../model/node-classes.ts';
import { type AllocationPlan, planAllocation } from '../allocation/allocation-plan.ts';
import { type PlannedWorkload, planFleet } from '../fleet.ts';
import type { LoadedInput } from '../input/load-input.ts';
import type { MissingData } from '../input/missing-data.ts';
import { DOCUMENT_VERSION, type ResultDocument } from '../output.ts';
import { blocksOf, type PlannedBlock } from '../plan/planned-blocks.ts';
import { planSizes, type SizingPlan } from '../sizing/sizing-plan.ts';

export type WorkloadState = Exclude<Standing, 'unmanaged'>;

/** One workload that is enabled, however well. */
export interface WorkloadStatusRow {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  readonly ready: number;
  readonly state: WorkloadState;
  readonly target?: { readonly spot: number; readonly onDemand: number };
  readonly actual: { readonly spot: number; readonly onDemand: number; readonly unknown: number };
  /** Pods of any side that are on no node yet. */
  readonly pending: number;
  /** Replicas that would have to change sides. */
  readonly drift: number;
  /** Why the next move is not made: the objection that counts. */
  readonly blockedBy?: PlannedBlock;
  /** What the plan has to say: an invalid value and what is accepted, a pinned side, a floor that is not met. */
  readonly notes: readonly string[];
  /** With prices, of a managed workload. */
  readonly cost?: WorkloadCost;
  /** With --operator: when it last disrupted the workload (ISO 8601). */
  readonly lastDisruption?: string;
}

/** The numbers of `summary` count rows of `workloads`, but for `workloads` itself, which counts unmanaged ones, too. */
export interface FleetStatus extends ResultDocument {
  readonly kind: 'FleetStatus';
  readonly source: string;
  readonly summary: Readonly<
    Record<'workloads' | 'managed' | 'driftedReplicas' | 'blocked' | Exclude<WorkloadState, 'balanced'>, number>
  >;
  /** Evictions that Stowage's events tell of; absent where events cannot be read. Kubernetes keeps events for an hour. */
  readonly evictions?: number;
  /** With prices: of all managed workloads. */
  readonly cost?: FleetCost;
  /** Absent where there is no policy. */
  readonly sizing?: SizingPlan;
  /** Absent where no pod takes part. */
  readonly allocation?: AllocationPlan;
  /** By class; `unknown` only where there is such a node. Empty where nodes are not known. */
  readonly nodes: readonly NodeClassSums[];
  readonly workloads: readonly WorkloadStatusRow[];
  readonly missing: readonly MissingData[];
  readonly problems: readonly string[];
}

/** @param namespace the only one to look at; undefined for all. */
export function fleetStatus(input: LoadedInput, now: EpochMillis, namespace: string | undefined): FleetStatus {
  const all = planFleet(input.view, input.rules, now, namespace);
  const rows = all.flatMap((planned) => {
    const state = standingOf(planned.plan);
    return state === 'unmanaged' ? [] : [toRow(input, planned, state, now)];
  });
  const allocation = planAllocation(input.allocation, input.view, now, namespace);
  const count = (state: WorkloadState): number => rows.filter((row) => row.state === state).length;
  return {
    apiVersion: DOCUMENT_VERSION,
    kind: 'FleetStatus',
    source: input.source,
    summary: {
      workloads: all.length,
      managed: rows.length - count('invalid'),
      drifted: count('drifted'),
      blocked: rows.filter(({ blockedBy }) => blockedBy !== undefined).length,
      driftedReplicas: rows.reduce((sum, row) => sum + row.drift, 0),
      incomplete: count('incomplete'),
      invalid: count('invalid'),
    },
    ...(input.evictions !== undefined && { evictions: input.evictions }),
    ...(input.rules.prices !== undefined && { cost: sumCosts(rows.flatMap(({ cost }) => cost ?? [])) }),
    ...(input.sizing.policies.length > 0 && {
      sizing: planSizes(input.sizing, input.view, input.tenancy, namespace),
    }),
    ...(allocation !== undefined && { allocation }),
    nodes: input.seesNodes
      ? sumNodeClasses(input.view, input.rules.sides).filter(
          ({ class: name, nodes }) => name !== 'unknown' || nodes > 0,
        )
      : [],
    workloads: rows,
    missing: input.missing,
    problems: [...input.problems, ...enabledInVain(input, all)],
  };
}

/** Labelled workloads of namespaces that are not: whoever put the label there waits for something. */
function enabledInVain(input: LoadedInput, all: readonly PlannedWorkload[]): readonly string[] {
  if (input.missing.some(({ data }) => data === 'namespaces')) return [];
  return all.flatMap(({ workload, plan: { policy } }) =>
    workload.enabled && policy.state === 'unmanaged' ? [`${workloadText(workload)}: ${policy.reason.message}`] : [],
  );
}

function toRow(
  input: LoadedInput,
  planned: PlannedWorkload,
  state: WorkloadState,
  now: EpochMillis,
): WorkloadStatusRow {
  const { kind, namespace, name, replicas } = planned.workload;
  const { target, actual, drift, notes, decisions, policy } = planned.plan;
  const eviction = decisions.find(isMove);
  const [blockedBy] = eviction === undefined ? [] : blocksOf(eviction, policy, { ...input, now });
  return {
    kind,
    namespace,
    name,
    replicas,
    ready: planned.ready,
    state,
    ...(target !== undefined && { target: { spot: target.spot, onDemand: target.onDemand } }),
    actual: { spot: actual.spot, onDemand: actual.onDemand, unknown: actual.unknown },
    pending: planned.pending,
    drift,
    ...(blockedBy !== undefined && { blockedBy }),
    notes: notes.map(({ text }) => text),
    ...(planned.cost !== undefined && { cost: planned.cost }),
  };
}
