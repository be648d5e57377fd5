/** What the dashboard reads of a running operator: live views and the engines' own explanations. It keeps none of it. */
import type { Journal } from '../../act/journal.ts';
import type { AllocationExplainer } from '../../controllers/allocation/explain.ts';
import type { Explainer } from '../../controllers/placement/explain.ts';
import type { PlacementRules } from '../../controllers/placement/rules.ts';
import type { SizingExplainer } from '../../controllers/rightsizing/explain.ts';
import type { PolicyBook } from '../../controllers/rightsizing/policies.ts';
import type { WorkloadResult } from '../../controllers/rightsizing/result.ts';
import type { Storm } from '../../decide/placement/spot-outlook.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ClusterView, WorkloadRef } from '../../model/cluster-view.ts';
import type { PolicyRecord, ValidPolicy } from '../../model/optimization-policy.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { UsageProfile } from '../../model/usage-profile.ts';
import type { AllocatedPodRef } from '../../observe/allocation-stores.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import type { OperatorTold } from './answers.ts';

export interface DashboardSources {
  readonly view: ClusterView;
  readonly rules: () => PlacementRules;
  readonly explain: Explainer;
  readonly journal: Pick<Journal, 'recent' | 'onRecord' | 'entries'>;
  /** Undefined while it is calm. */
  readonly storm: () => Storm | undefined;
  /** Undefined where no engine is on that sizes. */
  readonly sizingView: SizingView | undefined;
  /** Undefined where rightsizing is off. */
  readonly rightsizing: RightsizingSource | undefined;
  /** Undefined where allocation is off. */
  readonly allocation: AllocationSource | undefined;
  /** Folder of reports of simulations; empty where there is none. */
  readonly reports: string;
  readonly operator: () => Omit<OperatorTold, 'synced' | 'stale'>;
  readonly clock: Clock;
}

export interface RightsizingSource {
  readonly explain: SizingExplainer;
  /** Of both API groups, valid or not. */
  policies(): readonly PolicyRecord[];
  /** Who has the say over the workload, and what its last look came to; only the leader looks. */
  outcomeOf(
    ref: WorkloadRef,
  ): { readonly policy: ValidPolicy; readonly result: WorkloadResult | undefined } | undefined;
  bookOf(policyUid: string): PolicyBook;
  /** What is remembered of a container's usage; only the leader collects it. */
  profileOf(ref: WorkloadRef, container: string): UsageProfile | undefined;
}

export interface AllocationSource {
  readonly explain: AllocationExplainer;
  of(pod: AllocatedPodRef): AllocationRecord | undefined;
  all(): Iterable<AllocationRecord>;
  agentOf(node: string): string;
  /** Returns the end of the subscription. */
  onChange(listener: (before: AllocationRecord | undefined, after: AllocationRecord | undefined) => void): () => void;
}
