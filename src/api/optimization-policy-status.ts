/** The status of an OptimizationPolicy: what is known about the workloads it owns. */

/** metav1.Condition. */
export interface PolicyCondition {
  type: 'Ready' | 'MetricsAvailable' | 'DryRun' | 'PermissionsSufficient' | 'Degraded' | (string & {});
  status: 'True' | 'False' | 'Unknown';
  observedGeneration?: number;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

/** Go-canonical quantities, e.g. `500m`, `512Mi`. A resource without a value has no advice; `explanation` says why. */
export interface ContainerRecommendation {
  container: string;
  cpu?: string;
  memory?: string;
  explanation?: string;
}

export const workloadResults = ['Applied', 'Recommended', 'Skipped', 'Error', 'Pending'] as const;
export type WorkloadResult = (typeof workloadResults)[number];

export const applyMethods = ['InPlace', 'Recreate', 'ServerSideApply', 'StrategicMergePatch', 'Eviction'] as const;
export type ApplyMethod = (typeof applyMethods)[number];

export interface PolicyWorkloadStatus {
  name: string;
  namespace: string;
  kind: string;
  /** RFC 3339. */
  lastRecommendation?: string;
  /** RFC 3339. */
  lastApplied?: string;
  recommendations?: ContainerRecommendation[];
  status?: WorkloadResult;
  /** A name of the reason table, or a sentence. */
  reason?: string;
  message?: string;
  lastApplyMethod?: ApplyMethod;
  /** Whether the requests in the template are owned through server-side apply. */
  fieldOwnership?: boolean;
}

export interface OptimizationPolicyStatus {
  observedGeneration?: number;
  conditions?: PolicyCondition[];
  workloadsDiscovered?: number;
  workloadsProcessed?: number;
  /** RFC 3339. */
  lastReconciliation?: string;
  workloadsByType?: { deployments?: number; statefulSets?: number; daemonSets?: number };
  /** At most {@link MAX_WORKLOADS_IN_STATUS}, those with the largest saving first. */
  workloads?: PolicyWorkloadStatus[];
  /** How many more there are than `workloads` shows. */
  workloadsOmitted?: number;
}

export const MAX_WORKLOADS_IN_STATUS = 200;
