/**
 * Gauges that follow from the plans of workloads: of each its figures are kept, and the nine series are made when
 * somebody scrapes.
 */
import type { WorkloadPlan } from '../../decide/placement/plan.ts';
import type { PlacementPolicy } from '../../decide/placement/policy.ts';
import type { SideCounts } from '../../decide/placement/slots.ts';
import type { SpotState } from '../../decide/placement/spot-outlook.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { EpochMillis } from '../../lib/units.ts';
import { type WorkloadRef, workloadKey } from '../../model/cluster-view.ts';
import { workloadRef } from '../../model/refs.ts';
import { workloadLabels } from './metrics.ts';

/** What of a plan is told. */
export interface ToldPlan extends Pick<WorkloadPlan, 'target' | 'drift'> {
  readonly actual: SideCounts;
  readonly workload: WorkloadRef;
  readonly policy: {
    readonly state: PlacementPolicy['state'];
    readonly window?: { isOpen(now: EpochMillis): boolean } | undefined;
  };
  readonly spot: { readonly covered: number; readonly state: { readonly kind: SpotState['kind'] } };
}

export interface PlanGauges {
  /**
   * Takes the figures of a workload that is managed, or would be if its settings were valid; they stay until the next
   * report.
   */
  report(plan: ToldPlan, now: EpochMillis): void;
  /** The workload is gone, or no longer managed. @returns whether anything was told of it */
  forget(key: string): boolean;
}

/** What is told of one workload. */
interface PlanFigures {
  readonly workload: WorkloadRef;
  readonly isInvalid: boolean;
  readonly actual: SideCounts;
  readonly covered: number;
  readonly isSpotClosed: boolean;
  /** Undefined where there is no plan to follow. */
  readonly wanted: WantedFigures | undefined;
}

interface WantedFigures {
  readonly target: SideCounts;
  readonly drift: number;
  readonly isWindowOpen: boolean;
}

export function createPlanGauges(metrics: Metrics): PlanGauges {
  const known = new Map<string, PlanFigures>();
  type Series = Parameters<typeof metrics.onRead<'spotalis_drift_replicas'>>[1];
  const ofEach = (read: (figures: PlanFigures) => number): Series =>
    function* () {
      for (const figures of known.values()) yield [workloadLabels(figures.workload), read(figures)];
    };
  const ofWanted = (read: (wanted: WantedFigures) => number): Series =>
    function* () {
      for (const { workload, wanted } of known.values())
        if (wanted !== undefined) yield [workloadLabels(workload), read(wanted)];
    };
  metrics.onRead(
    'spotalis_invalid_configuration',
    ofEach(({ isInvalid }) => (isInvalid ? 1 : 0)),
  );
  metrics.onRead(
    'spotalis_fallback_active',
    ofEach(({ covered }) => covered),
  );
  metrics.onRead(
    'spotalis_spot_closed',
    ofEach(({ isSpotClosed }) => (isSpotClosed ? 1 : 0)),
  );
  metrics.onRead(
    'spotalis_drift_replicas',
    ofWanted(({ drift }) => drift),
  );
  metrics.onRead(
    'spotalis_window_open',
    ofWanted(({ isWindowOpen }) => (isWindowOpen ? 1 : 0)),
  );
  metrics.onRead('spotalis_workload_replicas', function* () {
    for (const { workload, actual } of known.values()) yield* bySide(workload, actual);
  });
  metrics.onRead('spotalis_workload_replicas_desired', function* () {
    for (const { workload, wanted } of known.values()) if (wanted !== undefined) yield* bySide(workload, wanted.target);
  });
  return {
    report({ workload, actual, target, policy, spot, drift }, now) {
      const { spot: onSpot, onDemand } = actual;
      known.set(workloadKey(workload), {
        workload: workloadRef(workload),
        isInvalid: policy.state === 'invalid',
        actual: { spot: onSpot, onDemand },
        covered: spot.covered,
        isSpotClosed: spot.state.kind !== 'open',
        wanted:
          target === undefined || policy.state !== 'managed'
            ? undefined
            : { target, drift, isWindowOpen: policy.window === undefined || policy.window.isOpen(now) },
      });
    },
    forget: (key) => known.delete(key),
  };
}

function* bySide(workload: WorkloadRef, { spot, onDemand }: SideCounts) {
  const labels = workloadLabels(workload);
  yield [{ ...labels, replica_type: 'spot' }, spot] as const;
  yield [{ ...labels, replica_type: 'on-demand' }, onDemand] as const;
}
